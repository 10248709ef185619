package bench

import (
	"fmt"
	"os"
	"runtime"
)

// Machine is the shape of this machine.
func Machine() string {
	shape := fmt.Sprintf("%d processors (%s/%s)", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	total, err := Memory()
	if err != nil {
		return shape
	}
	return fmt.Sprintf("%s, %.0f GiB of memory", shape, float64(total)/(1<<30))
}

// Memory is how many bytes of it this machine has.
func Memory() (int64, error) {
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	return kilobytes(raw, "MemTotal:")
}
