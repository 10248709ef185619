package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// WaitedForCPU is how long each thread of a process has been ready to run since it exists and
// had no CPU, by its number, as /proc/<pid>/task/<tid>/schedstat has it.
func WaitedForCPU(pid int) (map[int]time.Duration, error) {
	threads := fmt.Sprintf("/proc/%d/task", pid)
	entries, err := os.ReadDir(threads)
	if err != nil {
		return nil, err
	}
	waited := make(map[int]time.Duration, len(entries))
	for _, entry := range entries {
		thread, err := strconv.Atoi(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", threads, err)
		}
		path := filepath.Join(threads, entry.Name(), "schedstat")
		raw, err := os.ReadFile(path)
		if err == nil {
			waited[thread], err = parseSchedstat(raw)
		}
		// A thread may end between the list and the look; its process goes on.
		if err != nil && !errors.Is(err, syscall.ESRCH) && !(errors.Is(err, fs.ErrNotExist) && gone(filepath.Dir(path))) {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return waited, nil
}

// gone is whether there is no such file. A kernel that keeps no account of its scheduler has
// threads without the file.
func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// parseSchedstat reads the second number, the nanoseconds on a run queue.
func parseSchedstat(raw []byte) (time.Duration, error) {
	fields := bytes.Fields(raw)
	if len(fields) < 2 {
		return 0, fmt.Errorf("too few fields in %q", raw)
	}
	waited, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil || waited < 0 {
		return 0, fmt.Errorf("no time on a run queue in %q", raw)
	}
	return time.Duration(waited), nil
}

// WaitedForDisk is for how long any process of the machine has waited for a disk since the
// machine started, by /proc/pressure/io.
func WaitedForDisk() (time.Duration, error) {
	const path = "/proc/pressure/io"
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	waited, err := parsePressure(raw)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return waited, nil
}

// parsePressure reads the total of the line "some", which is in microseconds.
func parsePressure(raw []byte) (time.Duration, error) {
	for line := range bytes.Lines(raw) {
		fields := bytes.Fields(line)
		if len(fields) == 0 || string(fields[0]) != "some" {
			continue
		}
		total, ok := bytes.CutPrefix(fields[len(fields)-1], []byte("total="))
		waited, err := strconv.ParseInt(string(total), 10, 64)
		if !ok || err != nil || waited < 0 {
			break
		}
		return time.Duration(waited) * time.Microsecond, nil
	}
	return 0, fmt.Errorf("no total of the line some in %q", raw)
}
