package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle04: where a Lease does not exist and candidates do, the coordinator makes it
// for one of them within a bound.
type cle04 struct {
	findings
	made, anew int64
	// waiting are Leases that do not exist, with since when nothing stands in the way
	// of making them.
	waiting map[string]*vacancy
}

// vacancy is a Lease that somebody should hold.
type vacancy struct {
	since, seq int64
	// began is when it began, whatever stood in the way since.
	began    int64
	reported bool
	// helped is whether somebody has deleted the Lease meanwhile, which makes
	// coordinators look at it anew.
	helped bool
}

func newCLE04() *cle04 { return &cle04{waiting: map[string]*vacancy{}} }

func (c *cle04) Observe(w *World, ev *history.Event) {
	e := w.elections
	if m := e.moved; m != nil && m.taken && m.before == nil && e.byCoordinator(m.lease.now) {
		c.made++
		if m.afterDeletion {
			c.anew++
		}
	}
	for _, lease := range e.wanted() {
		l := e.leases[lease]
		made := l != nil && l.now != nil && !l.forNobody()
		v := c.waiting[lease]
		if !made && (v == nil || !w.electable(lease)) {
			// Time counts only while all that it takes is there.
			c.waiting[lease] = &vacancy{since: ev.At, seq: ev.Seq}
			continue
		}
		if made {
			delete(c.waiting, lease)
		}
		if v == nil {
			continue
		}
		if late := time.Duration(ev.At - v.since); !v.reported && w.overdue(ev, v.since, electsWithin) {
			v.reported = true
			what := "there is no Lease %s for %s"
			if !made && l != nil && l.now != nil {
				what = "the Lease %s was made for nobody, and nobody has had it for %s"
			}
			c.infer(w, at(v.seq, ev.Seq), what+", though there are candidates and a coordinator", lease, late.Round(time.Second))
		}
	}
}

// forNobody is whether a Lease by which the oldest is to lead was made anew, and nobody has
// had it since.
func (l *ledLease) forNobody() bool {
	return l.now.Holder == "" && l.now.Strategy == byOldest && (l.deleted || l.last == "")
}

func (c *cle04) Finish(*World) {}

func (c *cle04) Observations() []Observation {
	return []Observation{
		{What: "Leases that a coordinator made for a candidate", Seen: c.made, Need: needMade},
		{What: "of those, Leases that had been deleted", Seen: c.anew, Need: needAnew},
	}
}
