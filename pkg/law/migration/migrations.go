package migration

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Migration is one StorageVersionMigration from its creation to its deletion. One that is
// created again under the same name is another one.
type Migration struct {
	*Facts
	Name string
	Of   Resource
	// Reports are all revisions of it.
	Reports []Report
	// Created, Started (the first report that it runs, or the first object that it
	// rewrote without saying so), Ended (that with the Outcome) and
	// Gone (deleted) are when that was; the zero Stamp where it was not.
	Created, Started, Ended, Gone fact.Stamp
	// Outcome is the type of the condition with which it ended; empty before.
	Outcome string
	// Seen is whether its creation was recorded, and Found whether it had begun or ended
	// before the recorder looked first: what it began with is not known then.
	Seen, Found bool
}

// Report is one revision of a Migration.
type Report struct {
	fact.Stamp
	*history.Migration
}

func was(s fact.Stamp) bool { return s.Seq > 0 }

func (f *Facts) observeMigration(ev *history.Event) {
	s, stamp := ev.Stored, fact.StampOf(ev)
	name := s.Key[strings.LastIndex(s.Key, "/")+1:]
	m := f.living[name]
	switch {
	case s.Type == history.StoredDelete:
		if m != nil {
			m.Gone = stamp
			delete(f.living, name)
		}
		return
	case s.Migration == nil:
		return
	}
	outcome := outcomeOf(s.Migration)
	if m == nil || m.Created.Revision != s.Created {
		m = &Migration{Facts: f, Name: name, Of: Resource{s.Migration.Group, s.Migration.Resource}, Created: stamp, Seen: s.Created == s.Revision}
		m.Created.Revision = s.Created
		m.Found = !m.Seen && (isTrue(s.Migration, history.MigrationRunning) || outcome != "")
		f.Migrations = append(f.Migrations, m)
		f.living[name] = m
	}
	m.Reports = append(m.Reports, Report{stamp, s.Migration})
	if was(m.Ended) {
		return
	}
	// A migration that has succeeded has begun, even if no report says so.
	runs := isTrue(s.Migration, history.MigrationRunning) || outcome == history.MigrationSucceeded
	if !was(m.Started) && runs && !(m.Found && outcome != "") {
		m.Started = stamp
	}
	if outcome != "" {
		m.Ended, m.Outcome = stamp, outcome
	}
}

// showsBegun notes the begin of a migration that does not say that it runs, by an object
// whose version alone an unknown client changes: the oldest one of the resource that waits,
// with the servers in agreement. What follows on another one may be the rest of that.
func (f *Facts) showsBegun(c *Change) {
	t := newTouch(c)
	if !t.rewrites() || !t.sameObject() {
		return
	}
	var waits *Migration
	for _, m := range f.Migrations {
		switch {
		case m.Of != c.Object.in.of:
		case was(m.Started) && (m.goesOn() || c.At-m.end().At <= int64(restLands())):
			return
		case waits == nil && m.Seen && !was(m.Started) && m.goesOn():
			waits = m
		}
	}
	if waits != nil && !f.agreed(waits.Of, c.Revision).disputed() {
		waits.Started = c.Stamp
	}
}

// begun is when it began. One that failed for nothing that it would have had to wait for
// began when it was created.
func (m *Migration) begun() fact.Stamp {
	if m.failedBeforeStart() {
		return m.Created
	}
	return m.Started
}

// failedBeforeStart is whether it failed before it began, though the servers agreed on how
// its objects, which are known to be stored, are to be.
func (m *Migration) failedBeforeStart() bool {
	return m.Failed() && !was(m.Started) && m.agreement(m.Of, m.Ended.Revision).Is.Version != "" && m.written(m.Of)
}

// Succeeded is whether it ended as succeeded while the history was recorded.
func (m *Migration) Succeeded() bool { return m.endedAs(history.MigrationSucceeded) }

// Failed is whether it ended as failed while the history was recorded.
func (m *Migration) Failed() bool { return m.endedAs(history.MigrationFailed) }

func (m *Migration) endedAs(outcome string) bool {
	return m.Outcome == outcome && (was(m.Started) || !m.Found)
}

// goesOn is whether it had neither ended nor been deleted at the end of the history.
func (m *Migration) goesOn() bool { return !was(m.Ended) && !was(m.Gone) }

// end is when it ended or was deleted; while it goes on, the end of the history after all
// revisions.
func (m *Migration) end() fact.Stamp {
	switch {
	case was(m.Ended):
		return m.Ended
	case was(m.Gone):
		return m.Gone
	}
	return fact.Stamp{Seq: m.Seq, At: m.Now, Revision: fact.Forever}
}

// over is the moment of its end.
func (m *Migration) over() fact.Moment {
	if m.goesOn() {
		return m.Over()
	}
	return m.When(m.end())
}

// ran is whether it ran when etcd made a revision.
func (m *Migration) ran(revision int64) bool {
	return was(m.Started) && m.Started.Revision < revision && revision < m.end().Revision
}

// waited is whether it existed and had not begun when etcd made a revision.
func (m *Migration) waited(revision int64) bool {
	return m.lived(revision) && (!was(m.Started) || revision < m.Started.Revision)
}

// lived is whether it existed and had not ended when etcd made a revision.
func (m *Migration) lived(revision int64) bool {
	return m.Created.Revision < revision && revision < m.end().Revision
}

// Running is while it runs, and Pending while it exists and has not ended.
func (m *Migration) Running() fact.Signal { return m.until(m.begun()) }

// Pending is while it exists and has not ended.
func (m *Migration) Pending() fact.Signal { return m.until(m.Created) }

func (m *Migration) until(begin fact.Stamp) fact.Signal {
	over := m.over()
	switch {
	case !was(begin):
		return fact.Constant(fact.No)
	case m.goesOn():
		return fact.From(m.When(begin))
	}
	return fact.Between(m.When(begin), &over)
}

// checkpoint is the revision up to which it has to know of objects: that of its
// checkpoint, or of its creation if it has recorded none.
func (m *Migration) checkpoint() int64 {
	return cmp.Or(checkpointOf(m.atEnd()), m.Created.Revision)
}

// atEnd is what it said as it ended, or says last.
func (m *Migration) atEnd() *history.Migration {
	i := slices.IndexFunc(m.Reports, func(r Report) bool { return r.Seq == m.Ended.Seq })
	if i < 0 {
		i = len(m.Reports) - 1
	}
	return m.Reports[i].Migration
}

// reason is what it says of its outcome.
func (m *Migration) reason() string {
	if c := conditionOf(m.atEnd(), m.Outcome); c != nil {
		return c.Reason + ": " + c.Message
	}
	return "no reason"
}

// Entry is the obligation of a migration.
func (m *Migration) Entry() law.Entry { return law.Of(m.Name, m.When(m.Created)) }

// ended is the obligation of one that ended, of how it did.
func (m *Migration) ended() law.Entry { return law.Of(m.Name, m.When(m.Ended)) }

func all(f *Facts) []*Migration { return f.Migrations }

// those are the migrations that fit.
func those(fits func(*Migration) bool) func(*Facts) []*Migration {
	return func(f *Facts) []*Migration { return fact.Where(f.Migrations, fits) }
}

// begunOf are the migrations of a resource that have begun.
func (f *Facts) begunOf(r Resource) []*Migration {
	return fact.Where(f.Migrations, func(m *Migration) bool { return m.Of == r && was(m.Started) })
}

// siblings are the other migrations of the same resource.
func (m *Migration) siblings() []*Migration {
	return fact.Where(m.Migrations, func(o *Migration) bool { return o != m && o.Of == m.Of })
}

// conditionOf is a condition by its type; nil if there is none.
func conditionOf(m *history.Migration, kind string) *history.Condition {
	for i := range m.Conditions {
		if m.Conditions[i].Type == kind {
			return &m.Conditions[i]
		}
	}
	return nil
}

func isTrue(m *history.Migration, kind string) bool {
	c := conditionOf(m, kind)
	return c != nil && c.Status == "True"
}

// outcomeOf is the type of the condition that says how it ended; empty if none does.
func outcomeOf(m *history.Migration) string {
	switch {
	case isTrue(m, history.MigrationSucceeded):
		return history.MigrationSucceeded
	case isTrue(m, history.MigrationFailed):
		return history.MigrationFailed
	}
	return ""
}

// checkpointOf is the revision that the checkpoint names; 0 if none.
func checkpointOf(m *history.Migration) int64 {
	revision, _ := strconv.ParseInt(m.Checkpoint, 10, 64)
	return revision
}
