package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ticksPerSecond is the unit of processor time in /proc, which Linux keeps the
// same on all machines.
const ticksPerSecond = 100

// Resident reads how many bytes of a process's memory are resident now, and the highest
// number so far.
func Resident(pid int) (now, highest int64, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	if now, err = kilobytes(raw, "VmRSS:"); err != nil {
		return 0, 0, err
	}
	highest, err = kilobytes(raw, "VmHWM:")
	return now, highest, err
}

// kilobytes reads a line of /proc such as "VmRSS:  123 kB", as bytes.
func kilobytes(raw []byte, name string) (int64, error) {
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[0] == name && fields[2] == "kB" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("the kernel does not report %s", strings.TrimSuffix(name, ":"))
}

// Taken reads how much processor time a process has taken, in seconds.
func Taken(pid int) (float64, error) {
	n, err := ticks(pid)
	return float64(n) / ticksPerSecond, err
}

// ticks reads how much processor time a process has taken.
func ticks(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return ticksIn(raw)
}

// ticksIn adds user and system time, which are the fields 14 and 15 of proc(5).
// Field 2 is a name that may hold anything, so they are counted from its end.
func ticksIn(raw []byte) (int64, error) {
	const third, user = 3, 14
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) <= user+1-third {
		return 0, fmt.Errorf("too few fields in %q", raw)
	}
	var sum int64
	for _, field := range fields[user-third : user-third+2] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// busyTicks reads how much time all processors were not idle, from the first line
// of /proc/stat.
func busyTicks(raw []byte) (busy, all int64, err error) {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	fields := strings.Fields(string(line))
	// user nice system idle iowait irq softirq steal; the others are in user.
	const idle, iowait, steal = 4, 5, 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return 0, 0, fmt.Errorf("%q is no sum of processor times", line)
	}
	for i, field := range fields[1 : steal+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, err
		}
		all += n
		if at := i + 1; at != idle && at != iowait {
			busy += n
		}
	}
	return busy, all, nil
}

// Processors measures how much of all processors' time is in use, from WatchProcessors on.
type Processors struct {
	pids      []int
	own       int64
	busy, all int64
}

// WatchProcessors begins to measure. It counts the processes with the PIDs and this
// program separately from all others.
func WatchProcessors(pids ...int) (Processors, error) {
	p := Processors{pids: append([]int{os.Getpid()}, pids...)}
	var err error
	p.own, p.busy, p.all, err = p.read()
	return p, err
}

func (p Processors) read() (own, busy, all int64, err error) {
	for _, pid := range p.pids {
		n, err := ticks(pid)
		if err != nil {
			return 0, 0, 0, err
		}
		own += n
	}
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, 0, err
	}
	busy, all, err = busyTicks(raw)
	return own, busy, all, err
}

// Shares returns the share of all processors' time that was in use since WatchProcessors,
// and the share that processes other than the named ones took.
func (p Processors) Shares() (busy, others float64, err error) {
	own, busyNow, all, err := p.read()
	if err != nil || all == p.all {
		return 0, 0, err
	}
	whole := float64(all - p.all)
	return float64(busyNow-p.busy) / whole, max(0, float64((busyNow-p.busy)-(own-p.own))/whole), nil
}

// ResetPeak resets the highest memory of a process to its current memory.
func ResetPeak(pid int) error {
	// 5 resets the peak; see proc(5).
	const peak = "5"
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(peak), 0); err != nil {
		return fmt.Errorf("begin to measure the memory of process %d: %w", pid, err)
	}
	return nil
}
