package local

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/disk"
)

// checkSpace returns an error that says what to do where a folder's disk is too full for the
// members. etcd says so only after the members have started.
func checkSpace(dir string, members int) error {
	free, err := disk.Free(dir)
	if err != nil {
		return fmt.Errorf("cannot tell the free space of %s: %w", dir, err)
	}
	if need := uint64(members) * spacePerMember; free < need { //nolint:gosec // G115: a topology has at least one member.
		return fmt.Errorf("the disk of %s is too full: %d MiB are free, %d members need %d MiB; free some or set EVENKEEL_STATE to a folder on another disk",
			dir, free>>20, members, need>>20)
	}
	return nil
}
