package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv01: once ready, a server has published a storage version for each
// persisted built-in resource it hosts (KEP-2339, updating StorageVersion).
// What it hosts is what its own unaggregated discovery gives a storage version
// hash for; the moment is the etcd revision read after its first ready answer.
type sv01 struct {
	findings
	servers, resources int64
	members            map[string]bool
	asked              perInstance[bool]
	all                int
}

func (c *sv01) Observe(w *World, ev *history.Event) {
	if ev.Discovery == nil && ev.Ready == nil {
		return
	}
	c.all = len(w.order)
	in := w.instanceAt(ev.Member, ev)
	// The first discovery of an instance is the one that belongs to its first
	// readiness; either may be recorded first.
	if in == nil || in.discovered == nil || in.ready == nil || in.ready.revision == 0 {
		return
	}
	if asked := c.asked.of(in); !*asked {
		*asked = true
		w.when(in.ready.revision, func() { c.judge(w, in) })
	}
}

func (c *sv01) judge(w *World, in *instance) {
	if in.silent() {
		return // it has nothing to publish with
	}
	judged := false
	for _, r := range in.discovered.Resources {
		if !guardedByBarrier(r) {
			continue
		}
		judged = true
		c.resources++
		name := objectName(r.Group, r.Resource)
		if _, ok := w.entryAt(name, in.server.id, in.ready.revision); !ok {
			c.infer(w, at(in.ready.seq, in.discSeq), "%s was ready at revision %d and hosts %s, but StorageVersion %s had no entry of %s",
				in.server.member, in.ready.revision, r.Resource, name, in.server.id)
		}
	}
	if judged {
		c.servers++
		if c.members == nil {
			c.members = map[string]bool{}
		}
		c.members[in.server.member] = true
	}
}

func (c *sv01) Finish(*World) {}

func (c *sv01) Observations() []Observation {
	return []Observation{
		{What: "servers seen to become ready, with what they host", Seen: c.servers, Need: needReadyServers},
		{What: "resources looked up for them", Seen: c.resources, Need: needEntries},
		// A member whose server was never looked at may publish nothing at all.
		{What: "different members among those servers", Seen: int64(len(c.members)), Need: int64(c.all)},
	}
}
