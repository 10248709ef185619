package cluster

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// CPUsVariable tells the Go runtime of a process how many CPUs it may use at a time.
const CPUsVariable = "GOMAXPROCS"

// CPUsEach is how many CPUs each process may use at a time where so many runs share some. A
// process that keeps a thread for each CPU that is busy elsewhere spends more on waking threads
// than it gains: twelve scenarios of the reference, six at a time on two CPUs, take a sixth less time
// and CPU time with one for each process.
func CPUsEach(runs, cpus int) int { return max(cpus/max(runs, 1), 1) }

// ShareCPUs has the processes that are started from now on use their share of the CPUs, where so
// many runs are played at a time.
func ShareCPUs(runs int) error {
	if runs <= 1 {
		return nil
	}
	if err := os.Setenv(CPUsVariable, strconv.Itoa(CPUsEach(runs, runtime.GOMAXPROCS(0)))); err != nil {
		return fmt.Errorf("give each run its share of the CPUs: %w", err)
	}
	return nil
}
