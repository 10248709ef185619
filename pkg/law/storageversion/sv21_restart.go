package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// kindRejoined is an entry that went after the restarted server had joined under a new
// identity Lease, and that was back before the server was ready.
const kindRejoined = "rejoined"

// sv21: the same server, restarted, replaces its entry: it never has two, never none while it
// takes part, and at no time is a version called agreed while it writes another one. What it
// writes is taken from the stored bytes.
var sv21 = law.Together[*facts]{
	Row: law.Row{ID: "SV-21", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "replaced", Tag: "replaced"}, {Name: "writes", Tag: "write"},
	}, Kinds: []string{kindRejoined}},
	Parts: []law.Law[*facts]{hostingKnown, tagsKnown, sv21Entries, sv21Writes},
}

// restart is a process that is not its member's first, and an object.
type restart struct {
	*server
	v *fact.StorageVersion
}

// sv21Entries: in the life of such a process its server never has several entries, and none
// of them vanishes.
var sv21Entries = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, s := range fact.Where(f.servers().all, func(s *server) bool { return s.Before != nil }) {
		for _, v := range f.StorageVersions() {
			for _, x := range v.In(s.since, s.until) {
				if own := entriesOf(x, s.id); own > 1 {
					l.Broken(v.Name, f.When(x.Stamp), law.Evidence(s.Started.Seq, x.Seq), "after its restart %s has %d entries in %s at revision %d", s.Member, own, v.Name, x.Revision)
				}
			}
			for _, c := range v.Entry(s.id).In(s.since, s.until) {
				l.Add(restart{s, v}.vanished(c))
			}
			if s.replaced(v.Name) {
				l.Add(law.Of(v.Name, s.Started).By(s.Member).Met("replaced"))
			}
		}
	}
}}

// vanished ends the obligation to keep an entry that went although the server takes part and
// hosts the resource. One that no longer hosts it rightly takes its entry back.
func (r restart) vanished(c fact.EntryChange) law.Entry {
	hosted := r.hosts(r.v.Name)
	if hosted == fact.Unknown { // only a server that hosts a resource reports it
		hosted = fact.Of(r.v.EntryAt(r.id, r.until) != nil)
	}
	e := law.Of(r.v.Name, r.f.When(c.Stamp)).By(r.Member)
	switch {
	case c.There || !r.f.TakesPart(r.id, c.Revision) || r.silent() || hosted == fact.No:
		return law.Entry{}
	case r.f.takenBy(r.v.Name, c.Stamp):
		return e.Excused("the harness took the entry out")
	case r.missed(c):
		return e.Unclear("it may have joined anew just before, after its Lease had gone, while a write of a collector was under way").Shown(c.Seq)
	}
	e = e.Broken("after its restart %s has no entry in %s at revision %d, though it takes part", r.Member, r.v.Name, c.Revision).Shown(r.Started.Seq, c.Seq)
	if r.rejoined(c.Revision) {
		e = e.As(kindRejoined, r.Release).Shown(r.Started.Seq, c.Seq, r.ready.Seq)
	}
	return e
}

// rejoined is whether an entry went because the server had left and joined anew as it
// started: it takes part under a Lease that is younger than its process, and the entry was
// back by its first readiness. Until then it refuses writes.
func (r restart) rejoined(gone int64) bool {
	if r.revision == 0 || gone >= r.revision || r.v.EntryAt(r.id, r.revision) == nil {
		return false
	}
	for i, s := range r.f.Participation(r.id).Stretches() {
		if s.Through(gone, gone) {
			return i > 0 && s.Began.Revision > r.since
		}
	}
	return false
}

// missed is whether an entry went, and was back, so shortly after a server had joined anew that a
// collector may have decided on it before: the server had been ready, and lost its Lease later.
func (r restart) missed(c fact.EntryChange) bool {
	gone := r.f.When(c.Stamp)
	soon := func(from, to fact.Moment) bool {
		least, _ := from.Until(to)
		return least <= requirement.MustBound("KEP-2339", "requestsEndWithin")
	}
	return r.revision > 0 && slices.ContainsFunc(r.f.Participation(r.id).Stretches(), func(s fact.Stretch) bool {
		return s.Began.Revision > r.revision && s.Through(c.Revision, c.Revision) && soon(r.f.When(s.Began), gone)
	}) && slices.ContainsFunc(r.v.Entry(r.id).In(c.Revision+1, r.until), func(later fact.EntryChange) bool {
		return later.There && soon(gone, r.f.When(later.Stamp))
	})
}

// replaced is whether the process announced another version than the one before it.
func (s *server) replaced(name string) bool {
	change, old := s.registration(name), s.f.StorageVersion(name).EntryAt(s.id, s.since)
	return s.Before != nil && change != nil && old != nil && old.Encoding != change.Is.Encoding
}

// entriesOf counts the entries of a server in a revision.
func entriesOf(r fact.VersionRevision, id string) int {
	if !r.There {
		return 0
	}
	return len(fact.Where(r.Is.Entries, func(e history.Entry) bool { return e.ServerID == id }))
}

var sv21Writes = law.Each[*facts, *storing]{Over: (*facts).builtInStorings, End: func(w *storing, bounds law.Bounds) law.Entry {
	if w.s == nil || w.s.Before == nil || w.object == nil {
		return law.Entry{}
	}
	e := w.withdrawn(w.Entry(), bounds.Of("finishesWithin"), 0)
	switch {
	case !w.falsely():
		return w.Entry().Met(tagIf(w.s.replaced(w.name), "write")...)
	case e.Ending != "":
		return e
	case w.s.Started.Before(w.at) != fact.Yes && (w.Answer.Seq == 0 || w.Answer.From < w.s.Started.Latest):
		return e.Unclear("the write may be of the process before")
	}
	return e.Broken("%s calls %s agreed at revision %d, when %s, restarted, stores %s", w.name, *w.object.Is.Common, w.Stored.Revision, w.Member, w.APIVersion).
		Shown(w.s.Started.Seq, w.Stored.Seq, w.object.Seq)
}}
