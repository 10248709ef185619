package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm04: when a migration has succeeded, each object of the time of its checkpoint
// that is still there lies in etcd in the version that the servers agree on, or, where
// they do not any more, in the one that they agreed on when it began.
type svm04 struct {
	findings
	rewritten, compared int64
	// under counts what a migration that runs has rewritten.
	under map[*migrationSeen]int64
	// untold are migrations that ended when nobody could say in which version
	// objects are to be; in words.
	untold []string
}

func newSVM04() *svm04 { return &svm04{under: map[*migrationSeen]int64{}} }

func (c *svm04) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.byMigration() && t.before.version != t.now.version {
		c.under[t.during]++
	}
	move := w.migrations.moved
	if move == nil || !move.ended && !move.gone {
		return
	}
	m := move.m
	rewritten := c.under[m]
	delete(c.under, m)
	if !move.ended || m.outcome != history.MigrationSucceeded {
		return
	}
	target := w.migratedTo(m)
	if target == "" {
		if len(w.migrations.of(m.gr)) > 0 && len(c.untold) < keptUnseen {
			c.untold = append(c.untold, fmt.Sprintf("migration %s succeeded when the servers agreed on no version, so that what it did cannot be compared with any", m.name))
		}
		return
	}
	c.rewritten += rewritten
	since := m.lists()
	left, evidence := 0, at(m.ended.seq)
	for _, o := range w.migrations.of(m.gr) {
		switch {
		case o.created > since, w.excused(m, o):
		case o.version == target:
			c.compared++
		default:
			if left++; left <= maxExamples {
				evidence = append(evidence, o.seq)
			}
		}
	}
	if left > 0 {
		c.infer(w, evidence, "migration %s succeeded at revision %d, and %d objects from before its checkpoint %d are not stored as %s", m.name, m.ended.revision, left, since, target)
	}
}

func (c *svm04) Finish(*World) {}

func (c *svm04) doubts() []string { return c.untold }

func (c *svm04) Observations() []Observation {
	return []Observation{
		{What: "objects that successful migrations rewrote in another version", Seen: c.rewritten, Need: needMigrated},
		{What: "objects compared with the agreed version after a success", Seen: c.compared, Need: needMigrated},
	}
}
