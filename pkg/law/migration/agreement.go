package migration

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Agreement is what the API servers agree on to store a resource in: by their entries in
// its StorageVersion, and by its definition if it has one.
type Agreement struct {
	// Version is empty where they do not agree. Told is whether anything tells of it: for a
	// resource that nothing tells of there is no agreement that could be lost.
	Version string
	Told    bool
	// Encodings are the versions that servers announce to store it in.
	Encodings []string
}

// disputed is whether it is known that the servers do not agree.
func (a Agreement) disputed() bool { return a.Told && a.Version == "" }

// agreed derives what servers agree on at a revision.
func (f *Facts) agreed(r Resource, revision int64) Agreement {
	var now Agreement
	v := f.StorageVersion(r.storageVersion())
	announced := v.At(revision)
	now.Told = v.ChangeBy(revision) != nil
	if announced != nil {
		for _, e := range announced.Is.Entries {
			if !slices.Contains(now.Encodings, e.Encoding) {
				now.Encodings = append(now.Encodings, e.Encoding)
			}
		}
		slices.Sort(now.Encodings)
		// What a condition says in spite of the entries is no agreement.
		if common := announced.Is.Common; common != nil && len(now.Encodings) == 1 && now.Encodings[0] == *common {
			now.Version = *common
		}
	}
	d := f.definition(r).ChangeBy(revision)
	switch {
	case d == nil:
	case !d.There:
		return Agreement{} // what servers have announced of it may be there for a while yet
	case announced == nil:
		now.Version, now.Told = r.Group+"/"+d.Is.Storage, true
		now.Encodings = []string{now.Version}
	case now.Version != r.Group+"/"+d.Is.Storage:
		now.Version = ""
	}
	return now
}

// agreements are what the servers agreed on over all revisions, beginning with nothing.
func (f *Facts) agreements(r Resource) *fact.Values[Agreement] {
	type key struct{ of Resource }
	return fact.Cached(f.History, key{r}, func() *fact.Values[Agreement] {
		stamps := fact.Each(f.definition(r).All(), func(d Definition) fact.Stamp { return d.Stamp })
		revisions := f.StorageVersion(r.storageVersion()).All()
		stamps = append(stamps, fact.Each(revisions, func(r fact.VersionRevision) fact.Stamp { return r.Stamp })...)
		slices.SortFunc(stamps, func(a, b fact.Stamp) int { return cmp.Compare(a.Revision, b.Revision) })
		out := &fact.Values[Agreement]{}
		out.Set(fact.Stamp{}, Agreement{})
		for _, s := range stamps {
			now, last := f.agreed(r, s.Revision), out.Last().Is
			if now.Version != last.Version || now.Told != last.Told || !slices.Equal(now.Encodings, last.Encodings) {
				out.Set(s, now)
			}
		}
		return out
	})
}

// agreement is what servers agreed on at a revision, with the change that brought it about.
func (f *Facts) agreement(r Resource, revision int64) fact.Value[Agreement] {
	return *f.agreements(r).At(max(revision, 0))
}

// agreeing is while nothing is known to be in dispute and what the servers agree on fits.
func (f *Facts) agreeing(r Resource, fits func(version string) bool) fact.Signal {
	return f.agreements(r).While(f.History, func(a Agreement) bool { return !a.disputed() && fits(a.Version) })
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
	if !was(m.Started) {
		return Target{}
	}
	now := m.agreement(m.Of, m.Started.Revision)
	t := Target{Version: now.Is.Version, Told: now.Is.Told}
	if t.Version == "" && m.writing(now.Stamp, m.Started) != fact.No && now.Revision > m.Created.Revision {
		t.Version = m.agreement(m.Of, now.Revision-1).Is.Version
	}
	t.Untold = !t.Told && m.written(m.Of) && !was(m.undefinedSince(m.Of, m.Started.Revision))
	return t
}

// writing is whether a change may have come about so shortly before another one that the
// controller, which decided before it, was writing the other one meanwhile.
func (m *Migration) writing(change, written fact.Stamp) fact.Truth {
	return min(fact.Of(change.Revision <= written.Revision), longer(statusWrites(), m.When(change), m.When(written)).Not())
}

// longer is whether more than a time passed between two moments.
func longer(than time.Duration, from, to fact.Moment) fact.Truth {
	switch least, most := from.Until(to); {
	case least > than:
		return fact.Yes
	case most > than:
		return fact.Unknown
	}
	return fact.No
}

// inAgreement is while the servers agree on what a migration began with, or on whatever they like
// where it began with nothing.
func (m *Migration) inAgreement() fact.Signal {
	target := m.target().Version
	return m.agreeing(m.Of, func(version string) bool { return target == "" || version == target })
}

// loss is a time without the agreement that a migration began with, while it ran: back is
// when it was agreed on again, the zero Stamp if it was not before the end.
type loss struct {
	from, back fact.Stamp
	// undefined is whether the definition went, so that servers have nothing to agree on.
	undefined bool
}

// losses are those of a migration, in order. Another one begins where a definition that went is
// there again, with another version.
func (m *Migration) losses() []loss {
	target := m.target().Version
	if target == "" {
		return nil
	}
	var out []loss
	lost := false
	during := m.agreements(m.Of).In(m.Started.Revision, m.end().Revision-1)
	for _, a := range append([]fact.Value[Agreement]{m.agreement(m.Of, m.Started.Revision)}, during...) {
		switch {
		case a.Is.Version != target && (!lost || out[len(out)-1].undefined && a.Is.Told):
			out, lost = append(out, loss{from: a.Stamp, undefined: !a.Is.Told}), true
		case a.Is.Version == target && lost:
			out[len(out)-1].back, lost = a.Stamp, false
		}
	}
	return out
}

// disagreements are those losses in which servers have something to agree on.
func (m *Migration) disagreements() []loss {
	return fact.Where(m.losses(), func(l loss) bool { return !l.undefined })
}

// lost is the loss that had not ended when the migration did, if there is one.
func (m *Migration) lost() (loss, bool) {
	all := m.losses()
	if n := len(all); n > 0 && !was(all[n-1].back) {
		return all[n-1], true
	}
	return loss{}, false
}

// held is whether the servers were in agreement from its start to its end, or to now. What it does
// long after they were in agreement again is not for the want of it: it has to end soon (SVM-21).
func (m *Migration) held() fact.Truth {
	if t := m.target(); t.Version == "" && !m.failedBeforeStart() {
		now := m.agreement(m.Of, m.end().Revision-1).Is
		return fact.Of(t.Untold && now.Version == "" && !now.disputed())
	}
	all := m.losses()
	if len(all) == 0 {
		return fact.Yes
	}
	back := all[len(all)-1].back
	if !was(back) {
		return fact.No
	}
	return longer(requirement.MustBound("SVM-21", "endsWithin")+statusWrites(), m.When(back), m.over())
}

// finished is the version that objects are to be in when it has succeeded; empty if the
// servers agree on none. Of a change of the agreement that came about while the success
// was being written it cannot have known.
func (m *Migration) finished() string { return m.finishedAfter(m.changedAtEnd() != fact.No) }

func (m *Migration) finishedAfter(changed bool) string {
	if changed {
		return m.target().Version
	}
	return cmp.Or(m.agreement(m.Of, m.Ended.Revision).Is.Version, m.target().Version)
}

// changedAtEnd is whether the agreement that it began with changed while its success was
// being written.
func (m *Migration) changedAtEnd() fact.Truth {
	target, now := m.target().Version, m.agreement(m.Of, m.Ended.Revision)
	changed := target != "" && now.Is.Version != target && m.agreement(m.Of, now.Revision-1).Is.Version == target
	return min(fact.Of(changed), m.writing(now.Stamp, m.Ended))
}

// standing says that the servers do not keep a migration from going on.
func (m *Migration) standing() string {
	if version := m.agreement(m.Of, m.end().Revision-1).Is.Version; version != "" {
		return "the servers in agreement on " + version
	}
	return "no server having announced anything"
}
