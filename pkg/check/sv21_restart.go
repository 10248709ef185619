package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv21: the same server, restarted, replaces its entry: it never has two,
// never none while it takes part, and at no time is a version called agreed
// that it does not write. Judged where a restart brings another version.
type sv21 struct {
	findings
	restarts, writes int64
	judged           map[*instance]map[string]bool
	early            map[*instance]map[string]earlyWrite
}

// earlyWrite is a write by a restarted server before it announced its version.
type earlyWrite struct {
	seq    int64
	common *string
}

func newSV21() *sv21 {
	return &sv21{judged: map[*instance]map[string]bool{}, early: map[*instance]map[string]earlyWrite{}}
}

func (c *sv21) Observe(w *World, ev *history.Event) {
	s := ev.Stored
	if s == nil {
		return
	}
	if s.StorageVersion != nil {
		c.entries(w, ev)
		return
	}
	if s.Type == history.StoredPut && s.Writer != "" {
		c.write(w, ev)
	}
}

// restarted gives the running process of a server if it is not its first.
func restarted(srv *server) *instance {
	if srv == nil || len(srv.instances) < 2 {
		return nil
	}
	return srv.instances[len(srv.instances)-1]
}

func (c *sv21) entries(w *World, ev *history.Event) {
	name, now := ev.Stored.Name, ev.Stored.StorageVersion
	for id, member := range w.memberOf {
		in := restarted(w.servers[member])
		if in == nil || ev.Stored.Revision <= in.startRevision {
			continue
		}
		change, ok := w.changeAt(name, id, ev.Stored.Revision)
		if !ok || change.seq != ev.Seq {
			continue
		}
		if !change.present {
			if w.participates(id, ev.Stored.Revision) {
				c.violate(at(in.startSeq, ev.Seq), "after its restart %s has no entry in %s at revision %d, though it takes part", member, name, ev.Stored.Revision)
			}
			continue
		}
		count := 0
		for _, e := range now.Entries {
			if e.ServerID == id && !sameEntry(e, change.entry) {
				count++
			}
		}
		if count > 0 {
			c.violate(at(in.startSeq, ev.Seq), "after its restart %s has %d entries that differ in %s at revision %d", member, count+1, name, ev.Stored.Revision)
		}
		c.announced(w, in, name, change)
	}
}

// announced judges the time between a restart and its new entry.
func (c *sv21) announced(w *World, in *instance, name string, change entryChange) {
	if c.judged[in] == nil {
		c.judged[in] = map[string]bool{}
	}
	if c.judged[in][name] || !c.replaces(w, in, name, change) {
		return
	}
	c.judged[in][name] = true
	c.restarts++
	if e, ok := c.early[in][name]; ok && e.common != nil && *e.common != change.entry.Encoding {
		c.violate(at(e.seq, change.seq), "%s wrote after its restart while %s called %s agreed, and announced %s only then",
			in.server.member, name, *e.common, change.entry.Encoding)
	}
}

// replaces is whether the change brought another encoding than an entry that
// an earlier process of the same server had left.
func (c *sv21) replaces(w *World, in *instance, name string, change entryChange) bool {
	for _, old := range w.versions[name].entries[in.server.id] {
		if old.revision <= in.startRevision && old.present {
			return old.entry.Encoding != change.entry.Encoding
		}
	}
	return false
}

func (c *sv21) write(w *World, ev *history.Event) {
	s := ev.Stored
	in := restarted(w.servers[s.Writer])
	gr, ok := w.resource(s)
	if in == nil || !ok || w.custom[gr] || s.Revision <= in.startRevision {
		return
	}
	name := objectName(gr.group, gr.resource)
	v := w.versions[name]
	if v == nil || v.deleted {
		return
	}
	change, ok := w.registered(in, name)
	if !ok {
		if c.early[in] == nil {
			c.early[in] = map[string]earlyWrite{}
		}
		if _, known := c.early[in][name]; !known {
			c.early[in][name] = earlyWrite{ev.Seq, v.now.Common}
		}
		return
	}
	if !c.judged[in][name] {
		return
	}
	c.writes++
	if v.now.Common != nil && *v.now.Common != change.entry.Encoding {
		c.violate(at(ev.Seq, v.seq), "%s calls %s agreed at revision %d while %s, restarted, writes %s",
			name, *v.now.Common, s.Revision, in.server.member, change.entry.Encoding)
	}
}

func (c *sv21) Finish(*World) {}

func (c *sv21) Observations() []Observation {
	return []Observation{
		{"entries that a restart replaced by another version", c.restarts, needRestarts},
		{"writes by servers after such a restart", c.writes, needWritesAfterRestart},
	}
}
