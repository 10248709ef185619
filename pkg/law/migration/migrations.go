package migration

import (
	"cmp"
	"fmt"
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
	facts *Facts
	Name  string
	Of    Resource
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
	if m == nil || m.Created.Revision != s.Created {
		m = &Migration{facts: f, Name: name, Of: Resource{s.Migration.Group, s.Migration.Resource}, Created: stamp, Seen: s.Created == s.Revision}
		m.Created.Revision = s.Created
		m.Found = !m.Seen && (isTrue(s.Migration, history.MigrationRunning) || outcomeOf(s.Migration) != "")
		f.Migrations = append(f.Migrations, m)
		f.living[name] = m
	}
	m.Reports = append(m.Reports, Report{stamp, s.Migration})
	if was(m.Ended) {
		return
	}
	outcome := outcomeOf(s.Migration)
	// A migration that has succeeded has begun, even if no report says so.
	if !was(m.Started) && (isTrue(s.Migration, history.MigrationRunning) || outcome == history.MigrationSucceeded) && !(m.Found && outcome != "") {
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
	t := Touch{Change: c, Before: c.Before()}
	if t.New = t.Before == nil || t.Before.Gone; !t.untagged() || !t.converts() || !f.sameObject(&t) {
		return
	}
	var waits *Migration
	for _, m := range f.Migrations {
		switch {
		case m.Of != c.Object.in.of:
		case was(m.Started) && (!was(m.end()) || c.At-m.end().At <= int64(restLands())):
			return
		case waits == nil && m.Seen && !was(m.Started) && !was(m.end()):
			waits = m
		}
	}
	if waits != nil && !f.agreement(waits.Of, c.Revision).disputed() {
		waits.Started = c.Stamp
	}
}

// begun is when it began. One that failed for nothing that it would have had to wait for
// began when it was created.
func (m *Migration) begun() fact.Stamp {
	if m.spurned() {
		return m.Created
	}
	return m.Started
}

// spurned is whether it failed before it began, though the servers agreed on how its
// objects, which are known to be stored, are to be.
func (m *Migration) spurned() bool {
	return m.Failed() && !was(m.Started) && m.facts.agreement(m.Of, m.Ended.Revision).Version != "" && m.facts.written[m.Of]
}

// Now is the last revision of it.
func (m *Migration) Now() *history.Migration { return m.Reports[len(m.Reports)-1].Migration }

// Succeeded is whether it ended as succeeded while the history was recorded.
func (m *Migration) Succeeded() bool { return m.endedAs(history.MigrationSucceeded) }

// Failed is whether it ended as failed while the history was recorded.
func (m *Migration) Failed() bool { return m.endedAs(history.MigrationFailed) }

func (m *Migration) endedAs(outcome string) bool {
	return m.Outcome == outcome && !(m.Found && !was(m.Started))
}

// end is when it ended or was deleted; the zero Stamp while it goes on.
func (m *Migration) end() fact.Stamp {
	if was(m.Ended) {
		return m.Ended
	}
	return m.Gone
}

// over is the moment at which it ended or was deleted, or the end of the history.
func (m *Migration) over() fact.Moment {
	if end := m.end(); was(end) {
		return m.facts.When(end)
	}
	return m.facts.Over()
}

// ran is whether it ran when etcd made a revision.
func (m *Migration) ran(revision int64) bool {
	end := m.end()
	return was(m.Started) && m.Started.Revision < revision && (!was(end) || revision < end.Revision)
}

// lived is whether it existed and had not ended when etcd made a revision.
func (m *Migration) lived(revision int64) bool {
	end := m.end()
	return m.Created.Revision < revision && (!was(end) || revision < end.Revision)
}

// Running is while it runs.
func (m *Migration) Running() fact.Signal { return m.between(m.begun()) }

// Pending is while it exists and has not ended.
func (m *Migration) Pending() fact.Signal { return m.between(m.Created) }

func (m *Migration) between(begin fact.Stamp) fact.Signal {
	var b fact.Builder
	if was(begin) {
		b.Set(m.facts.When(begin), fact.Yes)
		if end := m.end(); was(end) {
			b.Set(m.facts.When(end), fact.No)
		}
	}
	return b.Signal()
}

// checkpoint is the revision up to which it has to know of objects: that of its
// checkpoint, or of its creation if it has recorded none.
func (m *Migration) checkpoint() int64 {
	return cmp.Or(checkpointOf(m.atEnd()), m.Created.Revision)
}

// atEnd is what it said as it ended, or says last.
func (m *Migration) atEnd() *history.Migration {
	for _, r := range m.Reports {
		if was(m.Ended) && r.Seq == m.Ended.Seq {
			return r.Migration
		}
	}
	return m.Now()
}

// reason is what it says of its outcome.
func (m *Migration) reason() string {
	if c := conditionOf(m.atEnd(), m.Outcome); c != nil {
		return c.Reason + ": " + c.Message
	}
	return "no reason"
}

// progress are the reports while it ran that say something else than the one before, and
// more than that it runs or has ended.
func (m *Migration) progress() []Report {
	var out []Report
	for i, r := range m.Reports {
		if i == 0 || !m.ran(r.Revision) {
			continue
		}
		before := m.Reports[i-1].Migration
		runs := isTrue(r.Migration, history.MigrationRunning) && !isTrue(before, history.MigrationRunning)
		if !runs && statementOf(before) != statementOf(r.Migration) {
			out = append(out, r)
		}
	}
	return out
}

// migrations are those that fit.
func (f *Facts) migrations(fits func(*Migration) bool) []*Migration {
	return slices.DeleteFunc(slices.Clone(f.Migrations), func(m *Migration) bool { return !fits(m) })
}

// name is what an obligation of a migration is about.
func (m *Migration) name() law.Entry { return law.Entry{About: m.Name} }

// clock is that of all migrations.
func (m *Migration) clock() fact.Signal { return m.facts.clock() }

// moments are those of the stamps that are there.
func (f *Facts) moments(stamps ...fact.Stamp) []fact.Moment {
	var out []fact.Moment
	for _, s := range stamps {
		if was(s) {
			out = append(out, f.When(s))
		}
	}
	return out
}

// voids are moments from which on an obligation proves nothing, and why.
func (f *Facts) voids(why string, stamps ...fact.Stamp) []law.Void {
	var out []law.Void
	for _, m := range f.moments(stamps...) {
		out = append(out, law.Void{Moment: m, Why: why})
	}
	return out
}

// siblings are the other migrations of the same resource.
func (m *Migration) siblings() []*Migration {
	var out []*Migration
	for _, o := range m.facts.Migrations {
		if o != m && o.Of == m.Of {
			out = append(out, o)
		}
	}
	return out
}

// conditionOf is a condition by its type; nil if there is none.
func conditionOf(m *history.Migration, kind string) *history.Condition {
	i := slices.IndexFunc(m.Conditions, func(c history.Condition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &m.Conditions[i]
}

func isTrue(m *history.Migration, kind string) bool {
	c := conditionOf(m, kind)
	return c != nil && c.Status == "True"
}

var outcomes = []string{history.MigrationSucceeded, history.MigrationFailed}

// outcomeOf is the type of the condition that says how it ended; empty if none does.
func outcomeOf(m *history.Migration) string {
	if i := slices.IndexFunc(outcomes, func(kind string) bool { return isTrue(m, kind) }); i >= 0 {
		return outcomes[i]
	}
	return ""
}

// statementOf is what the conditions say.
func statementOf(m *history.Migration) string {
	var out strings.Builder
	for _, c := range m.Conditions {
		fmt.Fprintf(&out, "%q %q %q %q\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return out.String()
}

// checkpointOf is the revision that the checkpoint names; 0 if none.
func checkpointOf(m *history.Migration) int64 {
	revision, err := strconv.ParseInt(m.Checkpoint, 10, 64)
	if err != nil {
		return 0
	}
	return revision
}
