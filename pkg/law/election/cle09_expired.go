package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle09: Leases can never be claimed by another leader until they expire (KEP-4355,
// "Graduation", "Risks and Mitigations").
var cle09 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-09", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "taken"}, {Name: "given", Tag: "given"}, {Name: "expired", Tag: "expired"},
	}},
	Judge: judgeTakeovers,
}

func judgeTakeovers(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, lease := range f.sorted((*Lease).isEnrolled) {
		for _, c := range lease.changes {
			who := f.MemberOf(holder(c.Now))
			switch before := holder(c.Before); {
			case c.byOwner():
			case c.Deleted():
				judgeDeletion(f, c, l)
			case !c.Taken() || c.ByHarness() || c.last == "" || c.last == c.Now.Holder || c.deletedSince:
			case before == "":
				l.MetBy(who, lease.Key, c.When(), "given")
			case c.Early() > clocksApart():
				l.Broken(lease.Key, c.When(), law.Evidence(c.previous.Seq, c.Seq), "%s took %s from %s %s before it expired", c.Now.Holder, lease.Key, before, c.Early().Round(time.Millisecond))
			default:
				l.MetBy(who, lease.Key, c.When(), "expired")
			}
		}
	}
}

// judgeDeletion judges a deletion of a Lease, which takes it from its holder as well.
func judgeDeletion(f *Facts, c *Change, l *law.Ledger) {
	before := holder(c.Before)
	if before == "" || byForce(before) || c.When().Earliest >= f.expires(c.Before)-int64(clocksApart()) {
		return
	}
	if !f.deletedByHarness(c.lease.Key, c.When()) {
		l.BrokenUnless(f.asked(c.When()), c.lease.Key, c.When(), law.Evidence(c.Seq), "%s was deleted, which the harness had not asked for, before it expired", c.lease.Key)
	}
}

// isEnrolled is whether any instance ever stood for the Lease, or it is the coordinators'.
func (l *Lease) isEnrolled() bool {
	if l.Key == coordinators || len(l.facts.candidatesOf(l.Key)) > 0 {
		return true
	}
	for _, c := range l.changes {
		if c.Now != nil && c.Now.Strategy != "" {
			return true
		}
	}
	return false
}
