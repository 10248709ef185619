package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm20: a migration begins when all servers have announced one version, and for a
// custom resource the one that its definition names (KEP-2339, on the migrator).
type svm20 struct {
	findings
	// begun counts all that did, and premature those that did without an agreement.
	begun, premature int64
	// slowest is what a migration took to begin at most that nothing kept from it, and
	// waits are the times for which others were kept from it for want of an agreement: a
	// controller that is no slower would have begun in such a time if it did not wait.
	slowest time.Duration
	waits   []time.Duration
}

func (c *svm20) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.during == nil && t.by == (writeID{}) && t.before != nil && t.now != nil && t.before.version != t.now.version {
		c.early(w, ev, t)
	}
	move := w.migrations.moved
	if move == nil || !move.started || !move.m.told {
		return
	}
	m := move.m
	c.begun++
	if m.target == "" {
		c.premature++
		c.inferOf(w, kindDisagreed, w.leadingRelease(), at(w.announced(m.gr), ev.Seq), "migration %s of %s began to run at revision %d, when the servers agreed on no version",
			m.name, m.gr.resource, m.started.revision)
		return
	}
	c.slowest = max(c.slowest, time.Duration(ev.At-max(m.created.at, m.since.at, m.free.at, w.managers.ableSince)))
	if m.early {
		c.waits = append(c.waits, m.patient)
	}
}

// early judges an object that somebody rewrites while a migration of its resource
// waits. With the servers in agreement it may be the rest of an earlier one.
func (c *svm20) early(w *World, ev *history.Event, t *objectTouch) {
	if agreed, told := w.agreedOn(t.gr); !told || agreed != "" {
		return
	}
	for _, m := range w.migrations.live {
		if m.gr == t.gr && !m.started.was() {
			c.inferOf(w, kindDisagreed, w.leadingRelease(), at(m.created.seq, ev.Seq), "%s %s was rewritten as %s at revision %d, when the servers agreed on no version and migration %s had not begun",
				t.gr.resource, t.now.name, t.now.version, t.now.revision, m.name)
		}
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
	// Who has not waited was put to the test as well, which tells a difference that is
	// documented from want of data.
	waited := c.premature
	for _, wait := range c.waits {
		if wait > max(c.slowest, beginsWithin) {
			waited++
		}
	}
	return []Observation{
		{What: "migrations that began, where servers announce what they store", Seen: c.begun, Need: needMigrations},
		{What: "migrations that were asked for when they were not, and that a controller had the time to begin with", Seen: waited, Need: needMigrations},
	}
}
