package storageversion

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindRejoined is an entry that went after the restarted server had joined under a new
// identity Lease, and that was back before the server was ready.
const kindRejoined = "rejoined"

// sv21: the same server, restarted, replaces its entry: it never has two, never none while it
// takes part, and at no time is a version called agreed while it writes another one. What it
// writes is taken from the stored bytes.
var sv21 = law.Written[*facts]{
	Row: law.Row{ID: "SV-21", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "replaced", Tag: "replaced"}, {Name: "writes", Tag: "write"},
	}, Kinds: []string{kindRejoined}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		f.doubtTags(l)
		replaced := map[*server]map[string]bool{}
		for _, s := range f.allServers() {
			if s.Before == nil {
				continue
			}
			replaced[s] = map[string]bool{}
			for _, v := range f.StorageVersions() {
				f.judgeTwice(l, s, v)
				f.judgeVanished(l, s, v)
				if f.replaced(s, v) {
					replaced[s][v.Name] = true
					l.MetBy(s.Member, v.Name, s.Started, "replaced")
				}
			}
		}
		f.judgeRestartedWrites(l, replaced, bounds.Of("finishesWithin"))
	},
}

// judgeTwice looks for revisions in the life of a process that have several entries of it.
func (f *facts) judgeTwice(l *law.Ledger, s *server, v *fact.StorageVersion) {
	for _, r := range v.Revisions {
		if r.Revision <= s.since || r.Revision > s.until || r.Content == nil {
			continue
		}
		n := 0
		for _, e := range r.Content.Entries {
			if e.ServerID == s.id {
				n++
			}
		}
		if n > 1 {
			l.Broken(v.Name, f.When(r.Stamp), law.Evidence(s.Started.Seq, r.Seq), "after its restart %s has %d entries in %s at revision %d", s.Member, n, v.Name, r.Revision)
		}
	}
}

// judgeVanished looks for entries that vanished although the server takes part and hosts the
// resource. One that no longer hosts it rightly takes its entry back.
func (f *facts) judgeVanished(l *law.Ledger, s *server, v *fact.StorageVersion) {
	for _, c := range v.Changes(s.id) {
		if c.Present() || c.Revision <= s.since || c.Revision > s.until || !f.TakesPart(s.id, c.Revision) || s.silent() {
			continue
		}
		at := f.When(c.Stamp)
		hosted := s.hosts(v.Name)
		if hosted == fact.Unknown { // only a server that hosts a resource reports it
			hosted = fact.Of(v.EntryAt(s.id, s.until) != nil)
		}
		byHarness := f.harness.edited(v.Name, c.Stamp) || c.WithObject && f.harness.removed(v.Name, at)
		switch {
		case hosted == fact.No:
		case byHarness:
			l.Excused(v.Name, at, "the harness took the entry out")
		default:
			e := law.Entry{Ending: law.Broken, About: v.Name, Member: s.Member, Began: at, Evidence: law.Evidence(s.Started.Seq, c.Seq), Release: s.Release}
			e.Why = sprintf("after its restart %s has no entry in %s at revision %d, though it takes part", s.Member, v.Name, c.Revision)
			if f.rejoined(s, v, c.Revision) {
				e.Kind, e.Evidence = kindRejoined, append(e.Evidence, s.ready.Seq)
			}
			l.Add(e)
		}
	}
}

// rejoined is whether an entry went because the server had left and joined anew as it
// started: it takes part under a Lease that is younger than its process, and the entry was
// back by its first readiness. Until then it refuses writes.
func (f *facts) rejoined(s *server, v *fact.StorageVersion, gone int64) bool {
	if s.revision == 0 || gone >= s.revision || v.EntryAt(s.id, s.revision) == nil {
		return false
	}
	for i, span := range f.Participation(s.id).Spans {
		if span.Joined.Revision <= gone && (span.Left == nil || span.Left.Revision > gone) {
			return i > 0 && span.Joined.Revision > s.since
		}
	}
	return false
}

// replaced is whether a process announced another version than the one before it.
func (f *facts) replaced(s *server, v *fact.StorageVersion) bool {
	change, old := f.registration(s, v.Name, s.until), v.EntryAt(s.id, s.since)
	return change != nil && old != nil && old.Encoding != change.Entry.Encoding
}

func (f *facts) judgeRestartedWrites(l *law.Ledger, replaced map[*server]map[string]bool, finishes time.Duration) {
	for _, w := range f.Writes() {
		r, ok := f.ResourceOfWrite(w)
		s := f.serverOf(w.Member, w.Stored.Revision)
		if !ok || s == nil || s.Before == nil || f.Hosted(r) == fact.HostedOtherwise {
			continue
		}
		name := r.StorageVersionName()
		v := f.StorageVersion(name).At(w.Stored.Revision)
		if v == nil {
			continue
		}
		e := law.Entry{Ending: law.Met, About: name, Member: w.Member, Began: f.When(w.Stored)}
		switch common := v.Content.Common; {
		case common == nil || *common == w.APIVersion:
		case f.mayPrecede(w, s):
			e.Ending, e.Why = law.Excused, "the write may be of the process before"
		case f.finishes(w, name, finishes):
			e.Ending, e.Why = law.Excused, "the server had left, and finished what it had been asked for"
		default:
			e.Ending, e.Evidence = law.Broken, law.Evidence(s.Started.Seq, w.Stored.Seq, v.Seq)
			e.Why = sprintf("%s calls %s agreed at revision %d, when %s, restarted, stores %s", name, *common, w.Stored.Revision, w.Member, w.APIVersion)
		}
		if e.Ending == law.Met && replaced[s][name] {
			e.Tags = writeTag
		}
		l.Add(e)
	}
}

// mayPrecede is whether a write may be of the process before. One that was sent after the
// process had started is not, however late etcd told of it.
func (f *facts) mayPrecede(w *fact.Write, s *server) bool {
	return s.Started.Before(f.When(w.Stored)) != fact.Yes && (w.Answer.Seq == 0 || w.Answer.From < s.Started.Latest)
}

// released is the release of a process; empty if none is known.
func (s *server) released() string {
	if s == nil {
		return ""
	}
	return s.Release
}
