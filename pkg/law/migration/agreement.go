package migration

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Agreement is what the API servers agree on to store a resource in, from a revision on:
// by their entries in its StorageVersion, and by its definition if it has one.
type Agreement struct {
	fact.Stamp
	// Version is empty where they do not agree. Told is whether anything tells of it: for a
	// resource that nothing tells of there is no agreement that could be lost.
	Version string
	Told    bool
	// Encodings are the versions that servers announce to store it in.
	Encodings []string
	// Announced is the number of the event that told of the StorageVersion last.
	Announced int64
}

// announcement is a StorageVersion; now is nil if it was deleted.
type announcement struct {
	seq int64
	now *history.StorageVersion
}

func (f *Facts) observeAnnouncement(ev *history.Event) {
	s := ev.Stored
	r := storageVersionOf(strings.TrimPrefix(s.Key, storageVersionPrefix))
	a := &announcement{seq: ev.Seq}
	if s.Type != history.StoredDelete {
		a.now = cmp.Or(s.StorageVersion, &history.StorageVersion{})
		f.observeEncodings(r, s.Revision, a.now.Entries)
	}
	f.announced[r] = a
	f.agree(r, fact.StampOf(ev))
}

// agree notes what the servers agree on as of an event.
func (f *Facts) agree(r Resource, stamp fact.Stamp) {
	now := Agreement{Stamp: stamp}
	a, d := f.announced[r], f.definition(r, stamp.Revision)
	switch {
	case a != nil && a.now != nil:
		now.Told, now.Announced = true, a.seq
		for _, e := range a.now.Entries {
			if !slices.Contains(now.Encodings, e.Encoding) {
				now.Encodings = append(now.Encodings, e.Encoding)
			}
		}
		// What a condition says in spite of the entries is no agreement.
		if common := a.now.Common; common != nil && len(now.Encodings) == 1 && now.Encodings[0] == *common {
			now.Version = *common
		}
	case a != nil:
		now.Told, now.Announced = true, a.seq
	}
	if d != nil {
		stored := r.Group + "/" + d.Storage
		switch {
		case a == nil || a.now == nil:
			now.Version, now.Told, now.Encodings = stored, true, []string{stored}
		case now.Version != stored:
			now.Version = ""
		}
	} else if was(f.undefinedSince(r, stamp.Revision)) {
		// What servers have announced of it may be there for a while yet.
		now.Version, now.Told, now.Encodings = "", false, nil
	}
	slices.Sort(now.Encodings)
	all := f.agreements[r]
	if n := len(all); n > 0 && all[n-1].Version == now.Version && all[n-1].Told == now.Told && slices.Equal(all[n-1].Encodings, now.Encodings) {
		all[n-1].Announced = now.Announced
		return
	}
	f.agreements[r] = append(all, now)
}

// agreement is what servers agreed on at a revision.
func (f *Facts) agreement(r Resource, revision int64) Agreement {
	all := f.agreements[r]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Revision <= revision {
			return all[i]
		}
	}
	return Agreement{}
}

// agreementsIn are the changes of an agreement after one revision and before another.
func (f *Facts) agreementsIn(r Resource, after, before int64) []Agreement {
	var out []Agreement
	for _, a := range f.agreements[r] {
		if a.Revision > after && a.Revision < before {
			out = append(out, a)
		}
	}
	return out
}

// disputed is whether it is known that the servers do not agree.
func (a Agreement) disputed() bool { return a.Told && a.Version == "" }

// agreedWhere is while what the servers agree on fits.
func (f *Facts) agreedWhere(r Resource, fits func(Agreement) bool) fact.Signal {
	var b fact.Builder
	b.Begin(fact.Of(fits(Agreement{})))
	for _, a := range f.agreements[r] {
		b.Set(f.When(a.Stamp), fact.Of(fits(a)))
	}
	return b.Signal()
}

// Target is what a migration began with.
type Target struct {
	// Version is what the servers agreed on when it started, or until so shortly before
	// that its start was being written; empty if on nothing.
	Version string
	// Told is whether anything told of it. Untold is whether nothing did, though its
	// objects are known to be stored: there is no agreement that it could lose.
	Told, Untold bool
}

func (m *Migration) target() Target {
	return cached(m.facts, m, func() Target {
		f := m.facts
		if !was(m.Started) {
			return Target{}
		}
		now := f.agreement(m.Of, m.Started.Revision)
		t := Target{Version: now.Version, Told: now.Told}
		if before := f.agreement(m.Of, now.Revision-1); t.Version == "" && before.Version != "" && m.writing(now.Stamp, m.Started) && now.Revision > m.Created.Revision {
			t.Version = before.Version
		}
		t.Untold = !t.Told && f.written[m.Of] && !was(f.undefinedSince(m.Of, m.Started.Revision))
		return t
	})
}

// writing is whether a change may have come about so shortly before another one that the
// controller, which decided before it, was writing the other one meanwhile.
func (m *Migration) writing(change, written fact.Stamp) bool {
	least, _ := m.facts.When(change).Until(m.facts.When(written))
	return change.Revision <= written.Revision && least <= statusWrites()
}

// loss is a time without the agreement that a migration began with, while it ran.
type loss struct {
	from fact.Stamp
	// back is when it was agreed on again; the zero Stamp if it was not before the end.
	back fact.Stamp
}

// losses are those of a migration, in order.
func (m *Migration) losses() []loss {
	f, t := m.facts, m.target()
	if t.Version == "" {
		return nil
	}
	var out []loss
	lost := false
	note := func(a Agreement) {
		switch {
		case a.Version != t.Version && !lost:
			out, lost = append(out, loss{from: a.Stamp}), true
		case a.Version == t.Version && lost:
			out[len(out)-1].back, lost = a.Stamp, false
		}
	}
	note(f.agreement(m.Of, m.Started.Revision))
	for _, a := range f.agreementsIn(m.Of, m.Started.Revision, m.endRevision()) {
		note(a)
	}
	return out
}

// endRevision is that of its end; the last one that there can be while it goes on.
func (m *Migration) endRevision() int64 {
	if end := m.end(); was(end) {
		return end.Revision
	}
	return fact.Forever
}

// lost is the loss that had not ended when the migration did, if there is one.
func (m *Migration) lost() (loss, bool) {
	all := m.losses()
	if n := len(all); n > 0 && !was(all[n-1].back) {
		return all[n-1], true
	}
	return loss{}, false
}

// held is whether the servers were in agreement from its start to its end, or to now.
func (m *Migration) held() bool {
	t := m.target()
	if t.Version != "" || m.spurned() {
		return len(m.losses()) == 0
	}
	now := m.facts.agreement(m.Of, m.endRevision()-1)
	return t.Untold && now.Version == "" && !now.disputed()
}

// finished is the version that objects are to be in when it has succeeded; empty if the
// servers agree on none. Of a change of the agreement that came about while the success
// was being written it cannot have known.
func (m *Migration) finished() string {
	return cached(m.facts, finishedOf{m}, func() string {
		t := m.target()
		if m.changedAtEnd() {
			return t.Version
		}
		return cmp.Or(m.facts.agreement(m.Of, m.Ended.Revision).Version, t.Version)
	})
}

type finishedOf struct{ m *Migration }

// changedAtEnd is whether the agreement that it began with changed while its success was
// being written.
func (m *Migration) changedAtEnd() bool {
	f, t := m.facts, m.target()
	now := f.agreement(m.Of, m.Ended.Revision)
	return t.Version != "" && now.Version != t.Version && f.agreement(m.Of, now.Revision-1).Version == t.Version && m.writing(now.Stamp, m.Ended)
}

// standing says that the servers do not keep a migration from going on.
func (m *Migration) standing() string {
	if a := m.facts.agreement(m.Of, m.endRevision()-1); a.Version != "" {
		return "the servers in agreement on " + a.Version
	}
	return "no server having announced anything"
}
