package fact

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Step is a step of the scenario.
type Step struct {
	Index           int
	Action, Release string
	// Member is the one that it is about, if it is one.
	Member string
	Began  Moment
	// Ended is nil while it is played; Phase is how it ended.
	Ended *Moment
	Phase history.Phase
	// Message says why it failed or was left out.
	Message string
}

// ActionHold is the step in which the harness does nothing.
const ActionHold = "hold"

func (h *History) observeStep(ev *history.Event) {
	s, at := ev.Step, Exactly(ev.At, ev.Seq)
	i := -1 // of the step that ends
	if s.Phase != history.PhaseBegin {
		i = slices.IndexFunc(h.Steps, func(one *Step) bool { return one.Index == s.Index && one.Ended == nil })
	}
	if i < 0 {
		i = len(h.Steps)
		h.Steps = append(h.Steps, &Step{Index: s.Index, Action: s.Action, Release: s.Release, Member: ev.Member, Began: at, Phase: s.Phase})
	}
	if one := h.Steps[i]; s.Phase != history.PhaseBegin {
		one.Ended, one.Phase, one.Message = &at, s.Phase, s.Message
	}
}

// Hold is a stretch of time in which the harness changes nothing, after the control
// plane had settled.
type Hold struct {
	Name string
	// Releases is the release that each member runs.
	Releases map[string]string
	Began    Moment
	// BeganRevision and EndedRevision are ones that etcd had then.
	BeganRevision, EndedRevision int64
	// Ended is nil where the hold was not played to its end.
	Ended *Moment
}

func (h *History) observeHold(ev *history.Event) {
	at, n := Exactly(ev.At, ev.Seq), len(h.Holds)
	if ev.Hold.Phase == history.PhaseBegin || n == 0 || h.Holds[n-1].Ended != nil {
		h.Holds = append(h.Holds, &Hold{Name: ev.Hold.Name, Releases: ev.Hold.Releases, Began: at, BeganRevision: ev.Hold.Revision})
	}
	if ev.Hold.Phase == history.PhaseEnd {
		// The runner records the end of a hold only when the recorder of etcd has told of
		// all up to its revision.
		h.tell(ev.Hold.Revision, ev.Seq)
		one := h.Holds[len(h.Holds)-1]
		one.Ended, one.EndedRevision, one.Releases = &at, ev.Hold.Revision, ev.Hold.Releases
	}
}
