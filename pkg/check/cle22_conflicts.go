package check

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle22: candidates that want different strategies are dealt with in the same way
// every time, and the Lease does not wait for them to agree. KEP-4355 has an order of
// preference for that.
type cle22 struct {
	findings
	again int64
	// waiting are Leases of which it is not settled what becomes of them.
	waiting map[string]*vacancy
	// outcomes are the strategies that were chosen of the same candidates before.
	outcomes map[string]winner
}

func newCLE22() *cle22 {
	return &cle22{waiting: map[string]*vacancy{}, outcomes: map[string]winner{}}
}

func (c *cle22) Observe(w *World, ev *history.Event) {
	e := w.elections
	if m := e.moved; m != nil && m.before == nil && c.settled(w, m.lease) {
		if of, conflict := c.conflict(w, m.lease.key); conflict {
			c.chosen(w, m.lease, of, ev)
		}
	}
	contested := c.contested(e)
	maps.DeleteFunc(c.waiting, func(lease string, _ *vacancy) bool { return !slices.Contains(contested, lease) })
	for _, lease := range contested {
		l := e.leases[lease]
		_, conflict := c.conflict(w, lease)
		v, settled := c.waiting[lease], l != nil && c.settled(w, l)
		if !conflict || settled || !w.electable(lease) {
			delete(c.waiting, lease)
		} else if v == nil {
			c.waiting[lease] = &vacancy{since: ev.At, seq: ev.Seq}
		}
		if v == nil || !settled && c.waiting[lease] == nil {
			continue
		}
		if late := time.Duration(ev.At - v.since); !v.reported && w.overdue(ev, v.since, electsWithin) {
			v.reported = true
			c.infer(w, at(v.seq, ev.Seq), "the candidates of %s want different strategies, and for %s nobody holds it and it is left to nobody", lease, late.Round(time.Second))
		}
	}
}

// chosen compares what became of a Lease that was made with what became of it before,
// while the same candidates stood.
func (c *cle22) chosen(w *World, l *ledLease, of string, ev *history.Event) {
	key := l.key + " " + of
	before, again := c.outcomes[key]
	switch {
	case !again:
		c.outcomes[key] = winner{l.now.Strategy, ev.Seq}
	case before.name != l.now.Strategy:
		c.infer(w, at(before.seq, ev.Seq), "of the same candidates (%s) the strategy %s was chosen for %s, and before it was %s", of, l.now.Strategy, l.key, before.name)
	default:
		c.again++
	}
}

// settled is whether somebody holds a Lease, or it is left to somebody who knows its
// strategy.
func (c *cle22) settled(w *World, l *ledLease) bool {
	return w.held(l, w.Now) || l.now != nil && l.now.Holder == "" && l.now.Strategy != "" && l.now.Strategy != byOldest
}

// contested are the Leases that candidates of different strategies stand for, sorted.
func (c *cle22) contested(e *elections) []string {
	first, out := map[string]string{}, []string{}
	for _, k := range e.candidates {
		if before, seen := first[k.lease]; seen && before != k.now.Strategy && !slices.Contains(out, k.lease) {
			out = append(out, k.lease)
		} else if !seen {
			first[k.lease] = k.now.Strategy
		}
	}
	slices.Sort(out)
	return out
}

// conflict is whether the newest candidates of a Lease want different strategies, and
// names them all with what they want. Of different versions the newest one decides, in
// the published API, and there is no conflict.
func (c *cle22) conflict(w *World, lease string) (of string, conflict bool) {
	all := w.elections.of(lease)
	newest := ""
	var names []string
	for _, k := range all {
		if w.dead(k) {
			return "", false
		}
		if newest == "" || orderVersions(k.now.Binary, newest) > 0 {
			newest = k.now.Binary
		}
		names = append(names, own(k.name)+" "+k.now.Strategy)
	}
	wanted := map[string]bool{}
	for _, k := range all {
		if orderVersions(k.now.Binary, newest) == 0 {
			wanted[k.now.Strategy] = true
		}
	}
	return strings.Join(names, ", "), len(wanted) > 1
}

func (c *cle22) Finish(*World) {}

func (c *cle22) Observations() []Observation {
	return []Observation{{What: "conflicts of strategies that were resolved as the time before", Seen: c.again, Need: needSameAgain}}
}
