package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv14: a server is not ready until it has registered, and once ready never answers with
// the barrier's 503 (KEP-2339: the post-start hook). A refusal after readiness counts only
// when the same process is ready before and after it. A server whose identity Lease had
// lapsed in between, as when it stood still or was cut off, does not take part until it has
// joined and registered anew.
var sv14 = law.Written[*facts]{
	Row: law.Row{ID: "SV-14", Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Requests, fact.Discovery}, Needs: []law.Need{
		{Name: "starts", Tag: "start"}, {Name: "startsEach", Tag: "start", Each: true},
		{Name: "writes", Tag: "write"}, {Name: "writesEach", Tag: "write", Each: true},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		for _, s := range f.allServers() {
			if s.ready == nil {
				continue
			}
			if since, _ := f.barrierUntil(s); since < s.ready.Latest {
				l.MetBy(s.Member, s.Member, *s.ready, "start")
			}
			f.judgeEarly(l, s)
			f.judgeLingering(l, s)
		}
	},
}

// judgeEarly compares the first readiness of a process with what it announced only later,
// or not at all.
func (f *facts) judgeEarly(l *law.Ledger, s *server) {
	if s.revision == 0 || len(s.looks) == 0 || s.silent() {
		return
	}
	hosted, announced := 0, 0
	for _, r := range s.looks[0].Resources {
		if !fact.BuiltIn(r) {
			continue // custom resources come and go while a server is ready
		}
		name := fact.Resource{Group: r.Group, Resource: r.Resource}.StorageVersionName()
		if hosted++; f.announcedAny(s, name, s.until) {
			announced++
		}
		if change := f.registration(s, name, s.until); change != nil && change.Revision > s.revision {
			l.Broken(name, *s.ready, law.Evidence(s.ready.Seq, change.Seq), "%s was ready at revision %d and announced its version in %s only at revision %d", s.Member, s.revision, name, change.Revision)
		}
	}
	// That any entry is missing is SV-01's.
	if hosted > 0 && announced == 0 && s.until >= s.revision {
		l.Broken(s.Member, *s.ready, law.Evidence(s.ready.Seq, f.ToldBy(s.until)), "%s was ready at revision %d and never announced any version", s.Member, s.revision)
	}
}

var writeTag = []string{"write"}

// judgeLingering looks at what a ready server answered to writes.
func (f *facts) judgeLingering(l *law.Ledger, s *server) {
	answers := f.derive().answers[s]
	for _, name := range law.SortedKeys(answers) {
		for _, r := range answers[name] {
			if r.accepted() && r.ready && r.From >= s.ready.Latest {
				l.Add(law.Entry{Ending: law.Met, About: name, Member: s.Member, Began: f.When(r.Stamp), Tags: writeTag})
			}
		}
	}
	for _, x := range f.lingering {
		r := &f.requests[x.request]
		at := f.When(r.Stamp)
		if f.serverAt(r.member, at) != s || x.before.At < s.ready.Latest {
			continue
		}
		e := law.Entry{Ending: law.Broken, About: r.object, Member: s.Member, Began: at, Evidence: law.Evidence(x.before.Seq, r.Seq, x.after.Seq)}
		e.Why = s.Member + " was ready, refused a write because its registration was not complete, and was ready again"
		switch {
		case !x.again || s.Exited != nil && x.after.At > s.Exited.Latest:
			e.Ending, e.Why = law.Excused, "the server was not seen to be ready again right after"
		case f.lapsed(s.id, x.before.At, x.after.At):
			e.Ending, e.Why = law.Excused, "its identity Lease had lapsed, so that it had to register anew"
		}
		l.Add(e)
	}
}

// lapsed is whether a server's identity Lease was taken up again, after it had run out or
// was gone, between two times.
func (f *facts) lapsed(id string, from, to int64) bool {
	return slices.ContainsFunc(f.Participation(id).Renewals, func(r fact.Renewal) bool {
		at := f.When(r.Stamp)
		return r.Lapsed && at.Latest > from && at.Earliest <= to
	})
}
