package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// Foreign Leases and candidates are those of programs that are neither a member's nor the
// harness's. What such a program does with its own Lease is its business: a controller
// deletes its Lease when it ends, and may know a strategy of its own. What a coordinator
// does with it is judged like anything else of a coordinator's.

// foreign is whether only foreign programs ever held the Lease or stood for it.
func (l *Lease) foreign() bool {
	return cached(l.Facts, "foreign", l, func() bool {
		names := fact.Each(l.candidates, func(k *Candidate) string { return own(k.Name) })
		for _, c := range l.changes {
			if who := holder(c.Now); who != "" {
				names = append(names, who)
			}
		}
		return len(names) > 0 && !l.isCoordinators() && !fact.Harness(l.Key) && !slices.ContainsFunc(names, func(name string) bool {
			return l.MemberOf(name) != "" || fact.Harness(name) || byForce(name)
		})
	})
}

// byOwner is whether the change is of a foreign Lease, and may be its owner's: a
// coordinator that tells who it is in what it writes did not make it.
func (c *Change) byOwner() bool {
	return c.foreign() && (!c.tells || c.Now == nil || c.Now.Coordinator == "")
}
