package check

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv15: no object is ever stored in a version that its writer had not
// announced (KEP-2339: the reason for the whole order). The stored bytes name
// the version, a tag names the member that the write went through, and the
// entry is the one in force at that very revision.
type sv15 struct {
	findings
	writes   int64
	each     perMember
	versions map[groupResource]map[string]bool
	// open are breaches if the resource turns out to be a built-in one, which
	// discovery may tell later than the first write; lost counts those for which
	// there was no room.
	open []breach
	lost int64
	late lateWrites
}

type breach struct {
	gr groupResource
	// in is the writer's process, of which it may not be known yet what it hosts.
	in     *instance
	report func()
}

// unknown is whether discovery may still tell that the process hosts nothing of it.
func (b breach) unknown() bool {
	return b.in != nil && b.in.discovered == nil && b.in == b.in.server.current()
}

// maxOpenBreaches bounds how many wait for discovery.
const maxOpenBreaches = 1000

func newSV15() *sv15 {
	return &sv15{versions: map[groupResource]map[string]bool{}, late: lateWrites{}}
}

func (c *sv15) Observe(w *World, ev *history.Event) {
	if ev.Discovery != nil {
		c.resolve(w, false)
	}
	c.late.answered(w, ev)
	if ev.Stored == nil {
		return
	}
	s := ev.Stored
	gr, ok := w.tagged(s)
	id := w.serverOf[s.Writer]
	if !ok || id == "" {
		return
	}
	hosting := w.resources.hosting[gr]
	if hosting == hostedElse {
		return // custom resources are SV-24's
	}
	if w.servers[s.Writer].current().silent() {
		return // it announces nothing, which is SV-25's
	}
	if hosting == hostedBuiltIn && hostsItself(w, s.Writer, objectName(gr.group, gr.resource)) {
		c.count(gr, s.APIVersion)
		c.each.add(w, s.Writer)
	}
	c.breach(w, breach{gr, w.servers[s.Writer].current(), c.judge(w, ev, gr, id)})
}

// breach reports what is one, or has it wait until it is known that it is.
func (c *sv15) breach(w *World, b breach) {
	hosting := w.resources.hosting[b.gr]
	switch {
	case b.report == nil || hosting == hostedElse:
	case hosting == hostedBuiltIn && !b.unknown():
		b.report()
	case len(c.open) < maxOpenBreaches:
		c.open = append(c.open, b)
	default:
		c.lost++
	}
}

func (c *sv15) count(gr groupResource, version string) {
	c.writes++
	if c.versions[gr] == nil {
		c.versions[gr] = map[string]bool{}
	}
	c.versions[gr][version] = true
}

// judge gives what reports a breach, nil if there is none.
func (c *sv15) judge(w *World, ev *history.Event, gr groupResource, id string) (report func()) {
	s, name := ev.Stored, objectName(gr.group, gr.resource)
	change, ok := w.changeAt(name, id, s.Revision)
	in := w.servers[s.Writer].current()
	none := func() {
		if in != nil && in.handsOn(name) {
			return
		}
		c.infer(w, at(ev.Seq, change.seq), "%s stored %s as %s at revision %d, when %s had no entry of it", s.Writer, s.Name, s.APIVersion, s.Revision, name)
	}
	switch {
	case ok && change.present && change.entry.Encoding == s.APIVersion:
		return nil
	case ok && change.present:
		return func() {
			// What the process before had said may stand, though this one hosts nothing of it.
			if in != nil && in.handsOn(name) && change.revision <= in.startRevision {
				return
			}
			c.infer(w, at(ev.Seq, change.seq), "%s stored %s as %s at revision %d, when it had announced %s in %s",
				s.Writer, s.Name, s.APIVersion, s.Revision, change.entry.Encoding, name)
		}
	case !change.present && !hostsItself(w, s.Writer, name):
		return nil
	case ok && taken(w, change, s, name, id):
		if !w.participates(id, s.Revision) {
			blame := func() { c.breach(w, breach{gr, in, none}) }
			c.late.stored(w, s, change.at, func() {
				if change.withObject {
					w.unlessAsked(name, change.at, blame)
				} else {
					w.unlessEdited(name, change.revision, change.at, blame)
				}
			})
			return nil
		}
		return func() {
			w.unlessAsked(name, change.at, func() {
				c.infer(w, at(ev.Seq, change.seq), "%s stored %s as %s at revision %d, when %s had been removed with its entry of it", s.Writer, s.Name, s.APIVersion, s.Revision, name)
			})
		}
	}
	return none
}

// taken is whether the writer's process had announced the version, and the
// announcement was rightly taken away: with its Lease, which a server may give up
// while it still finishes what it was asked, or with the whole object, behind its
// back. While the server takes part the first is not right, and the second only if
// it was the harness that removed the object.
func taken(w *World, change entryChange, s *history.Stored, name, id string) bool {
	in, takesPart := w.servers[s.Writer].current(), w.participates(id, s.Revision)
	if in == nil || !change.withObject && takesPart {
		return false
	}
	within := finishesWithin
	if takesPart {
		within = tamperRepaired
	}
	if time.Duration(w.Now-change.at) > within+w.aways.lag(change.at, w.Now) {
		return false
	}
	return w.heldDuring(in, name, s.Revision, func(e history.Entry) bool { return e.Encoding == s.APIVersion })
}

// lateWrites are writes of servers that had left and whose announcements were gone. They
// are right if they had been sent by then, which the answers tell.
type lateWrites map[writeID]lateWrite

// lateWrite is when the announcement was told to be gone, and what reports a write that
// was sent only then.
type lateWrite struct {
	gone   int64
	report func()
}

// maxLateWrites bounds how many wait for their answers: those of a minute.
const maxLateWrites = 10_000

// stored judges such a write if its answer is known, and else has it wait.
func (l lateWrites) stored(w *World, s *history.Stored, gone int64, report func()) {
	switch x := w.matched; {
	case x != nil && x.answer.from >= gone:
		report()
	case x == nil && s.Write > 0 && len(l) < maxLateWrites:
		l[writeID{s.Writer, s.Write}] = lateWrite{gone, report}
	}
}

// answered judges what waited for the answer in hand.
func (l lateWrites) answered(w *World, ev *history.Event) {
	x := w.matched
	if x == nil || ev.Request == nil {
		return
	}
	late, ok := l[x.id]
	delete(l, x.id)
	if ok && x.answer.from >= late.gone {
		late.report()
	}
}

// finishes is whether a write may be the rest of what a server was asked for before it
// left, so that others rightly agree without it. SV-15 has an eye on that.
func (w *World) finishes(s *history.Stored, name string) bool {
	id := w.serverOf[s.Writer]
	if w.participates(id, s.Revision) {
		return false
	}
	change, ok := w.changeAt(name, id, s.Revision)
	return ok && !change.present && taken(w, change, s, name, id)
}

// hostsItself is whether the member may have stored the object itself. One that
// is known not to host the resource hands the request on to one that does.
func hostsItself(w *World, member, name string) bool {
	srv := w.servers[member]
	return !srv.knows() || hosts(srv.hosted, name)
}

func (c *sv15) resolve(w *World, all bool) {
	kept := c.open[:0]
	for _, b := range c.open {
		switch hosting := w.resources.hosting[b.gr]; {
		case hosting == hostedUnknown || hosting == hostedBuiltIn && b.unknown() && !all:
			kept = append(kept, b)
		case hosting == hostedBuiltIn:
			b.report()
		}
	}
	clear(c.open[len(kept):])
	c.open = kept
}

func (c *sv15) Finish(w *World) { c.resolve(w, true) }

func (c *sv15) doubts() []string {
	if n := int64(len(c.open)) + c.lost; n > 0 {
		return []string{fmt.Sprintf("%d writes without an announcement are to resources that no discovery listed, so that they may be custom ones", n)}
	}
	return nil
}

func (c *sv15) Observations() []Observation {
	most := 0
	for _, v := range c.versions {
		most = max(most, len(v))
	}
	return []Observation{
		{What: "stored objects whose writer is known", Seen: c.writes, Need: needTaggedWrites},
		c.each.fewest("stored objects whose writer is known", needWritesEach),
		{What: "different versions of one resource in etcd", Seen: int64(most), Need: needStoredVersions},
	}
}
