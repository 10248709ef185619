package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle08: where a better candidate is there, the coordinator marks the Lease, and the leader
// stops renewing it (KEP-4355, "Renewal Interval and Performance", "Strategy").
var cle08 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-08", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "handed", Tag: "handed"}}},
	Parts: []law.Law[*Facts]{
		replaced((*Lease).isCoordinated, anyCandidate),
		law.Each[*Facts, *Tenure]{Over: tenures((*Lease).hasCandidates), End: (*Tenure).handedOver},
	},
}

// isCoordinated is whether candidates stand for the Lease, and it said at some time that a
// coordinator elects for it by the oldest version.
func (l *Lease) isCoordinated() bool {
	return l.hasCandidates() && slices.ContainsFunc(l.changes, func(c *Change) bool { return c.Now != nil && c.Now.Strategy == oldest })
}

// says is while the Lease exists and says what fits.
func (l *Lease) says(fits func(*history.Lease) bool) fact.Signal {
	return fact.Follow(l.changes, (*Change).When, func(c *Change) bool { return c.Now != nil && fits(c.Now) })
}

// handedOver judges that a coordinator waits for the leader that it told to give way, until
// that has given the Lease up or does not hold it any more.
func (t *Tenure) handedOver(_ law.Bounds) law.Entry {
	e, mark := t.Entry(), t.mark()
	if mark == nil || t.next == nil || t.next.candidate == nil || !t.next.Taken.ByCoordinator() || t.next.Taken.deletedSince ||
		!t.isElected(mark.Revision) || !t.isElected(t.next.Taken.Revision) {
		return e
	}
	switch c := t.next.Taken; {
	case c.early() == fact.Yes:
		return e.Broken("%s was told to give %s up, and it was given to %s %s", t.Holder, t.Key, c.Now.Holder, c.earlyBy()).Shown(mark.Seq, c.previous.Seq, c.Seq)
	case c.early() == fact.Unknown:
		return e.Unclear("whether %s had expired when it was given to %s is not certain", t.Key, c.Now.Holder)
	case t.candidate != nil && older(t.next.candidate.last(), t.candidate.last()):
		return e.Met("handed")
	}
	return e.Met()
}
