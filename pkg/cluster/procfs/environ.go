package procfs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// WithVariable lists the PIDs of all processes that were started with the
// environment variable set to value. Processes of other users, whose
// environment cannot be read, are left out.
func WithVariable(name, value string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if HasVariable(pid, name, value) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// HasVariable is whether the process was started with the environment variable
// set to value. A process that is gone has none.
func HasVariable(pid int, name, value string) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	want := []byte(name + "=" + value)
	for variable := range bytes.SplitSeq(raw, []byte{0}) {
		if bytes.Equal(variable, want) {
			return true
		}
	}
	return false
}
