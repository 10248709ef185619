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
var sv13 = law.Written[*facts]{
	Row: law.Row{ID: "SV-13", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "read", Tag: history.ClassRead}, {Name: "readEach", Tag: history.ClassRead, Each: true},
		{Name: "review", Tag: history.ClassReview}, {Name: "reviewEach", Tag: history.ClassReview, Each: true},
		{Name: "custom", Tag: history.ClassCustom}, {Name: "aggregated", Tag: history.ClassAggregated}, {Name: "own", Tag: "own"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		for i := range f.requests {
			if r := &f.requests[i]; r.class != history.ClassGuarded && r.barrier {
				selfEvident(l, r.object, f.When(r.Stamp), "%s held back a request of class %q (%s %s) until its registration, which must pass", r.member, r.class, r.verb, r.resource.Resource)
			}
		}
		failed := map[memberClass]*failures{}
		for _, s := range f.allServers() {
			since, until := f.barrierUntil(s)
			for _, r := range f.derive().passes[s] {
				f.judgePassing(l, r, since, until, failed)
			}
			f.judgeOwn(l, s, until)
		}
		for _, m := range f.Members() {
			for _, class := range exceptions {
				if of := failed[memberClass{m, class}]; of != nil {
					of.judge(f, l, bounds)
				}
			}
		}
	},
}

type memberClass struct{ member, class string }

// failures are requests of one class that did not pass through a member, while it held back
// writes; slow of them were not answered in time, or shed.
type failures struct {
	memberClass
	count, slow, passed int
	first               *request
}

func (f *facts) judgePassing(l *law.Ledger, r *request, since, until int64, failed map[memberClass]*failures) {
	key := memberClass{r.member, r.class}
	if failed[key] == nil {
		failed[key] = &failures{memberClass: key}
	}
	of := failed[key]
	switch {
	case r.barrier || r.At > until:
	case r.accepted():
		of.passed++
		l.MetBy(r.member, r.object, f.When(r.Stamp), r.class)
	case r.class == history.ClassRead && r.code == 404: // An object that is not there was looked for.
	case r.From < since || f.excusedFailure(r):
	default:
		if of.count == 0 {
			of.first = r
		}
		of.count++
		if r.slow() {
			of.slow++
		}
	}
}

// excusedFailure leaves out reads of what is not built in: they wait for the server that
// hosts it. It also leaves out what was not answered, or shed, while the other members did
// not answer either: the barrier of one server cannot do that.
func (f *facts) excusedFailure(r *request) bool {
	return r.class == history.ClassRead && f.Hosted(r.resource) == fact.HostedOtherwise || r.slow() && f.outElsewhere(r)
}

// judge: between two refusals of writes the server was up and its barrier shut, so that what
// failed then was not let pass; there may be another reason for it, so that it is no proof.
// A slow machine lets a few requests time out among many that pass.
func (of *failures) judge(f *facts, l *law.Ledger, bounds law.Bounds) {
	switch {
	case of.count == 0:
		return
	case slices.Contains(alone, of.class):
		if of.count == of.slow && float64(of.slow)*bounds.Number("answersForSlow") <= float64(of.passed) {
			l.Excused(of.class, f.When(of.first.Stamp), "a few requests were not answered in time, among many that passed")
			return
		}
	case of.passed > 0 || float64(of.count) < bounds.Number("failuresOfDependent"):
		l.Excused(of.class, f.When(of.first.Stamp), "requests of this class wait for another server, and others passed or few were sent")
		return
	}
	l.Unclear(of.class, f.When(of.first.Stamp), "%s let %d requests of class %s fail while it held back writes, the first with code %d", of.member, of.count, of.class, of.first.code)
}

// judgeOwn notes the StorageVersion writes of a process itself that went through.
func (f *facts) judgeOwn(l *law.Ledger, s *server, until int64) {
	for _, v := range f.StorageVersions() {
		for _, c := range v.Changes(s.id) {
			if at := f.When(c.Stamp); c.Present() && c.Revision > s.since && c.Revision <= s.until && at.Latest <= until {
				l.MetBy(s.Member, v.Name, at, "own")
			}
		}
	}
}

// etcdCheck is what the readiness of every API server calls that it reaches its etcd.
const etcdCheck = "etcd"

// outElsewhere is whether at least one other member, and every other one that lives, had
// been ready, and gave no answer or said that its etcd does not answer, at some moment of a
// request.
func (f *facts) outElsewhere(r *request) bool {
	others := 0
	for _, member := range f.Members() {
		s := f.lastServer(member, r.At)
		if member == r.member || s == nil {
			continue
		}
		if !s.readyBy(r.At) || f.FaultAt(member).At(r.At) != fact.No || !f.outDuring(member, r.From, r.At) {
			return false
		}
		others++
	}
	return others > 0
}

func (f *facts) outDuring(member string, from, to int64) bool {
	answers := f.ReadyAnswers(member)
	for i, a := range answers {
		until := int64(fact.Forever)
		if i+1 < len(answers) {
			until = answers[i+1].Latest
		}
		if (a.Code == 0 || slices.Contains(a.Failing, etcdCheck)) && a.Earliest < to && from < until {
			return true
		}
	}
	return false
}
