package procfs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
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
// set to value. A process that is gone has none. Between fork and exec a process
// shows the environment of the one that starts it.
func HasVariable(pid int, name, value string) bool {
	want := []byte(name + "=" + value)
	for variable := range bytes.SplitSeq(environment(pid), []byte{0}) {
		if bytes.Equal(variable, want) {
			return true
		}
	}
	return false
}

// The bounds of waiting for a program to be in place.
const (
	// execBound is how long the kernel may take to load a program; it is an instant
	// but on a machine that has no processor left for it.
	execBound = 5 * time.Second
	// execPoll is the pause between two looks at a process that loads a program.
	execPoll = time.Millisecond
)

// environment of the process, empty where it has none or must not be read. The
// kernel shows none either while it loads a program, and its parent has
// already been told of its success, so that such a process is looked at again.
func environment(pid int) []byte {
	var raw []byte
	_ = wait.PollUntilContextTimeout(context.Background(), execPoll, execBound, true, func(context.Context) (bool, error) {
		before, err := Read(pid)
		if err != nil {
			return true, nil
		}
		if raw, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err != nil || len(raw) > 0 {
			return true, nil
		}
		after, err := Read(pid)
		return err != nil || after.unmoved(before), nil
	})
	return raw
}
