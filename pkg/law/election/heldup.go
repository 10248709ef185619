package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// heldUp is whether a leader's API server stood still when the leader lost its Lease, and went on
// so shortly before an action that it may have held the request since: the leader sent it while
// it still led. That is certain where the action says when it was sent. An action that comes
// later was sent later, and a process that has ended passes nothing on.
func (t *Tenure) heldUp(lost fact.Moment, a *Action) fact.Truth {
	acted, within := t.When(a.Stamp), int64(bound("CLE-12", "inFlight"))
	held := slices.ContainsFunc(t.Processes(t.Member, history.ComponentAPIServer), func(p *fact.Process) bool {
		stands := t.stands(p)
		return p.Lived(acted) != fact.No && slices.ContainsFunc(stands.Spans(fact.Unknown), func(still fact.Span) bool {
			// It went on before the first answer that tells of it.
			after := acted.Latest >= still.End || stands.Lasts(still.Begin, acted.Latest, fact.Yes) > 0 && stands.At(acted.Latest) != fact.Yes
			return still.Begin <= lost.Latest && still.End >= lost.Earliest && after && acted.Earliest-still.End <= within
		})
	})
	apart, sent := int64(notion("clocksApart")), t.Time(a.Sent)
	switch {
	case !held, !a.Sent.IsZero() && sent-apart > lost.Latest:
		return fact.No
	case !a.Sent.IsZero() && sent+apart <= lost.Earliest:
		return fact.Yes
	}
	return fact.Unknown
}

// stands is while a server stands still: the harness stopped it, or it has been ready and gives no
// answer to any client while no fault is at its member, whatever the cause.
func (f *Facts) stands(p *fact.Process) fact.Signal {
	return cached(f, "stands", p, func() fact.Signal {
		return fact.Or(p.Paused(), fact.And(p.Alive(), f.Healthy(p.Member), f.mute(p.Member)))
	})
}
