package doctor

import (
	"fmt"
	"os"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/disk"
)

// enoughRoom is what a long run with all its logs takes; with less than disk.Least none
// begins.
const enoughRoom = 2 << 30

// room is about the disks that a run writes to: that of its bundle, of its cluster and of
// what is temporary.
func room(free func(folder string) (uint64, error)) cluster.Finding {
	folders := []string{".", os.TempDir()}
	if root, err := state.Root(); err == nil {
		folders = append(folders, root)
	}
	f := cluster.Finding{What: "room on disks", OK: true}
	var told []string
	for _, folder := range folders {
		left, err := free(folder)
		if err != nil {
			told = append(told, err.Error())
			continue
		}
		told = append(told, fmt.Sprintf("%s %d MB", folder, left>>20))
		f.OK = f.OK && left >= enoughRoom
		f.Needed = f.Needed || left < disk.Least
	}
	f.Detail = strings.Join(told, ", ")
	if !f.OK {
		f.Detail += fmt.Sprintf(": a long run wants %d MB; `evenkeel cluster clean` removes what killed runs have left, and EVENKEEL_STATE, TMPDIR and --out name other folders", enoughRoom>>20)
	}
	return f
}
