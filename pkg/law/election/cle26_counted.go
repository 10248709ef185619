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
var cle26 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-26", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "coordinated", Tag: "coordinated"}, {Name: "uncoordinated", Tag: "uncoordinated"},
	}},
	Over: changes(func(c *Change) bool {
		byHarness := c.ByHarness() || c.made[c.Revision] != nil && c.made[c.Revision].Name == c.Key
		return c.isEnrolled() && !c.Deleted() && !byHarness && (c.Taken() || c.Before != nil)
	}),
	End: func(c *Change, b law.Bounds) law.Entry {
		e, wrong := c.Entry(), c.acquiredWrongly(b.Of("acquiredApart"))
		switch {
		case c.previous != nil && c.previous.ByHarness():
			return e.Excused("the harness had given the Lease other content before")
		case !c.counted():
			return e.Broken("%s went from %q to %q, and leaseTransitions from %d to %d", c.Key, c.last, c.Now.Holder, transitions(c.Before), c.Now.Transitions)
		case wrong != "":
			return e.Broken("%s has %s, and its acquireTime %s", c.Now.Holder, c.Key, wrong)
		case !c.fromAnother():
			return e.Met()
		case c.Now.Strategy != "":
			return e.Met("coordinated")
		}
		return e.Met("uncoordinated")
	},
}

// fromAnother is whether another one had the Lease before its holder took it.
func (c *Change) fromAnother() bool {
	return c.Taken() && c.Before != nil && c.last != "" && c.last != c.Now.Holder
}

// counted is whether leaseTransitions went on by one for another holder, and not otherwise: it
// counts transitions between holders, so one that gets the Lease again after it has expired is
// not counted. The first holder of a Lease may be counted or not, and so may one that takes again
// what it had given up.
func (c *Change) counted() bool {
	counted := c.Now.Transitions - transitions(c.Before)
	return counted == 1 && c.Taken() || counted == 0 && !c.fromAnother()
}

// acquiredWrongly is what is wrong with the acquireTime; empty if nothing is. A holder that gets
// the Lease again after it may have expired either keeps its acquireTime, as with client-go's lock,
// or acquires the Lease anew.
func (c *Change) acquiredWrongly(mayBeApart time.Duration) string {
	apart := c.acquiredApart()
	switch {
	case c.Now.Holder == "" || !c.Taken() && (c.Before.Acquired.IsZero() || c.Now.Acquired.Equal(c.Before.Acquired)):
		return ""
	case !c.Taken() && c.early() == fact.Yes:
		return "changed while it kept it"
	case c.Now.Acquired.IsZero():
		return "is empty"
	case apart > mayBeApart:
		return "is " + apart.Round(100*time.Millisecond).String() + " away from when it took it"
	}
	return ""
}

// acquiredApart is how far the acquireTime is from when the holder took the Lease, at least.
func (c *Change) acquiredApart() time.Duration {
	made, acquired := c.madeAt(), c.Time(c.Now.Acquired)
	return time.Duration(max(made.Earliest-acquired, acquired-made.Latest, 0))
}

func transitions(l *history.Lease) int {
	if l == nil {
		return 0
	}
	return l.Transitions
}
