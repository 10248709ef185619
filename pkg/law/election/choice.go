package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// choice is a change with which the harness, as an operator, set the strategy of a Lease.
type choice struct {
	*Change
	// ends is the first change after which it holds no more; nil if it holds at the end. It is
	// another choice, a deletion, or a change of the strategy by any other client.
	ends *Change
}

// choices of a Lease, in order.
func (l *Lease) choices() []*choice {
	return cached(l.Facts, "choices", l, func() []*choice {
		var out []*choice
		for _, c := range l.changes {
			if i := len(out) - 1; i >= 0 && out[i].ends == nil && (c.Deleted() || c.Now.Strategy != out[i].Now.Strategy) {
				out[i].ends = c
			}
			if c.chooses() {
				out = append(out, &choice{Change: c})
			}
		}
		return out
	})
}

// chooses is whether the harness set the strategy with the change.
func (c *Change) chooses() bool {
	r := c.made[c.Revision]
	return r != nil && r.Name == c.Key && r.Election == history.ElectionChoose && !c.Deleted() &&
		(c.Before == nil || c.Before.Strategy != c.Now.Strategy)
}

// choice is the one that held right before a change; nil if none did.
func (c *Change) choice() *choice {
	all := c.Lease.choices()
	i := slices.IndexFunc(all, func(one *choice) bool {
		return one.Revision < c.Revision && (one.ends == nil || one.ends.Revision >= c.Revision)
	})
	if i < 0 {
		return nil
	}
	return all[i]
}

// allChoices are those of all Leases.
func (f *Facts) allChoices() []*choice {
	var out []*choice
	for _, l := range leases((*Lease).there)(f) {
		out = append(out, l.choices()...)
	}
	return out
}

// byCoordinatorAlone is whether neither the harness made the change nor an instance on its own account:
// the coordinator did.
func (c *Change) byCoordinatorAlone() bool {
	return c.made[c.Revision] == nil && !c.byOwner() && c.ByCoordinator()
}

// younger is whether a candidate comes before another one where the newest leads.
func younger(a, b *statement) bool { return older(b, a) }

// orders are the orders of candidates by the strategies of a coordinator.
var orders = map[string]func(a, b *statement) bool{oldest: older, newest: younger}

// leader is the candidate that has the Lease after a change; nil if the holder is none.
func (c *Change) leader() *Tenure {
	t := c.tenureAt(c.Revision)
	if t == nil || t.candidate == nil || t.Lost != nil && t.Lost.Revision <= c.Revision {
		return nil
	}
	return t
}

// fitting are the takings of a Lease by candidates that no eligible one comes before.
func (l *Lease) fitting(before func(a, b *statement) bool) []fact.Moment {
	return l.takings(func(t *Tenure) bool {
		return t.candidate != nil && t.outrankedBy(before, anyCandidate, (*Candidate).Eligible).At(t.Taken.When().Latest) != fact.Yes
	})
}

// coordinatorRelease is the release of the API server that coordinated at a moment; empty if
// that is not known.
func (f *Facts) coordinatorRelease(at fact.Moment) string {
	release := ""
	for _, t := range tenures((*Lease).isCoordinators)(f) {
		if p := f.LastProcess(t.Member, history.ComponentAPIServer, at.Latest); p != nil && t.Taken.When().Latest <= at.Latest {
			release = p.Release
		}
	}
	return release
}
