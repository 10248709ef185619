package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle26: leaseTransitions counts the changes of holder, and acquireTime is when the holder
// took the Lease, whether a coordinator gave it or an instance took it (coordination/v1,
// LeaseSpec; KEP-4355 keeps what the fields mean). All times stand in one object.
var cle26 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-26", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "coordinated", Tag: "coordinated"}, {Name: "uncoordinated", Tag: "uncoordinated"},
	}},
	Judge: judgeCounting,
}

func judgeCounting(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, lease := range f.sorted((*Lease).isEnrolled) {
		for _, c := range lease.changes {
			switch {
			case c.Deleted() || c.writtenByHarness():
			case c.previous != nil && c.previous.ByHarness():
				l.Excused(lease.Key, c.When(), "the harness had given the Lease other content before")
			case c.Taken():
				c.judgeTaken(l, b)
			case c.Before != nil:
				c.judgeKept(l)
			}
		}
	}
}

// writtenByHarness is whether a request of the harness made the change, by force or as a
// participant in elections.
func (c *Change) writtenByHarness() bool {
	return c.lease.facts.written[c.Revision] == c.lease.Key || c.ByHarness()
}

// judgeTaken judges what a Lease says once it has another holder. The first holder of a
// Lease may be counted or not, and so may one that takes again what it had given up.
func (c *Change) judgeTaken(l *law.Ledger, b law.Bounds) {
	key, at, counted := c.lease.Key, c.When(), c.Now.Transitions-transitions(c.Before)
	changed := c.last != "" && c.last != c.Now.Holder && c.Before != nil
	evidence := law.Evidence(c.Seq)
	if c.previous != nil {
		evidence = law.Evidence(c.previous.Seq, c.Seq)
	}
	switch apart := c.acquiredApart(); {
	case changed && counted != 1, !changed && (counted < 0 || counted > 1):
		l.Broken(key, at, evidence, "%s went from %q to %s, and leaseTransitions from %d to %d", key, c.last, c.Now.Holder, transitions(c.Before), c.Now.Transitions)
	case c.Now.Acquired.IsZero():
		l.Broken(key, at, evidence, "%s took %s, and its acquireTime is empty", c.Now.Holder, key)
	case apart > b.Of("acquiredApart"):
		l.Broken(key, at, evidence, "%s took %s, and its acquireTime is %s away from when that was", c.Now.Holder, key, took(apart))
	case !changed:
		l.Met(key, at)
	case c.Now.Strategy != "":
		l.Met(key, at, "coordinated")
	default:
		l.Met(key, at, "uncoordinated")
	}
}

// judgeKept judges that a change by which the Lease gets no other holder counts as none,
// and that its holder took it when it did before.
func (c *Change) judgeKept(l *law.Ledger) {
	key, at, evidence := c.lease.Key, c.When(), law.Evidence(c.previous.Seq, c.Seq)
	switch {
	case c.Now.Transitions != transitions(c.Before):
		l.Broken(key, at, evidence, "%s kept the holder %q, and leaseTransitions went from %d to %d", key, c.Now.Holder, transitions(c.Before), c.Now.Transitions)
	case c.Now.Holder != "" && !c.Before.Acquired.IsZero() && !c.Now.Acquired.Equal(c.Before.Acquired):
		l.Broken(key, at, evidence, "%s kept the holder %s, and its acquireTime changed", key, c.Now.Holder)
	default:
		l.Met(key, at)
	}
}

// acquiredApart is how far the acquireTime is from when the holder took the Lease, at least.
func (c *Change) acquiredApart() time.Duration {
	made, acquired := c.madeAt(), c.lease.facts.Time(c.Now.Acquired)
	return time.Duration(max(made.Earliest-acquired, acquired-made.Latest, 0))
}

func transitions(l *history.Lease) int {
	if l == nil {
		return 0
	}
	return l.Transitions
}
