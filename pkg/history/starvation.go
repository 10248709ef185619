package history

import "fmt"

// KindStarvation is the kind of a Starvation.
const KindStarvation Kind = "starvation"

// What the recorder of starvation can measure on a machine.
const (
	// MeasuresCPU: how long the threads of each process of the run waited for a CPU.
	MeasuresCPU = "cpu"
	// MeasuresDisk: how long a write to the disk took, and for how long any process of the
	// machine waited for a disk.
	MeasuresDisk = "disk"
	// MeasuresHarness: how late the harness' own timers were.
	MeasuresHarness = "harness"
)

var starvationMeasures = []string{MeasuresCPU, MeasuresDisk, MeasuresHarness}

// Starvation says for how long, from Event.From to Event.At, processes of the run waited for
// what their machine did not give them. The recorder measures all the time and records only
// stretches in which they waited for a large part of it. Stretches do not overlap. A history
// without such events says nothing of its machine.
type Starvation struct {
	// Measures are Measures… values. Only the first event of the recorder has them, which
	// says that the recorder began, and what it can measure; it tells of no waiting.
	Measures []string `json:"measures,omitempty"`
	// CPU is for how long one process waited for a CPU, in nanoseconds: the process that
	// waited longest, which is the Component of Event.Member, or the harness where both are
	// empty. That is the longer of what its thread waited that waited longest, and of what all
	// its threads waited by the number of CPUs, on each of which one of them can run.
	CPU       int64  `json:"cpu,omitempty"`
	Component string `json:"component,omitempty"`
	// Disk is for how long the disk held up writes, in nanoseconds.
	Disk int64 `json:"disk,omitempty"`
	// Harness is how late the harness' own timers were, in nanoseconds.
	Harness int64 `json:"harness,omitempty"`
	// DiskFull is whether a disk that the run writes to has no room left for it at Event.At. It
	// had at Event.From. The run ends then.
	DiskFull bool `json:"diskFull,omitempty"`
}

// Waited is the longest of what was measured, in nanoseconds: processes wait for several
// things at once, so that they do not add up.
func (s *Starvation) Waited() int64 { return max(s.CPU, s.Disk, s.Harness) }

// starvationProblem is that processes waited for longer than the event lasted, or a value
// that the format does not have.
func starvationProblem(e *Event) string {
	s := e.Starvation
	if s == nil {
		return ""
	}
	for _, measure := range s.Measures {
		if problem := outside("measure", starvationMeasures, measure); problem != "" {
			return problem
		}
	}
	if lasted := e.At - e.From; s.Waited() > 0 && (e.From == 0 || s.Waited() > lasted) {
		return fmt.Sprintf("tells of %d ns of waiting from %d to %d, which is not as long", s.Waited(), e.From, e.At)
	}
	return ""
}
