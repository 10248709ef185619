package everyrun

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// stillBusy ends what is owed of a member that was busy: to answer the same question within a
// bound. Kubernetes answers lists with 429 for as long as it cannot fill the cache of a resource
// (KEP-4568), which is for good where it cannot decode an object of it (kubernetes pull request
// 130889). Who takes each of these answers for a busy moment never sees that a member cannot read.
func (r read) stillBusy(e law.Entry, what string) law.Entry {
	f, first, bound := r.facts, r.busySince(), requirement.MustBound("RO-01", "answersWithin")
	able, until := f.able(r.member), r.span().Earliest
	waited := time.Duration(able.Lasts(min(first.At, until), until, fact.Yes))
	if waited <= bound {
		return e.Unclear("%s with %d, which says nothing of it: %s%s", what, r.Code, r.Message, r.Error)
	}
	e = f.sure(e.Late("%s with %d, and with nothing better for %s, though nothing disturbed it: %s%s", what, r.Code, waited.Round(time.Second), r.Message, r.Error).Shown(first.Seq, r.Seq))
	return law.UnlessStarved(f.History, e, waited-bound, able, first.At, until)
}

// busySince is the first answer since which the process that gave this one has been busy whenever it
// was asked the same.
func (r read) busySince() read {
	first, p := r, r.process()
	if p == nil {
		return r
	}
	for _, o := range r.facts.reads {
		switch {
		case o.Seq >= r.Seq:
			return first
		case !o.asksAs(r):
		case !busy[o.Code] || o.process() != p:
			first = r
		case first.Seq == r.Seq:
			first = o
		}
	}
	return first
}

// asksAs is whether two reads ask a member the same. One that was not told in which versions the
// member serves the resource asked for none.
func (r read) asksAs(o read) bool {
	version := r.Version == o.Version || r.Version == "" || o.Version == ""
	return version && r.member == o.member && r.How == o.How && r.resource() == o.resource()
}
