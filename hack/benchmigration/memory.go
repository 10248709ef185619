package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Lines of a process's status, as Linux has them.
const (
	residentNow  = "VmRSS:"
	residentMost = "VmHWM:"
)

// memory is what a line of a process's status says, in bytes.
func memory(pid int, line string) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of the controller manager: %w", err)
	}
	return parseMemory(string(raw), line)
}

func parseMemory(status, line string) (int64, error) {
	_, rest, found := strings.Cut(status, "\n"+line)
	if !found {
		return 0, fmt.Errorf("the status of a process has no %s", line)
	}
	text, _, _ := strings.Cut(rest, "\n")
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	kib, err := strconv.ParseInt(number, 10, 64)
	if err != nil || unit != "kB" {
		return 0, fmt.Errorf("%s is %q, and no number of kB", line, strings.TrimSpace(text))
	}
	return kib << 10, nil
}

// resetPeak has the most memory of a process begin at what it has now.
func resetPeak(pid int) error {
	// Linux takes this number for it; see proc(5).
	const peak = "5"
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(peak), 0); err != nil {
		return fmt.Errorf("begin to measure the memory of the controller manager: %w", err)
	}
	return nil
}
