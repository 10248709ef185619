package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv14: a server is not ready until it has registered, and once ready never answers with
// the barrier's 503 (KEP-2339: the post-start hook). A refusal after readiness counts only
// when the same process is ready before and after it. A server whose identity Lease had
// lapsed in between, as when it stood still or was cut off, does not take part until it has
// joined and registered anew.
var sv14 = law.Together[*facts]{
	Row: law.Row{ID: "SV-14", Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Requests, fact.Discovery}, Needs: []law.Need{
		{Name: "starts", Tag: "start"}, {Name: "startsEach", Tag: "start", Each: true},
		{Name: "writes", Tag: "write"}, {Name: "writesEach", Tag: "write", Each: true},
	}},
	Parts: []law.Law[*facts]{hostingKnown, sv14Early, sv14Started, sv14Lingers},
}

// sv14Early: what a process announced it had announced when it was ready first. That any
// entry is missing then is SV-01's.
var sv14Early = law.Each[*facts, duty]{Over: (*facts).dutiesWhenReady, End: func(d duty, _ law.Bounds) law.Entry {
	if c := d.s.registration(d.name); c != nil && (c.Revision > d.revision || d.s.f.When(c.Stamp).Earliest > d.at.Latest) {
		return d.Entry().Broken("%s was ready at revision %d and announced its version in %s only at revision %d", d.s.Member, d.revision, d.name, c.Revision).Shown(d.at.Seq, c.Seq)
	}
	return law.Entry{}
}}

// sv14Started: a process that refused writes, and then was ready, has announced something.
var sv14Started = law.Each[*facts, *server]{Over: func(f *facts) []*server { return f.servers().all }, End: func(s *server, _ law.Bounds) law.Entry {
	if s.ready == nil {
		return law.Entry{}
	}
	e := law.Of(s.Member, *s.ready).By(s.Member)
	if len(s.looks) > 0 && !s.silent() && s.revision > 0 && s.until >= s.revision {
		duties := s.duties(s.looks[0], *s.ready, s.revision)
		if len(duties) > 0 && !slices.ContainsFunc(duties, func(d duty) bool {
			return s.f.StorageVersion(d.name).Entry(s.id).ChangeBy(s.since) != nil || s.held(d.name, s.until, anyEntry)
		}) {
			return e.Broken("%s was ready at revision %d and never announced any version", s.Member, s.revision).Shown(s.ready.Seq, s.f.ToldBy(s.until))
		}
	}
	if s.barred.Begin < s.ready.Latest {
		return e.Met("start")
	}
	return law.Entry{}
}}

// sv14Lingers: a ready server accepts writes.
var sv14Lingers = law.Each[*facts, *request]{Over: func(f *facts) []*request {
	f.servers()
	return f.requests
}, End: func(r *request, _ law.Bounds) law.Entry {
	s := r.s
	if s == nil || s.ready == nil || r.class != history.ClassGuarded {
		return law.Entry{}
	}
	before, after := s.f.readyAround(r)
	until := r.At
	if after != nil {
		until = after.At
	}
	switch e := r.Entry(); {
	case before == nil || !before.ok:
		return law.Entry{}
	case r.accepted() && r.From >= s.ready.Latest:
		return e.Met("write")
	case !r.barrier || before.At < s.ready.Latest:
		return law.Entry{}
	case s.lapsed(before.At, until):
		return e.Excused("its identity Lease had lapsed, so that it had to register anew")
	case after == nil || s.Exited != nil && after.At > s.Exited.Latest || s.f.Healthy(s.Member).During(e.Began) != fact.Yes:
		return e.Excused("the server was not seen to be ready again right after")
	case !after.ok:
		return e.Unclear("%s was ready, refused a write because its registration was not complete, and was not ready, though its identity Lease was valid", s.Member).
			Shown(before.Seq, r.Seq, after.Seq)
	default:
		return e.Broken("%s was ready, refused a write because its registration was not complete, and was ready again", s.Member).Shown(before.Seq, r.Seq, after.Seq)
	}
}}

// lapsed is whether the identity Lease of the server may not have been valid at some time
// between two instants: it was gone, had run out, or was renewed after that.
func (s *server) lapsed(from, to int64) bool {
	renewals := s.f.Participation(s.id).Renewals
	if len(renewals) > 0 && s.f.takesPart(s.id).During(fact.Moment{Earliest: from, Latest: to}) != fact.Yes {
		return true
	}
	return slices.ContainsFunc(renewals, func(x fact.Renewal) bool {
		at, end := s.f.When(x.Stamp), int64(fact.Forever)
		if x.Until != nil {
			end = s.f.When(*x.Until).Latest
		}
		out := x.Duration > 0 && !x.Renewed.IsZero() && s.f.Time(x.Renewed)+int64(x.Duration) <= to
		return at.Earliest <= to && end >= from && (x.Lapsed && at.Latest > from || out)
	})
}
