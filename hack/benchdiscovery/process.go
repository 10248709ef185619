package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of processor time in /proc, which Linux keeps the
// same on all machines.
const ticksPerSecond = 100

// resident reads how much memory of a process is resident, and how much was at
// its highest.
func resident(pid int) (now, highest int64, err error) {
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
	return 0, fmt.Errorf("the kernel tells no %s", strings.TrimSuffix(name, ":"))
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

// atRest waits until a process takes hardly any processor time, and returns what
// share of one processor it took last.
func atRest(ctx context.Context, pid int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, quietBound)
	defer cancel()
	before, err := ticks(pid)
	if err != nil {
		return 0, err
	}
	window := time.NewTicker(quietWindow)
	defer window.Stop()
	for share := 1.0; ; {
		select {
		case <-window.C:
		case <-ctx.Done():
			if share >= quietShare && ctx.Err() == context.DeadlineExceeded {
				progress("  the API server is still busy")
				return share, nil
			}
			return share, ctx.Err()
		}
		now, err := ticks(pid)
		if err != nil {
			return 0, err
		}
		share = float64(now-before) / ticksPerSecond / quietWindow.Seconds()
		if before = now; share < quietShare {
			return share, nil
		}
	}
}

// others tells how much processor time went to neither the control plane nor this
// program.
type others struct {
	pids      []int
	own       int64
	busy, all int64
}

// watchOthers begins to watch.
func watchOthers(r running) (others, error) {
	o := others{pids: []int{os.Getpid()}}
	for _, component := range r.cluster.Members()[0].Components {
		if process, ok := r.cluster.Process(r.member, component); ok {
			o.pids = append(o.pids, process.PID)
		}
	}
	var err error
	o.own, o.busy, o.all, err = o.read()
	return o, err
}

func (o others) read() (own, busy, all int64, err error) {
	for _, pid := range o.pids {
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

// share is what part of all processors others have taken since.
func (o others) share() (float64, error) {
	own, busy, all, err := o.read()
	if err != nil || all == o.all {
		return 0, err
	}
	return max(0, float64((busy-o.busy)-(own-o.own))/float64(all-o.all)), nil
}
