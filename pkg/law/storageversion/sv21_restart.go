package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
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
	Parts: []law.Law[*facts]{hostingKnown, tagsKnown, sv21Twice, sv21Vanished, sv21Replaced, sv21Writes},
}

// restart is a process that is not its member's first, and an object.
type restart struct {
	*server
	v *fact.StorageVersion
}

func (f *facts) restarts() (out []restart) {
	for _, s := range f.servers().all {
		for _, v := range f.StorageVersions() {
			if s.Before != nil {
				out = append(out, restart{s, v})
			}
		}
	}
	return out
}

// sv21Twice: no revision in the life of a process has several entries of its server.
var sv21Twice = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, r := range f.restarts() {
		for _, x := range r.v.In(r.since, r.until) {
			if !x.There {
				continue
			}
			own := fact.Where(x.Is.Entries, func(e history.Entry) bool { return e.ServerID == r.id })
			if n := len(own); n > 1 {
				l.Broken(r.v.Name, f.When(x.Stamp), law.Evidence(r.Started.Seq, x.Seq), "after its restart %s has %d entries in %s at revision %d", r.Member, n, r.v.Name, x.Revision)
			}
		}
	}
}}

// sv21Vanished: no entry vanishes although the server takes part and hosts the resource. One
// that no longer hosts it rightly takes its entry back.
var sv21Vanished = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, r := range f.restarts() {
		of := r.v.Entry(r.id)
		for _, c := range of.In(r.since, r.until) {
			hosted := r.hosts(r.v.Name)
			if hosted == fact.Unknown { // only a server that hosts a resource reports it
				hosted = fact.Of(of.At(r.until) != nil)
			}
			if c.There || !f.TakesPart(r.id, c.Revision) || r.silent() || hosted == fact.No {
				continue
			}
			e := law.Of(r.v.Name, f.When(c.Stamp)).By(r.Member)
			if f.takenBy(r.v.Name, c.Stamp) {
				l.Add(e.Excused("the harness took the entry out"))
				continue
			}
			e = e.Broken("after its restart %s has no entry in %s at revision %d, though it takes part", r.Member, r.v.Name, c.Revision).Shown(r.Started.Seq, c.Seq)
			if r.rejoined(c.Revision) {
				e = e.As(kindRejoined, r.Release).Shown(r.Started.Seq, c.Seq, r.ready.Seq)
			}
			l.Add(e)
		}
	}
}}

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

// replaced is whether the process announced another version than the one before it.
func (s *server) replaced(name string) bool {
	change, old := s.registration(name), s.f.StorageVersion(name).EntryAt(s.id, s.since)
	return s.Before != nil && change != nil && old != nil && old.Encoding != change.Is.Encoding
}

var sv21Replaced = law.Each[*facts, restart]{Over: (*facts).restarts, End: func(r restart, _ law.Bounds) law.Entry {
	if !r.replaced(r.v.Name) {
		return law.Entry{}
	}
	return law.Of(r.v.Name, r.Started).By(r.Member).Met("replaced")
}}

var sv21Writes = law.Each[*facts, *storing]{Over: (*facts).builtInStorings, End: func(w *storing, bounds law.Bounds) law.Entry {
	if w.s == nil || w.s.Before == nil || w.object == nil {
		return law.Entry{}
	}
	e := w.withdrawn(w.Entry(), bounds.Of("finishesWithin"), 0)
	switch {
	case !w.falsely() && w.s.replaced(w.name):
		return w.Entry().Met("write")
	case !w.falsely():
		return w.Entry().Met()
	case e.Ending != "":
		return e
	case w.s.Started.Before(w.at) != fact.Yes && (w.Answer.Seq == 0 || w.Answer.From < w.s.Started.Latest):
		return e.Unclear("the write may be of the process before")
	}
	return e.Broken("%s calls %s agreed at revision %d, when %s, restarted, stores %s", w.name, *w.object.Is.Common, w.Stored.Revision, w.Member, w.APIVersion).
		Shown(w.s.Started.Seq, w.Stored.Seq, w.object.Seq)
}}
