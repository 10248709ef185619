package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm22: a success is true of what came after the checkpoint too, and stays true:
// as long as the servers announce the same, none of them stores an older version. One
// that had joined before the success must never do so, whatever it announces
// afterwards: the migration was to wait for it. A server that was started at another
// release since is somebody's will, and no false success; one that was started without
// the StorageVersion API since leaves what it had announced as it was.
type svm22 struct {
	findings
	writes int64
	each   perMember
	// after are the resources that were migrated, with the last success of each.
	after map[groupResource]*succeeded
}

type succeeded struct {
	m      *migrationSeen
	target string
	// silent are the members whose server was without the StorageVersion API then.
	silent map[string]bool
}

func newSVM22() *svm22 { return &svm22{after: map[groupResource]*succeeded{}} }

func (c *svm22) Observe(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && move.ended && move.m.outcome == history.MigrationSucceeded {
		c.begin(w, move.m)
	}
	t := w.migrations.touched
	if t == nil || t.now == nil || c.after[t.gr] == nil {
		return
	}
	s := c.after[t.gr]
	agreed, _ := w.agreedOn(t.gr)
	switch {
	case t.now.version == s.target:
		if agreed == s.target && t.by != (writeID{}) {
			c.writes++
			c.each.add(w, t.by.member)
		}
	case agreed == s.target && (s.silent[t.by.member] || !w.servers[t.by.member].current().silent()):
		c.infer(w, at(s.m.ended.seq, ev.Seq), "%s %s was stored as %s at revision %d, after migration %s to %s had succeeded, and with the servers in agreement on that",
			t.gr.resource, t.now.name, t.now.version, t.now.revision, s.m.name, s.target)
	case w.builtIn(t.gr) && w.joinedBefore(t.by.member, s.m.ended.revision):
		// What a server stores of a built-in resource is settled when it is started.
		c.infer(w, at(s.m.ended.seq, w.announced(t.gr), ev.Seq), "%s %s was stored as %s at revision %d by %s, which had joined before migration %s to %s succeeded at revision %d",
			t.gr.resource, t.now.name, t.now.version, t.now.revision, t.by.member, s.m.name, s.target, s.m.ended.revision)
	}
}

// builtIn is whether nothing defines a resource, as far as is known.
func (w *World) builtIn(gr groupResource) bool {
	return w.migrations.custom[gr] == nil && !w.custom[gr]
}

// joinedBefore is whether it is certain that the API server's process which a member
// runs now took part at a revision. That its identity Lease was there does not do,
// because it outlives a process: that must have been ready by then, or have made the
// Lease. The times of events would not do either, since etcd's are told late.
func (w *World) joinedBefore(member string, revision int64) bool {
	in := w.servers[member].current()
	if in == nil || !w.participates(in.server.id, revision) {
		return false
	}
	if in.ready != nil && in.ready.revision > 0 && in.ready.revision <= revision {
		return true
	}
	return slices.ContainsFunc(w.leases[in.server.id].spans, func(s span) bool {
		return s.created > in.startRevision && s.created <= revision && (s.deleted == 0 || s.deleted > revision)
	})
}

func (c *svm22) begin(w *World, m *migrationSeen) {
	target := w.migratedTo(m)
	if target == "" {
		delete(c.after, m.gr)
		return
	}
	s := &succeeded{m: m, target: target, silent: map[string]bool{}}
	for _, member := range w.order {
		s.silent[member] = w.servers[member].current().silent()
	}
	c.after[m.gr] = s
	since := m.lists()
	for _, o := range w.migrations.of(m.gr) {
		if o.created > since && o.version != target && !w.excused(m, o) {
			c.infer(w, at(o.seq, m.ended.seq), "migration %s succeeded at revision %d, and %s %s, which was made on the way, is stored as %s and not as %s",
				m.name, m.ended.revision, m.gr.resource, o.name, o.version, target)
		}
	}
}

func (c *svm22) Finish(*World) {}

func (c *svm22) Observations() []Observation {
	return []Observation{
		{What: "writes after a success in the version that it was to", Seen: c.writes, Need: needWritesEach},
		c.each.fewest("writes after a success in the version that it was to", needWritesEach),
	}
}
