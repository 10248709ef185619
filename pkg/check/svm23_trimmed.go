package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm23: the storedVersions of a custom resource's definition name all versions
// that lie in etcd, and lose one only by a migration that succeeds, of which the
// definition is the one that it began with.
type svm23 struct {
	findings
	trimmed, compared int64
	// pending are trims by migrations that had not ended, with the event.
	pending map[*migrationSeen]int64
	// done is the last migration of each resource that ended.
	done map[groupResource]*migrationSeen
	// unsettled are trims of which nobody knows what the migration came to; in words.
	unsettled []string
}

func newSVM23() *svm23 {
	return &svm23{pending: map[*migrationSeen]int64{}, done: map[groupResource]*migrationSeen{}}
}

func (c *svm23) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.now != nil {
		if d := w.migrations.custom[t.gr]; d != nil {
			c.compare(w, d, t.now)
		}
	}
	if move := w.migrations.redefined; move != nil {
		c.redefine(w, ev, move)
	} else if ev.Stored != nil && ev.Stored.CustomResource != nil {
		gr := groupResource{ev.Stored.CustomResource.Group, ev.Stored.CustomResource.Resource}
		for _, o := range w.migrations.of(gr) {
			c.compare(w, w.migrations.custom[gr], o)
		}
	}
	move := w.migrations.moved
	if move != nil && move.m.found && move.m.ended.was() && move.before == nil {
		c.done[move.m.gr] = move.m
	}
	if move == nil || !move.ended && !move.gone {
		return
	}
	m := move.m
	c.done[m.gr] = m
	seq, trimmed := c.pending[m]
	delete(c.pending, m)
	switch {
	case !trimmed:
	case m.outcome == history.MigrationSucceeded:
		c.trimmed++
	default:
		c.infer(w, at(seq, ev.Seq), "migration %s trimmed storedVersions of %s.%s and did not succeed", m.name, m.gr.resource, m.gr.group)
	}
}

// compare holds what is stored against what the definition says is.
func (c *svm23) compare(w *World, d *definitionSeen, o *objectSeen) {
	c.compared++
	version := o.version[strings.LastIndex(o.version, "/")+1:]
	if !slices.Contains(d.now.Stored, version) {
		c.infer(w, at(o.seq, d.seq), "%s %s is stored as %s since revision %d, and storedVersions of its definition is %v at revision %d",
			o.gr.resource, o.name, version, o.revision, d.now.Stored, max(d.revision, o.revision))
	}
}

func (c *svm23) redefine(w *World, ev *history.Event, move *definitionMove) {
	for _, o := range w.migrations.of(move.gr) {
		c.compare(w, move.now, o)
	}
	gone := slices.DeleteFunc(slices.Clone(move.before.now.Stored), func(v string) bool { return slices.Contains(move.now.now.Stored, v) })
	if len(gone) == 0 {
		return
	}
	m := w.migrations.runningOf(move.gr)
	if done := c.done[move.gr]; done != nil && done.outcome == history.MigrationSucceeded && done.beganWith(move.now) {
		m = nil // It may be the last one's, whatever runs by now.
	}
	ended := m == nil
	if ended {
		m = c.done[move.gr]
	}
	if ended && m != nil && m.outcome == history.MigrationSucceeded && m.defined != move.now.made && !m.found {
		m = nil // That was another definition.
	}
	switch {
	case m == nil:
		c.infer(w, at(ev.Seq), "storedVersions of %s.%s lost %v at revision %d, and nothing migrates it", move.gr.resource, move.gr.group, gone, ev.Stored.Revision)
	case m.found && (!ended || m.outcome == history.MigrationSucceeded):
		c.unsettled = append(c.unsettled, fmt.Sprintf("storedVersions of %s.%s lost %v, and nobody knows with which definition migration %s had begun", move.gr.resource, move.gr.group, gone, m.name))
	case !m.beganWith(move.now):
		c.infer(w, at(m.started.seq, ev.Seq), "storedVersions of %s.%s lost %v at revision %d, and the definition is not the one that migration %s began with (generation %d instead of %d)",
			move.gr.resource, move.gr.group, gone, ev.Stored.Revision, m.name, move.now.now.Generation, m.generation)
	case !ended:
		c.pending[m] = ev.Seq
	case m.outcome != history.MigrationSucceeded:
		c.infer(w, at(m.ended.seq, ev.Seq), "storedVersions of %s.%s lost %v at revision %d, and migration %s had not succeeded", move.gr.resource, move.gr.group, gone, ev.Stored.Revision, m.name)
	default:
		c.trimmed++
	}
}

func (c *svm23) Finish(w *World) {
	for _, m := range w.migrations.live {
		switch seq, trimmed := c.pending[m]; {
		case !trimmed:
		case w.Now-m.sign.at > int64(migrationShows):
			c.infer(w, at(seq), "migration %s trimmed storedVersions of %s.%s and has not succeeded since", m.name, m.gr.resource, m.gr.group)
		default:
			c.unsettled = append(c.unsettled, fmt.Sprintf("migration %s trimmed storedVersions at the very end, and nobody knows whether it succeeded", m.name))
		}
	}
}

func (c *svm23) doubts() []string { return c.unsettled }

func (c *svm23) Observations() []Observation {
	return []Observation{
		{What: "trims of storedVersions by migrations that succeeded", Seen: c.trimmed, Need: needMigrations},
		{What: "objects compared with storedVersions", Seen: c.compared, Need: needMigrated},
	}
}
