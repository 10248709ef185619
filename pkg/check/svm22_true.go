package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm22: a success is true of what came after the checkpoint too, and stays true:
// as long as the servers announce the same, none of them stores an older version.
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
	if agreed, _ := w.agreedOn(t.gr); agreed != s.target {
		delete(c.after, t.gr) // what is stored now is another migration's
		return
	}
	if t.now.version == s.target {
		if t.by != (writeID{}) {
			c.writes++
			c.each.add(w, t.by.member)
		}
		return
	}
	c.infer(w, at(s.m.ended.seq, ev.Seq), "%s %s was stored as %s at revision %d, after migration %s to %s had succeeded, and with the servers in agreement on that",
		t.gr.resource, t.now.name, t.now.version, t.now.revision, s.m.name, s.target)
}

func (c *svm22) begin(w *World, m *migrationSeen) {
	target, _ := w.agreedOn(m.gr)
	if target == "" {
		delete(c.after, m.gr)
		return
	}
	c.after[m.gr] = &succeeded{m, target}
	for _, o := range w.migrations.of(m.gr) {
		if since := checkpointOf(m.now); since > 0 && o.created > since && o.version != target {
			c.infer(w, at(o.seq, m.ended.seq), "migration %s succeeded at revision %d, and %s %s, which was made on the way, is stored as %s and not as %s",
				m.name, m.ended.revision, m.gr.resource, o.name, o.version, target)
		}
	}
}

func (c *svm22) Finish(*World) {}

func (c *svm22) Observations() []Observation {
	return []Observation{
		{"writes after a success in the version that it was to", c.writes, needWritesEach},
		c.each.fewest("writes after a success in the version that it was to", needWritesEach),
	}
}
