// Package procfs reads what the kernel says of processes. A number in /proc is
// the only witness of a process that does not depend on our own bookkeeping:
// whether it lives, since when, and whether it is really stopped.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package procfs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Stat is the part of /proc/<pid>/stat that the harness uses.
type Stat struct {
	// State is the kernel's letter: R running, S sleeping, T stopped, Z zombie.
	State byte
	// StartTime is in clock ticks since boot. With the PID it names a process
	// for as long as the machine is up, although PIDs are used again.
	StartTime int64

	// hasMemory is false for threads of the kernel and for the dead.
	hasMemory bool
	// environmentEnd is the address where its environment ends, 0 until the program
	// is in place.
	environmentEnd uint64
}

// The fields of /proc/<pid>/stat, counted from 1 as proc(5) does.
const (
	fieldState          = 3
	fieldStartTime      = 22
	fieldVirtualSize    = 23
	fieldEnvironmentEnd = 51
)

// Read reads /proc/<pid>/stat.
func Read(pid int) (Stat, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	raw, err := os.ReadFile(path)
	if err != nil {
		return Stat{}, err
	}
	stat, err := parse(raw)
	if err != nil {
		return Stat{}, fmt.Errorf("%s: %w", path, err)
	}
	return stat, nil
}

func parse(raw []byte) (Stat, error) {
	// Field 2 is the command name in parentheses and may hold spaces and
	// parentheses itself, so counting starts behind the last one.
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return Stat{}, fmt.Errorf("no command name in %q", raw)
	}
	fields := bytes.Fields(raw[end+1:])
	const first = fieldState
	if len(fields) <= fieldEnvironmentEnd-first || len(fields[0]) != 1 {
		return Stat{}, fmt.Errorf("too few fields in %q", raw)
	}
	start, err := strconv.ParseInt(string(fields[fieldStartTime-first]), 10, 64)
	if err != nil {
		return Stat{}, fmt.Errorf("start time: %w", err)
	}
	size, err := strconv.ParseUint(string(fields[fieldVirtualSize-first]), 10, 64)
	if err != nil {
		return Stat{}, fmt.Errorf("size: %w", err)
	}
	environmentEnd, err := strconv.ParseUint(string(fields[fieldEnvironmentEnd-first]), 10, 64)
	if err != nil {
		return Stat{}, fmt.Errorf("end of the environment: %w", err)
	}
	return Stat{State: fields[0][0], StartTime: start, hasMemory: size > 0, environmentEnd: environmentEnd}, nil
}

// Stopped is whether the kernel holds the process after SIGSTOP.
func (s Stat) Stopped() bool { return s.State == 'T' }

// executing is whether the kernel is loading a program for the process, which has
// neither arguments nor an environment meanwhile. It can be told only by who may
// read the environment; all others are shown no address.
func (s Stat) executing() bool { return s.Alive() && s.hasMemory && s.environmentEnd == 0 }

// unmoved is whether what was read of the process between earlier and s was of
// one program that was in place.
func (s Stat) unmoved(earlier Stat) bool {
	return !s.executing() && s.environmentEnd == earlier.environmentEnd
}

// Alive is whether the process can still do anything: a zombie cannot.
func (s Stat) Alive() bool { return s.State != 'Z' && s.State != 'X' }

// Alive is whether the process that had this PID and start time still lives.
func Alive(pid int, startTime int64) bool {
	stat, err := Read(pid)
	return err == nil && stat.StartTime == startTime && stat.Alive()
}

// BootID tells one boot of the machine from another; start times are only
// comparable within one. Empty where the kernel does not say.
func BootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(raw))
}
