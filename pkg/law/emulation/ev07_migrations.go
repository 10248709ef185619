package emulation

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ev07: no migration begins while objects may be rewritten in a version that the release which
// a member emulates cannot read: after it no member could be rolled back any more (KEP-4330,
// Goals; KEP-25: a migration begins when all servers agree). What can be rewritten is what any
// server announces to store. It does not see custom resources, whose versions no release
// decides.
var ev07 = law.Each[*Facts, *migration]{
	Row: law.Row{ID: "EV-07", Also: []string{history.LackEmulation}, Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "begun", Tag: "begun"}, {Name: "waited", Tag: "waited", Breaches: true},
	}, Kinds: []string{kindDisagreed}},
	Over: func(f *Facts) []*migration {
		return fact.Where(f.migrations, func(m *migration) bool { return m.seen })
	},
	End: (*migration).waits,
}

// kindDisagreed is of breaches in which a migration took no notice of what servers announce.
const kindDisagreed = "disagreed"

// release is that of the controller manager that led when it began, as far as is known.
func (m *migration) release() string {
	led := m.f.Managers().At(m.started.Revision)
	if led == nil {
		return ""
	}
	p := m.f.LastProcess(led.Is.Member, history.ComponentControllerManager, m.f.When(m.started).Latest)
	if p == nil {
		return ""
	}
	return p.Release
}

// waits judges when it began. One that did not begin for so long that it would have, shows
// that the controller waits.
func (m *migration) waits(bounds law.Bounds) law.Entry {
	e, unreadable := law.Of(m.name, m.f.When(m.created)), m.f.unreadable(m.of)
	waited := fact.And(unreadable, m.f.ManagerAble().Warm(int64(controllerStarts()))).Lasts(e.Began.Latest, m.until().Earliest, fact.Yes)
	long := time.Duration(waited) > bounds.Of("beginsWithin")
	if m.started.Seq == 0 {
		return met(e, long, "waited")
	}
	e.Began = m.f.When(m.started)
	decided := m.decided()
	switch now := unreadable.During(e.Began); {
	case unreadable.During(fact.Moment{Earliest: decided, Latest: e.Began.Latest}) == fact.Yes:
		return e.Met("waited").Broken("migration %s of %s began when a server announced to store it in a version that what a member emulates cannot read", m.name, m.of).
			Shown(m.announced(), m.started.Seq).As(kindDisagreed, m.release())
	case now == fact.Unknown, now == fact.Yes && unreadable.At(decided) != fact.No:
		return e.Unclear("it is not certain whether it began before or after what a member emulates could not read what another one stores")
	case long:
		return e.Met("waited")
	}
	return met(e, m.f.emulatedBy(m.of).During(e.Began) == fact.Yes, "begun")
}

// decided is the earliest time at which the controller may have decided to begin: it cannot know
// of what servers announce while it writes, but of what they had when the migration was created.
func (m *migration) decided() int64 {
	began := m.f.When(m.started).Earliest
	return min(max(m.f.When(m.created).Latest, began-int64(requirement.MustBound("KEP-25", "statusWrites"))), began)
}

// met ends an obligation as met with a tag; where that does not hold nothing was owed.
func met(e law.Entry, holds bool, tag string) law.Entry {
	if holds {
		return e.Met(tag)
	}
	return law.Entry{}
}

// announced is the number of the event by which servers last announced what they store before
// it began.
func (m *migration) announced() int64 {
	if c := m.f.StorageVersion(m.of).ChangeBy(m.started.Revision); c != nil {
		return c.Seq
	}
	return 0
}

// controllerStarts is how long a controller that comes to lead may take to start its work.
func controllerStarts() time.Duration { return requirement.MustBound("KEP-25", "controllerStarts") }
