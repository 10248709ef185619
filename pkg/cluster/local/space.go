package local

import (
	"fmt"
	"syscall"
)

// checkSpace says in a sentence that a folder's disk is too full for the
// members, before etcd says it in its own way.
func checkSpace(dir string, members int) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return fmt.Errorf("cannot tell the free space of %s: %w", dir, err)
	}
	free := disk.Bavail * uint64(disk.Bsize)
	if need := uint64(members * spacePerMember); free < need {
		return fmt.Errorf("the disk of %s is too full: %d MiB are free, %d members need %d MiB; free some or set EVENKEEL_STATE to a folder on another disk",
			dir, free>>20, members, need>>20)
	}
	return nil
}
