package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm20: a migration begins when all servers have announced one version, and for a
// custom resource the one that its definition names (KEP-2339, on the migrator).
type svm20 struct {
	findings
	begun, waited int64
}

func (c *svm20) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.during == nil && t.by == (writeID{}) && t.before != nil && t.now != nil && t.before.version != t.now.version {
		for _, m := range w.migrations.live {
			if m.gr == t.gr && !m.started.was() {
				c.inferOf(w, kindDisagreed, w.leadingRelease(), at(m.created.seq, ev.Seq), "%s %s was rewritten as %s at revision %d, and migration %s does not say that it runs",
					t.gr.resource, t.now.name, t.now.version, t.now.revision, m.name)
			}
		}
	}
	move := w.migrations.moved
	if move == nil || !move.started || !move.m.told {
		return
	}
	m := move.m
	if m.target == "" {
		c.inferOf(w, kindDisagreed, w.leadingRelease(), at(w.announced(m.gr), ev.Seq), "migration %s of %s began to run at revision %d, when the servers agreed on no version",
			m.name, m.gr.resource, m.started.revision)
		return
	}
	c.begun++
	if m.early {
		c.waited++
	}
}

// announced is the latest event of a resource's StorageVersion; 0 if there is none.
func (w *World) announced(gr groupResource) int64 {
	if v := w.versions[objectName(gr.group, gr.resource)]; v != nil {
		return v.seq
	}
	return 0
}

// leadingRelease is what the member runs whose controller manager leads, as far as
// is known.
func (w *World) leadingRelease() string {
	if in := w.servers[w.migrations.leader].current(); in != nil {
		return in.release
	}
	return ""
}

func (c *svm20) Finish(*World) {}

func (c *svm20) Observations() []Observation {
	return []Observation{
		{"migrations that began with the servers in agreement", c.begun, needMigrations},
		{"of those, migrations that were asked for when they were not", c.waited, needMigrations},
	}
}
