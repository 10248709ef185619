package emulation

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// migration is a StorageVersionMigration, from its creation to its deletion.
type migration struct {
	f    *Facts
	name string
	// of is the name of the StorageVersion of what it migrates.
	of string
	// created, started and ended are when that was; their Seq is 0 where it was not. Seen is
	// whether its creation was recorded: else it may have begun before.
	created, started, ended fact.Stamp
	seen                    bool
}

// observeMigration takes a change of a migration in.
func (f *Facts) observeMigration(ev *history.Event) {
	s, stamp := ev.Stored, fact.StampOf(ev)
	m := f.living[s.Key]
	if s.Type == history.StoredDelete {
		if m != nil && m.ended.Seq == 0 {
			m.ended = stamp
		}
		delete(f.living, s.Key)
		return
	}
	if m == nil || s.Created > m.created.Revision {
		of := fact.Resource{Group: s.Migration.Group, Resource: s.Migration.Resource}
		m = &migration{f: f, name: s.Name, of: of.StorageVersionName(), created: stamp, seen: s.Created == s.Revision}
		f.living[s.Key], f.migrations = m, append(f.migrations, m)
	}
	is := func(kinds ...string) bool {
		return slices.ContainsFunc(s.Migration.Conditions, func(c history.Condition) bool { return slices.Contains(kinds, c.Type) && c.Status == "True" })
	}
	// One that has succeeded has begun, even if no report says that it runs.
	if m.started.Seq == 0 && is(history.MigrationRunning, history.MigrationSucceeded) {
		m.started = stamp
	}
	if m.ended.Seq == 0 && is(history.MigrationSucceeded, history.MigrationFailed) {
		m.ended = stamp
	}
}

// until is when it began, or was over without having begun, or the end of the history.
func (m *migration) until() fact.Moment {
	switch {
	case m.started.Seq > 0:
		return m.f.When(m.started)
	case m.ended.Seq > 0:
		return m.f.When(m.ended)
	}
	return m.f.Over()
}

// unreadable is while a server announces to store a resource in a version that a server
// cannot read after its binaries were rolled back: a release that it emulates, or is compatible
// with, does not read it.
func (f *Facts) unreadable(name string) fact.Signal {
	type key struct{ name string }
	return fact.Cached(f.History, key{name}, func() fact.Signal {
		var out []fact.Signal
		for _, s := range f.emulating() {
			for _, b := range f.readers(name, []*server{s}) {
				readable := f.plain()[b][name].readable
				out = append(out, fact.And(s.known(name), f.StorageVersion(name).While(f.History, func(v *history.StorageVersion) bool {
					return slices.ContainsFunc(v.Entries, func(e history.Entry) bool { return !slices.Contains(readable, e.Encoding) })
				})))
			}
		}
		return fact.Or(out...)
	})
}

// known is while the server lives, and while it is started anew to behave the same and its entry in
// a StorageVersion is there: who reads that knows of it.
func (s *server) known(name string) fact.Signal {
	i := slices.IndexFunc(s.f.emulating(), func(o *server) bool { return o.Process == s.After })
	if s.Exited == nil || i < 0 || s.f.emulating()[i].behavior != s.behavior {
		return s.Alive()
	}
	until := fact.Between(s.Started, &s.After.Started)
	return fact.Or(s.Alive(), fact.And(until, s.f.StorageVersion(name).While(s.f.History, func(v *history.StorageVersion) bool {
		return slices.ContainsFunc(v.Entries, func(e history.Entry) bool { return e.ServerID == s.f.ServerID(s.Member) })
	})))
}

// emulatedBy is while a server lives that emulates a release which told of the resource.
func (f *Facts) emulatedBy(name string) fact.Signal {
	some := fact.Where(f.emulating(), func(s *server) bool { return len(f.readers(name, []*server{s})) > 0 })
	return fact.Or(fact.Each(some, func(s *server) fact.Signal { return s.Alive() })...)
}
