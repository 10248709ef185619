package observe

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Starvation measures how long processes of a run wait for what their machine does not give
// them, and records the stretches in which that is much: a control plane is not late because
// its machine has no time for it. It begins with an event that says what it can measure.
type Starvation struct {
	machine  machine
	recorder Recorder
	clock    clock.WithTicker
}

// machine is what can be measured; a function is nil where it cannot.
type machine struct {
	// cpu is how long each thread of each process has waited for a CPU so far, and cpus is how
	// many there are.
	cpu  func(ctx context.Context) map[runs]map[int]time.Duration
	cpus int
	// write writes to the disk, and stalled is for how long any process has waited for a disk
	// so far.
	write   func() error
	stalled func() (time.Duration, error)
	close   func()
}

// runs is a process of a member's component; that of the harness has no member.
type runs struct {
	member    string
	component cluster.Component
	process   cluster.Process
}

// before is whether a process comes before another one by name.
func (r runs) before(other runs) bool {
	return cmp.Or(cmp.Compare(r.member, other.member), cmp.Compare(r.component, other.component), cmp.Compare(r.process.PID, other.process.PID)) < 0
}

// NewStarvation makes a recorder for the machine on which a cluster runs. It sees the CPUs if
// the cluster is a cluster.CPUWaiter, and the disk of a folder. Without a folder the members
// run elsewhere, and it measures the harness alone.
func NewStarvation(c cluster.Cluster, folder string, recorder Recorder, clk clock.WithTicker) *Starvation {
	s := &Starvation{machine: machine{cpus: runtime.NumCPU(), close: func() {}}, recorder: recorder, clock: clk}
	if folder == "" {
		return s
	}
	self := os.Getpid()
	if _, err := procfs.WaitedForCPU(self); err == nil {
		if waiter, ok := c.(cluster.CPUWaiter); ok {
			s.machine.cpu = func(ctx context.Context) map[runs]map[int]time.Duration { return cpuWaits(ctx, c, waiter, self) }
		}
	}
	if file, err := unnamed(folder); err == nil {
		block := make([]byte, diskBlock)
		s.machine.write = func() error {
			if _, err := file.WriteAt(block, 0); err != nil {
				return err
			}
			return file.Sync()
		}
		s.machine.close = func() { _ = file.Close() } // there is nothing in it to lose
	}
	if _, err := procfs.WaitedForDisk(); err == nil {
		s.machine.stalled = procfs.WaitedForDisk
	}
	return s
}

// unnamed is a file in a folder that is gone with the process.
func unnamed(folder string) (*os.File, error) {
	file, err := os.CreateTemp(folder, ".disk-*")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

// cpuWaits asks of all members, and of the harness itself. What cannot be told is missing.
func cpuWaits(ctx context.Context, c cluster.Cluster, waiter cluster.CPUWaiter, self int) map[runs]map[int]time.Duration {
	ctx, cancel := context.WithTimeout(ctx, StarvationTimeout)
	defer cancel()
	out := map[runs]map[int]time.Duration{}
	for _, member := range c.Members() {
		waits, err := waiter.WaitedForCPU(ctx, member.Name)
		if err != nil {
			continue // a node without power, for example
		}
		for _, w := range waits {
			out[runs{member.Name, w.Component, w.Process}] = w.Threads
		}
	}
	if threads, err := procfs.WaitedForCPU(self); err == nil {
		out[runs{}] = threads
	}
	return out
}

// measures are what the first event lists.
func (m machine) measures() []string {
	out := []string{history.MeasuresHarness}
	if m.cpu != nil {
		out = append(out, history.MeasuresCPU)
	}
	if m.write != nil {
		out = append(out, history.MeasuresDisk)
	}
	return out
}

// Run measures until the context ends.
func (s *Starvation) Run(ctx context.Context) {
	defer s.machine.close()
	s.recorder.Record(history.Event{Kind: history.KindStarvation, Starvation: &history.Starvation{Measures: s.machine.measures()}})
	from, before := s.recorder.Now(), s.sample(ctx)
	for ctx.Err() == nil {
		late := s.late(ctx)
		now := s.sample(ctx)
		to := s.recorder.Now()
		ev := history.Event{Kind: history.KindStarvation, From: from, Starvation: now.since(before, s.machine.cpus, late, time.Duration(to-from))}
		if waited := ev.Starvation.Waited(); from > 0 && float64(waited) >= starvedShare*float64(to-from) && ctx.Err() == nil {
			ev.Member = now.longest.member
			s.recorder.Record(ev)
			to = s.recorder.Now() // stretches do not overlap
		}
		from, before = to, now
	}
}

// late is how late the harness' timers are in all, over some beats.
func (s *Starvation) late(ctx context.Context) time.Duration {
	total := time.Duration(0)
	for range starvationBeats {
		due := s.clock.Now().Add(starvationBeat)
		pause(ctx, s.clock, starvationBeat)
		total += max(0, s.clock.Since(due))
	}
	return total
}

// sample is what was measured by a time.
type sample struct {
	cpu map[runs]map[int]time.Duration
	// write is how long a write took just now.
	write, stalled time.Duration
	// longest is the process that waited longest since the sample before.
	longest runs
}

func (s *Starvation) sample(ctx context.Context) *sample {
	out := &sample{}
	if s.machine.write != nil {
		begun := s.clock.Now()
		if s.machine.write() == nil {
			out.write = s.clock.Since(begun)
		}
	}
	if s.machine.stalled != nil {
		out.stalled, _ = s.machine.stalled() // 0 where it cannot be told, which adds nothing
	}
	if s.machine.cpu != nil {
		out.cpu = s.machine.cpu(ctx)
	}
	return out
}

// since is the waiting since the sample before, each kind up to the time that has passed. That
// a process of the machine waits for a disk counts only where the disk was slow for the harness
// too: elsewhere a program that reads a lot would count.
func (a *sample) since(before *sample, cpus int, late, passed time.Duration) *history.Starvation {
	out := &history.Starvation{Harness: int64(min(late, passed))}
	most := time.Duration(0)
	for process, threads := range a.cpu {
		// Of two that waited as long, the first by name is told of.
		waited := waitedOf(threads, before.cpu[process], cpus)
		if waited > most || waited == most && waited > 0 && process.before(a.longest) {
			most, a.longest = waited, process
		}
	}
	out.CPU, out.Component = int64(min(most, passed)), string(a.longest.component)
	if a.write >= slowDisk {
		out.Disk = int64(min(max(a.write, a.stalled-before.stalled), passed))
	}
	return out
}

// waitedOf is for how long a process has waited since the sample before. Several threads that
// wait at once hold up its work no longer than one, and no more of them run at once than there
// are CPUs. A thread that was not there before has not waited long.
func waitedOf(threads, before map[int]time.Duration, cpus int) time.Duration {
	longest, all := time.Duration(0), time.Duration(0)
	for thread, waited := range threads {
		if was, known := before[thread]; known && waited > was {
			longest, all = max(longest, waited-was), all+waited-was
		}
	}
	return max(longest, all/time.Duration(cpus))
}
