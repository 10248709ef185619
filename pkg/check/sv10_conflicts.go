package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv10: however many conflicts there are, a registration comes to its end
// (KEP-2339, updating a StorageVersion: on a conflict the server begins again).
// It is judged of servers that start while somebody edits StorageVersions which
// they have to write to more often than once a second; that they met conflicts
// they count themselves. It has come to its end when the server is ready and its
// entry is in all of them: one that is ready without has given up.
type sv10 struct {
	findings
	met        int64 // conflicts of all servers
	registered perMember
	conflicts  perMember
	edits      perMember
	storms     map[string]*storm // by member
}

// storm is one storm of edits that a member starts in.
type storm struct {
	seq     int64
	objects []string
	// since is when the member's server was started first in it; 0 before. A server
	// that ends by itself is not given its time anew.
	since, sinceSeq int64
	// edits of each object since then.
	edits map[string]int64
	// done is whether the registration was judged.
	done bool
}

func newSV10() *sv10 { return &sv10{storms: map[string]*storm{}} }

func (c *sv10) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Fault != nil && ev.Fault.Type == history.FaultStorm:
		c.fault(w, ev)
	case ev.Process != nil && ev.Process.Component == history.ComponentAPIServer:
		c.process(ev)
	case ev.Request != nil:
		c.edit(ev)
	}
	for _, member := range w.order {
		if st := c.storms[member]; st != nil && st.since > 0 && !st.done {
			c.judge(w, ev, member, st)
		}
	}
}

func (c *sv10) fault(w *World, ev *history.Event) {
	switch ev.Fault.Phase {
	case history.PhaseInject:
		c.storms[ev.Member] = &storm{seq: ev.Seq, objects: ev.Fault.Objects, edits: map[string]int64{}}
	case history.PhaseWitness:
		c.met += ev.Fault.Count
		c.conflicts.addMany(w, ev.Member, ev.Fault.Count)
	case history.PhaseHeal:
		// A registration that has not come to its end by now has no storm to blame,
		// unless its time was over before, and then it was judged. Of one that has,
		// there may be more to be told.
		st, in := c.storms[ev.Member], w.servers[ev.Member].current()
		if st == nil || st.since == 0 || in == nil || in.ready == nil {
			delete(c.storms, ev.Member)
		}
	}
}

func (c *sv10) process(ev *history.Event) {
	st := c.storms[ev.Member]
	switch {
	case st == nil || st.done:
	case ev.Process.Change == history.ProcessStarted && st.since == 0:
		st.since, st.sinceSeq = ev.At, ev.Seq
		for _, name := range st.objects {
			st.edits[name] = 0
		}
	case ev.Process.Change == history.ProcessExited && ev.Process.Expected:
		st.since = 0
	}
}

// edit notes an edit that somebody's server took.
func (c *sv10) edit(ev *history.Event) {
	r := ev.Request
	if r.Group != storageVersionGroup || r.Resource != "storageversions" || r.Verb != "patch" && r.Verb != "update" || !accepted(r) {
		return
	}
	for member, st := range c.storms {
		if _, meant := st.edits[r.Name]; meant && member != ev.Member && !st.done {
			st.edits[r.Name]++
		}
	}
}

// judge looks whether the member's registration has come to its end, or should
// have.
func (c *sv10) judge(w *World, ev *history.Event, member string, st *storm) {
	in := w.servers[member].current()
	if in == nil {
		return
	}
	if in.ready == nil {
		if ev.At-st.since > int64(registers) {
			st.done = true
			c.infer(w, at(st.seq, st.sinceSeq, ev.Seq), "%s is not ready %v after its start, in which time somebody edited %d StorageVersions %d times",
				member, time.Duration(ev.At-st.since).Round(time.Second), len(st.objects), st.count())
		}
		return
	}
	if in.ready.revision == 0 || in.discovered == nil {
		return // there is more to be told of its readiness
	}
	st.done = true
	if took := in.ready.at - st.since; took > int64(registers) {
		c.infer(w, at(st.seq, st.sinceSeq, in.ready.seq), "%s was ready only %v after its start", member, time.Duration(took).Round(time.Second))
	}
	if st.often(in.ready.at) {
		c.registered.add(w, member)
		c.edits.addMany(w, member, st.count())
	}
	w.when(in.ready.revision, func() { c.whole(w, member, st, in) })
}

// whole looks for objects that a ready server has given up.
func (c *sv10) whole(w *World, member string, st *storm, in *instance) {
	for _, name := range st.objects {
		if _, ok := w.entryAt(name, in.server.id, in.ready.revision); !ok && hosts(in.discovered.Resources, name) {
			c.infer(w, at(st.seq, in.ready.seq), "%s was ready at revision %d and had no entry in %s, which somebody edited all the time", member, in.ready.revision, name)
		}
	}
}

// count is how many edits there were.
func (st *storm) count() (n int64) {
	for _, count := range st.edits {
		n += count
	}
	return n
}

// often is whether one of the objects was edited more often than once a second
// until then. A busy machine holds single edits up.
func (st *storm) often(until int64) bool {
	return slices.ContainsFunc(st.objects, func(name string) bool {
		return st.edits[name]*int64(stormy) > until-st.since
	})
}

func (c *sv10) Finish(*World) {}

func (c *sv10) Observations() []Observation {
	return []Observation{
		{What: "conflicts that registering servers met", Seen: c.met, Need: needConflicts},
		c.registered.fewest("registrations while StorageVersions were edited more often than once a second", needStormsEach),
		c.edits.fewest("edits meanwhile", needEdits),
		c.conflicts.fewest("conflicts that a registering server met", needConflicts),
	}
}
