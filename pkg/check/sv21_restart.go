package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv21: the same server, restarted, replaces its entry: it never has two,
// never none while it takes part, and at no time is a version called agreed
// while it writes another one. What it writes is taken from the stored bytes.
type sv21 struct {
	findings
	restarts, writes int64
	states           perInstance[restart]
}

// restart is what was seen of one process that is not its server's first.
type restart struct {
	// replaced are the StorageVersions in which it announced another version
	// than the process before it.
	replaced map[string]bool
	// gone are entries that vanished before it was known whether the server
	// still hosts the resource.
	gone map[string]entryChange
}

func newSV21() *sv21 { return &sv21{} }

func (c *sv21) Observe(w *World, ev *history.Event) {
	if before, _ := w.replaced(ev); before != nil {
		c.settle(w, before)
	}
	if ev.Discovery != nil || ev.Ready != nil {
		if in := w.servers[ev.Member].current(); in != nil {
			c.settled(w, in)
		}
	}
	if name, now, ok := changedStorageVersion(ev); ok {
		if now == nil {
			now = &history.StorageVersion{}
		}
		c.entries(w, ev, name, now)
		return
	}
	if ev.Stored != nil {
		c.write(w, ev)
	}
}

// restarted gives the process of a server started last if it is not the first.
func restarted(srv *server) *instance {
	if in := srv.current(); in != nil && !in.first {
		return in
	}
	return nil
}

func (c *sv21) entries(w *World, ev *history.Event, name string, now *history.StorageVersion) {
	revision := ev.Stored.Revision
	for _, member := range w.order {
		srv := w.servers[member]
		in := restarted(srv)
		if in == nil || revision <= in.startRevision {
			continue
		}
		if n := countOf(now.Entries, srv.id); n > 1 {
			c.infer(w, at(in.startSeq, ev.Seq), "after its restart %s has %d entries in %s at revision %d", member, n, name, revision)
		}
		change, ok := w.changeAt(name, srv.id, revision)
		if !ok || change.seq != ev.Seq {
			continue
		}
		st := c.states.of(in)
		if change.present {
			c.announced(w, in, st, name, change)
			continue
		}
		if w.participates(srv.id, revision) && !in.silent() {
			if st.gone == nil {
				st.gone = map[string]entryChange{}
			}
			st.gone[name] = change
			c.settled(w, in)
		}
	}
}

func countOf(entries []history.Entry, id string) int {
	n := 0
	for _, e := range entries {
		if e.ServerID == id {
			n++
		}
	}
	return n
}

// announced notes an entry that takes the place of one of another version.
func (c *sv21) announced(w *World, in *instance, st *restart, name string, change entryChange) {
	first, ok := w.registration(in, name, change.revision)
	if !ok || first.seq != change.seq {
		return
	}
	old, ok := w.entryAt(name, in.server.id, in.startRevision)
	if !ok || old.Encoding == change.entry.Encoding {
		return
	}
	if st.replaced == nil {
		st.replaced = map[string]bool{}
	}
	if !st.replaced[name] {
		st.replaced[name] = true
		c.restarts++
	}
}

// settled judges what has vanished as soon as all is known that it takes: what the
// process hosts, and what had come back by the time at which it was first ready.
func (c *sv21) settled(w *World, in *instance) {
	st := c.states.of(in)
	if in.discovered == nil || in.ready == nil || in.ready.revision == 0 || len(st.gone) == 0 {
		return
	}
	w.when(in.ready.revision, func() { c.settleGone(w, in, st) })
}

// settleGone reports entries that vanished although the server takes part and
// hosts the resource. One that no longer hosts it rightly takes its entry back.
func (c *sv21) settleGone(w *World, in *instance, st *restart) {
	for _, name := range sortedKeys(st.gone) {
		change := st.gone[name]
		hosted := false
		if in.discovered != nil {
			hosted = hosts(in.discovered.Resources, name)
		} else if now, ok := w.changeAt(name, in.server.id, w.latest); ok {
			hosted = now.present // it has come back: only who hosts it reports it
		}
		if hosted {
			if change.withObject {
				w.unlessAsked(name, change.at, func() { c.blame(w, in, name, change) })
			} else {
				w.unlessEdited(name, change.revision, change.at, func() { c.blame(w, in, name, change) })
			}
		}
	}
	st.gone = nil
}

func (c *sv21) blame(w *World, in *instance, name string, gone entryChange) {
	kind := ""
	if rejoined(w, in, name, gone) {
		kind = kindRejoined
	}
	c.inferOf(w, kind, in.release, at(in.startSeq, gone.seq),
		"after its restart %s has no entry in %s at revision %d, though it takes part", in.server.member, name, gone.revision)
}

// rejoined is whether the entry went because the server had left and joined
// anew as it started: it takes part under a Lease that is younger than its
// process, and the entry was back by its first readiness. Until then it refuses
// writes, so that nobody can rely on what it has not announced. An entry that
// stays away for longer, or goes later, is another matter.
func rejoined(w *World, in *instance, name string, gone entryChange) bool {
	if in.ready == nil || in.ready.revision == 0 || gone.revision >= in.ready.revision || !w.joinedAgain(in, gone.revision) {
		return false
	}
	_, back := w.entryAt(name, in.server.id, in.ready.revision)
	return back
}

func (c *sv21) write(w *World, ev *history.Event) {
	s := ev.Stored
	gr, ok := w.tagged(s)
	if !ok || w.resources.hosting[gr] == hostedElse {
		return
	}
	in := restarted(w.servers[s.Writer])
	name := objectName(gr.group, gr.resource)
	v := w.versions[name]
	if in == nil || s.Revision <= in.startRevision || v == nil || v.deleted {
		return
	}
	if v.now.Common != nil && *v.now.Common != s.APIVersion && !w.finishes(s, name) {
		c.infer(w, at(in.startSeq, ev.Seq, v.seq), "%s calls %s agreed at revision %d, when %s, restarted, stores %s",
			name, *v.now.Common, s.Revision, in.server.member, s.APIVersion)
	}
	if c.states.of(in).replaced[name] {
		c.writes++
	}
}

// settle closes the books of a process.
func (c *sv21) settle(w *World, in *instance) {
	if st := c.states.take(in); st != nil {
		c.settleGone(w, in, st)
	}
}

func (c *sv21) Finish(w *World) {
	for _, in := range w.running() {
		c.settle(w, in)
	}
}

func (c *sv21) Observations() []Observation {
	return []Observation{
		{What: "entries that a restart replaced by another version", Seen: c.restarts, Need: needRestarts},
		{What: "writes by servers after such a restart", Seen: c.writes, Need: needWritesAfterRestart},
	}
}
