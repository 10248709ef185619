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
		e, counted := c.Entry(), c.Now.Transitions-transitions(c.Before)
		// The first holder of a Lease may be counted or not, and so may one that takes again
		// what it had given up.
		changed := c.Taken() && c.Before != nil && c.last != "" && c.last != c.Now.Holder
		may := c.Taken() && !changed && counted == 1
		switch apart := c.acquiredApart(); {
		case c.previous != nil && c.previous.ByHarness():
			return e.Excused("the harness had given the Lease other content before")
		case changed && counted != 1, !changed && counted != 0 && !may:
			return e.Broken("%s went from %q to %q, and leaseTransitions from %d to %d", c.Key, c.last, c.Now.Holder, transitions(c.Before), c.Now.Transitions)
		case !c.Taken() && c.Now.Holder != "" && !c.Before.Acquired.IsZero() && !c.Now.Acquired.Equal(c.Before.Acquired):
			return e.Broken("%s kept the holder %s, and its acquireTime changed", c.Key, c.Now.Holder)
		case c.Taken() && c.Now.Acquired.IsZero():
			return e.Broken("%s took %s, and its acquireTime is empty", c.Now.Holder, c.Key)
		case c.Taken() && apart > b.Of("acquiredApart"):
			return e.Broken("%s took %s, and its acquireTime is %s away from when that was", c.Now.Holder, c.Key, apart.Round(100*time.Millisecond))
		case changed && c.Now.Strategy != "":
			return e.Met("coordinated")
		case changed:
			return e.Met("uncoordinated")
		}
		return e.Met()
	},
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
