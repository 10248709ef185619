package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// heldUp is whether a leader's API server stood still when the leader lost its Lease, and went on
// so shortly before an action that it may have held the request since: the leader sent it while
// it still led. An action that comes later was sent later.
func (t *Tenure) heldUp(lost, acted fact.Moment) bool {
	within := int64(bound("CLE-12", "inFlight"))
	return slices.ContainsFunc(t.Processes(t.Member, history.ComponentAPIServer), func(p *fact.Process) bool {
		return slices.ContainsFunc(p.Paused().Spans(fact.Unknown), func(still fact.Span) bool {
			return still.Begin <= lost.Latest && still.End >= lost.Earliest && acted.Latest >= still.End && acted.Earliest-still.End <= within
		})
	})
}
