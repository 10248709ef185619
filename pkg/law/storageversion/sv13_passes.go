package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv13: while guarded writes are held back, five kinds of requests pass (KEP-2339, the list
// of exceptions of the filter). A request counts as "during the barrier" only when a guarded
// write that was sent after its answer was still refused by the same process, which had not
// been ready.
var sv13 = law.Together[*facts]{
	Row: law.Row{ID: "SV-13", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "read", Tag: history.ClassRead}, {Name: "readEach", Tag: history.ClassRead, Each: true},
		{Name: "review", Tag: history.ClassReview}, {Name: "reviewEach", Tag: history.ClassReview, Each: true},
		{Name: "custom", Tag: history.ClassCustom}, {Name: "aggregated", Tag: history.ClassAggregated}, {Name: "own", Tag: "own"},
	}},
	Parts: []law.Law[*facts]{sv13Held, sv13Own, law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		for _, p := range f.passages() {
			for _, r := range p.passed {
				l.Add(r.Entry().Met(p.class))
			}
			l.Add(p.end(bounds))
		}
	}}},
}

// sv13Held: none of the kinds is answered as a guarded write is.
var sv13Held = law.Each[*facts, *request]{Over: func(f *facts) []*request { return f.requests }, End: func(r *request, _ law.Bounds) law.Entry {
	if r.class == history.ClassGuarded || !r.barrier {
		return law.Entry{}
	}
	return r.Entry().Alone().Broken("%s held back a request of class %q (%s %s) until its registration, which must pass", r.member, r.class, r.verb, r.resource.Resource)
}}

// sv13Own counts the StorageVersion writes of a process itself that went through.
var sv13Own = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, s := range f.servers().all {
		for _, v := range f.StorageVersions() {
			for _, c := range v.Entry(s.id).In(s.since, s.until) {
				if at := f.When(c.Stamp); c.There && at.Latest <= s.barred.End {
					l.Add(law.Of(v.Name, at).By(s.Member).Met("own"))
				}
			}
		}
	}
}}

// passage is what became of the requests of one class at one member while it held back
// writes: those that passed, and those that did not between two refusals of writes.
type passage struct {
	member, class  string
	passed, failed []*request
}

// passages leave out reads of what is not there, and those of what is not built in: they
// wait for the server that hosts it.
func (f *facts) passages() (out []*passage) {
	of := map[[2]string]*passage{}
	for _, s := range f.servers().all {
		for _, r := range s.passing {
			key := [2]string{r.member, r.class}
			if of[key] == nil {
				of[key] = &passage{member: r.member, class: r.class}
				out = append(out, of[key])
			}
			switch p := of[key]; {
			case r.barrier || r.At > s.barred.End:
			case r.accepted():
				p.passed = append(p.passed, r)
			case r.From >= s.barred.Begin && (r.class != history.ClassRead || r.code != 404 && f.Hosted(r.resource) != fact.HostedOtherwise):
				p.failed = append(p.failed, r)
			}
		}
	}
	return out
}

// end: between two refusals of writes the server was up and its barrier shut, so that what
// failed then was not let pass; there may be another reason for it, so that it is no proof.
// A slow machine lets a few requests time out among many that pass.
func (p *passage) end(bounds law.Bounds) law.Entry {
	if len(p.failed) == 0 {
		return law.Entry{}
	}
	e, needsOthers := p.failed[0].Entry(), !slices.Contains(alone, p.class)
	slow, passed := len(fact.Where(p.failed, (*request).slow)), len(p.passed)
	switch {
	case !needsOthers && len(p.failed) == slow && float64(slow)*bounds.Number("answersForSlow") <= float64(passed):
		return e.Excused("a few requests were not answered in time, among many that passed")
	case needsOthers && (passed > 0 || float64(len(p.failed)) < bounds.Number("failuresOfDependent")):
		return e.Excused("requests of this class wait for another server, and others passed or few were sent")
	}
	return e.Unclear("%s let %d requests of class %s fail while it held back writes, the first with code %d", p.member, len(p.failed), p.class, p.failed[0].code)
}
