package check

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv08: agreement is that of all participating servers, also of those that have
// joined and not reported (KEP-2339: it is checked whether all servers in the list
// of participants agree). A server joins before it reports, and others have to
// notice, so an agreement may outlive its joining for a while; but not if the
// server stores anything meanwhile. Who the server is that joined, and whether it
// hosts the resource, may be known only when it has reported; what was seen until
// then is judged then.
type sv08 struct {
	findings
	objects, refused int64
	silences         map[silenceKey]*silence
	next             int64
	// open counts agreements that came without a server of which it is not known
	// to the end whether it hosts the resource.
	open int64
}

type silenceKey struct{ id, name string }

// silence is the time in which a server takes part and has no entry in a
// StorageVersion that others report in.
type silence struct {
	at, seq int64
	// seen is what the object was by the event before the one in hand: by that others
	// must have noticed, and not by a report that comes after so long.
	seen versionSeen
	// overdue is whether others must have noticed.
	overdue bool
	// agreeable is whether they would all have agreed when it was overdue.
	agreeable bool
	// wrong is the event by which a version was called agreed that must not be, or
	// went on to be; 0 while there is none. common is that version.
	wrong  int64
	common string
	// stored is the event by which the server stored an object while a version was
	// called agreed, 0 if it did not.
	stored int64
}

// versionSeen is what is to be known of a StorageVersion at some event.
type versionSeen struct {
	seq       int64
	common    *string
	agreeable bool
}

func seeVersion(v *storageVersion) versionSeen {
	_, equal := allEqual(v.now.Entries)
	return versionSeen{v.seq, v.now.Common, equal}
}

func newSV08() *sv08 { return &sv08{silences: map[silenceKey]*silence{}} }

func (c *sv08) Observe(w *World, ev *history.Event) {
	// What else tells of the time does not tell whether the recorder of etcd is away.
	if len(c.silences) > 0 && ev.At > c.next && (ev.Stored != nil || ev.End != nil) {
		c.expire(w, ev.At)
	}
	name, _, changed := changedStorageVersion(ev)
	switch {
	case changed:
		c.watch(w, ev, name)
	case ev.Discovery != nil || joinedOrLeft(ev):
		for _, name := range w.names() {
			c.watch(w, ev, name)
		}
	case ev.Stored != nil:
		c.write(w, ev)
	case ev.Request != nil && ev.Request.Class == history.ClassGuarded && ev.Request.Barrier:
		if c.silences[silenceKey{w.serverOf[ev.Member], guardedName(ev.Request)}] != nil {
			c.refused++
		}
	}
}

// watch begins and ends silences at one StorageVersion.
func (c *sv08) watch(w *World, ev *history.Event, name string) {
	v := w.versions[name]
	for _, member := range w.order {
		key := silenceKey{w.serverOf[member], name}
		s := c.silences[key]
		switch {
		case silent(w, v, member):
			if s == nil {
				s = &silence{at: ev.At, seq: ev.Seq}
				if due := ev.At + int64(joiningShows); len(c.silences) == 0 || due < c.next {
					c.next = due
				}
				c.silences[key] = s
			}
			s.seen = seeVersion(v)
			if s.overdue {
				s.look()
			}
		case s != nil:
			delete(c.silences, key)
			if v != nil && !v.deleted && indexOf(v.now.Entries, key.id) >= 0 {
				c.judge(w, member, name, s) // only who hosts it reports it
			} else {
				c.settle(w, member, name, s)
			}
		}
	}
}

// silent is whether a member takes part and has no entry in an object in which
// others have one, and which it may have to report in.
func silent(w *World, v *storageVersion, member string) bool {
	id, srv := w.serverOf[member], w.servers[member]
	if v == nil || v.deleted || len(v.now.Entries) == 0 || indexOf(v.now.Entries, id) >= 0 || repairing(w, v) {
		return false
	}
	l := w.leases[id]
	return l != nil && l.there() && (!srv.knows() || hosts(srv.hosted, v.name))
}

// look notes an agreement that must not be.
func (s *silence) look() {
	if s.wrong == 0 && s.seen.common != nil {
		s.wrong, s.common = s.seen.seq, *s.seen.common
	}
}

func (c *sv08) expire(w *World, now int64) {
	c.next = now + int64(joiningShows)
	for _, s := range c.silences {
		due := s.at + int64(joiningShows)
		if s.overdue {
			continue
		}
		if due += int64(w.aways.between(s.at, now)); now <= due {
			c.next = min(c.next, due)
			continue
		}
		// Who has to notice may be the collector, where one is known.
		if w.managers.known() && !w.managers.hadTime(w.aways, now, s.at, int64(joiningShows)) {
			c.next = min(c.next, now+int64(expiryLook))
			continue
		}
		s.overdue, s.agreeable = true, s.seen.agreeable
		s.look()
	}
}

// write notes what a silent server stores.
func (c *sv08) write(w *World, ev *history.Event) {
	s := ev.Stored
	gr, ok := w.tagged(s)
	if !ok || w.resources.hosting[gr] == hostedElse {
		return
	}
	name := objectName(gr.group, gr.resource)
	silence, v := c.silences[silenceKey{w.serverOf[s.Writer], name}], w.versions[name]
	if silence == nil || silence.stored > 0 || v.now.Common == nil {
		return
	}
	silence.stored = ev.Seq
	if silence.wrong == 0 {
		silence.wrong, silence.common = v.seq, *v.now.Common
	}
}

// judge closes the silence of a server that hosts the resource.
func (c *sv08) judge(w *World, member, name string, s *silence) {
	if s.overdue && s.agreeable {
		c.objects++
	}
	if s.wrong == 0 {
		return
	}
	if s.stored > 0 {
		c.infer(w, at(s.seq, s.wrong, s.stored), "%s called %s agreed when %s, which takes part and has no entry there, stored an object", name, s.common, member)
		return
	}
	release := ""
	if in := w.servers[member].current(); in != nil {
		release = in.release
	}
	c.inferOf(w, kindBarrierInstead, release, at(s.seq, s.wrong), "%s called %s agreed %v after %s had joined, which had not reported in it",
		name, s.common, time.Duration(joiningShows), member)
}

// settle closes the silence of a server that has not reported to the end.
func (c *sv08) settle(w *World, member, name string, s *silence) {
	switch srv := w.servers[member]; {
	case srv.knows() && hosts(srv.hosted, name):
		c.judge(w, member, name, s)
	case !srv.knows() && s.wrong > 0:
		c.open++
	}
}

func (c *sv08) Finish(w *World) {
	for _, member := range w.order {
		for _, name := range w.names() {
			if s := c.silences[silenceKey{w.serverOf[member], name}]; s != nil {
				c.settle(w, member, name, s)
			}
		}
	}
}

func (c *sv08) doubts() []string {
	if c.open > 0 {
		return []string{fmt.Sprintf("%d times a version was called agreed without a server that had joined, and it is not known whether that hosts the resource", c.open)}
	}
	return nil
}

func (c *sv08) Observations() []Observation {
	return []Observation{
		{What: "StorageVersions in which a server that had joined did not report for long, and all others agreed", Seen: c.objects, Need: needSilences},
		{What: "writes refused by a server to a resource that it had not reported", Seen: c.refused, Need: needBarrierRefusals},
	}
}
