package check

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle25: an API server without coordination ignores the fields that KEP-4355 has
// added where they are new, and keeps them where they were; and when all servers have
// coordination again, Leases are coordinated as before.
type cle25 struct {
	findings
	dropped, kept, stored, converged int64
	// asked are requests for the fields whose Lease was not seen yet, and written the
	// Leases whose request was not, by revision: their lines come in either order.
	asked   map[int64]fieldsAsked
	written map[int64]fieldsWritten
	// without are the members whose server has been without coordination.
	without map[string]bool
	// waiting are Leases that are not coordinated again, since all servers are, and
	// again those that are.
	waiting map[string]*vacancy
	again   map[string]bool
}

// fieldsAsked is a request for the fields, and whether its server has them.
type fieldsAsked struct {
	member  string
	has     bool
	creates bool
	seq     int64
}

// fieldsWritten is what became of a Lease by such a request.
type fieldsWritten struct {
	before, now *history.Lease
	seq         int64
}

// ownFields begins the names of the Leases that the harness writes the fields to.
const ownFields = "kube-system/" + ownPrefix + "fields-"

func newCLE25() *cle25 {
	return &cle25{
		asked: map[int64]fieldsAsked{}, written: map[int64]fieldsWritten{}, without: map[string]bool{},
		waiting: map[string]*vacancy{}, again: map[string]bool{},
	}
}

func (c *cle25) Observe(w *World, ev *history.Event) {
	if p := ev.Process; p != nil && p.Component == history.ComponentAPIServer && p.Change == history.ProcessStarted && slices.Contains(p.Off, history.FeatureCoordination) {
		c.without[ev.Member] = true
		clear(c.again)
	}
	if r := ev.Request; r != nil && r.Class == history.ClassElection && r.Election == history.ElectionFields {
		if accepted(r) {
			c.asked[r.ResourceVersion] = fieldsAsked{ev.Member, w.coordinating(ev.Member), r.Verb == "create", ev.Seq}
			c.compare(w, r.ResourceVersion)
		} else if broken(r) {
			c.infer(w, at(ev.Seq), "%s answered %d to a Lease with the fields of coordination: %s", ev.Member, r.Code, r.Message)
		}
	}
	if m := w.elections.moved; m != nil && m.lease.now != nil && strings.HasPrefix(m.lease.key, ownFields) {
		c.written[m.lease.revision] = fieldsWritten{m.before, m.lease.now, ev.Seq}
		c.compare(w, m.lease.revision)
	}
	c.converge(w, ev)
}

// coordinating is whether the member's API server has coordination, as far as its
// command line says.
func (w *World) coordinating(member string) bool {
	in := w.servers[member].current()
	return in != nil && !slices.Contains(in.off, history.FeatureCoordination)
}

// compare holds what was asked for against what was stored.
func (c *cle25) compare(w *World, revision int64) {
	r, asked := c.asked[revision]
	l, written := c.written[revision]
	if !asked || !written {
		return
	}
	delete(c.asked, revision)
	delete(c.written, revision)
	had, has := l.before != nil && l.before.Strategy != "" && l.before.Preferred != "", l.now.Strategy != "" && l.now.Preferred != ""
	none := l.now.Strategy == "" && l.now.Preferred == ""
	evidence := at(r.seq, l.seq)
	slices.Sort(evidence)
	switch {
	case !r.has && !had && !none:
		c.infer(w, evidence, "%s, without coordination, stored the fields that are for it in a Lease that had none", r.member)
	case !r.has && had && !has:
		c.infer(w, evidence, "%s, without coordination, took the fields that are for it out of a Lease that had them", r.member)
	case r.has && !has:
		c.infer(w, evidence, "%s, with coordination, did not store the fields that are for it", r.member)
	case !r.has && !had:
		c.dropped++
	case !r.has:
		c.kept++
	case c.without[r.member] && r.creates:
		c.stored++
	}
}

// converge looks, once all servers have coordination again, whether the Leases are
// coordinated.
func (c *cle25) converge(w *World, ev *history.Event) {
	if len(c.without) == 0 || slices.ContainsFunc(w.order, func(member string) bool { return !w.coordinating(member) }) {
		clear(c.waiting)
		return
	}
	for _, l := range w.elections.coordinated() {
		if c.again[l.key] {
			continue
		}
		v, coordinated := c.waiting[l.key], w.held(l, ev.At) && l.now.Strategy != ""
		if coordinated {
			c.again[l.key] = true
			c.converged++
		} else if v == nil || !w.electable(l.key) {
			c.waiting[l.key] = &vacancy{since: ev.At, seq: ev.Seq}
			continue
		}
		if v == nil {
			continue
		}
		if late := time.Duration(ev.At - v.since); !v.reported && w.overdue(ev, v.since, replacesWithin) {
			v.reported = true
			c.infer(w, at(v.seq, ev.Seq), "all servers have coordination again, and for %s nobody leads %s by it", late.Round(time.Second), l.key)
		}
	}
}

func (c *cle25) Finish(*World) {}

func (c *cle25) Observations() []Observation {
	return []Observation{
		{What: "writes without coordination whose new fields were dropped", Seen: c.dropped, Need: needFields},
		{What: "writes without coordination that kept the fields of before", Seen: c.kept, Need: needFields},
		{What: "new Leases with the fields by servers that had coordination again", Seen: c.stored, Need: needHandovers},
		{What: "Leases that were coordinated again", Seen: c.converged, Need: needHandovers},
	}
}
