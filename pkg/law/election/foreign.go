package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// Foreign Leases and candidates are those of programs that are neither a member's nor the
// harness's. What such a program does with its own Lease is its business: a controller
// deletes its Lease when it ends, and may know a strategy of its own. What a coordinator
// does with it is judged like anything else of a coordinator's.

// foreignName is whether a candidate, or the holder of a Lease, is neither a member's nor
// the harness's.
func (f *Facts) foreignName(name string) bool {
	return f.MemberOf(name) == "" && !fact.Harness(name) && !byForce(name)
}

// foreign is whether only foreign programs ever held the Lease or stood for it.
func (l *Lease) foreign() bool {
	f := l.facts
	return cached(f, "foreign "+l.Key, func() bool {
		if l.Key == coordinators || fact.Harness(l.Key) {
			return false
		}
		candidates := f.candidatesOf(l.Key)
		if slices.ContainsFunc(candidates, func(c *Candidate) bool { return !f.foreignName(own(c.Name)) }) {
			return false
		}
		held := false
		for _, c := range l.changes {
			if who := holder(c.Now); who != "" {
				if !f.foreignName(who) {
					return false
				}
				held = true
			}
		}
		return held || len(candidates) > 0
	})
}

// byOwner is whether the change is of a foreign Lease, and may be its owner's: a
// coordinator that tells who it is in what it writes did not make it.
func (c *Change) byOwner() bool {
	return c.lease.foreign() && (!c.lease.facts.tells || c.Now == nil || c.Now.Coordinator == "")
}
