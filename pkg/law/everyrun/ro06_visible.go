package everyrun

import (
	"net/http"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro06: every member shows an acknowledged write in get, list and watch within a bound,
// and never answers a read that names a revision, or asks for the latest, with an older
// state, all pages of a list are of one revision, and its watches leave nothing out (API concepts,
// "Resource versions" and "Retrieving large results sets in chunks"). It sees
// ConfigMaps of the harness, members that were ready as the write was acknowledged, the reads
// at holds and at the end, and watches of StorageVersions and migrations. It does not see a
// list with resourceVersion=0 that is old, which is allowed.
var ro06 = law.Together[*Facts]{
	Row: law.Row{ID: "RO-06", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Visibilities, fact.Reads}, Needs: []law.Need{
		{Name: "shown", Tag: "shown"}, {Name: "shownEach", Tag: "shown", Each: true}, {Name: "watched", Tag: "watch"}, {Name: "current", Tag: "current"},
	}},
	Parts: []law.Law[*Facts]{
		law.Each[*Facts, question]{Over: (*Facts).questions, End: question.end},
		law.Each[*Facts, read]{Over: (*Facts).bounded, End: read.current},
		law.Each[*Facts, *watch]{Over: (*Facts).watches, End: (*watch).leavesNothingOut},
	},
}

// bounded are the lists that must not be older than a revision.
func (f *Facts) bounded() []read {
	return fact.Where(f.reads, func(r read) bool { return r.After > 0 && r.Code == http.StatusOK && r.How != history.ReadGet })
}

// current is whether a list is as new as it must be, whatever disturbs the member.
func (r read) current(law.Bounds) law.Entry {
	e := r.entry(r.of())
	switch {
	case r.ResourceVersion == 0:
		return e.Unclear("%s answered a %s of %s without a revision: %s", r.member, r.How, r.of(), r.NotCompared)
	case r.How == history.ReadContinued && r.ResourceVersion != r.After:
		return e.Broken("%s answered the page of %s after the first %d objects with revision %d, and %s had answered these with revision %d", r.member, r.of(), r.Before, r.ResourceVersion, r.By, r.After).Alone()
	case r.ResourceVersion < r.After:
		return e.Broken("%s answered a %s of %s with revision %d, and must not answer with one below %d", r.member, r.How, r.of(), r.ResourceVersion, r.After).Alone()
	}
	return e.Met("current")
}

// question is one way in which a member was asked for a write.
type question struct {
	visibility
	how string
	*history.Shown
}

func (f *Facts) questions() []question {
	var out []question
	for _, v := range f.visibilities {
		out = append(out, question{v, "get", &v.Get}, question{v, "list", &v.List}, question{v, "watch", &v.Watch})
	}
	return out
}

// since is when the clock begins: with the acknowledgement, or with the first request if
// that was sent later.
func (q question) since() int64 {
	if q.Asked == 1 {
		return max(q.From, q.Sent)
	}
	return q.From
}

// able is while the member can show the write. The member that had acknowledged it is not
// needed any more.
func (q question) able() fact.Signal { return q.facts.able(q.member) }

func (q question) end(b law.Bounds) law.Entry {
	revision, bound := q.visibility.ResourceVersion, b.Of("showsWithin")
	e := q.entry(q.how + " by " + q.Writer)
	e.Began = fact.Exactly(q.since(), q.Seq)
	shows, until := q.Shows(revision), q.visibility.At
	if shows {
		until = q.Shown.At
	}
	e.Most = time.Duration(until - q.since())
	e.Least = time.Duration(q.able().Lasts(q.since(), until, fact.Yes))
	asked := e.Least.Round(10 * time.Millisecond)
	switch {
	case q.Stale:
		return e.Broken("%s answered a %s with a state older than revision %d, which %s had acknowledged", q.member, q.how, revision, q.Writer).Alone()
	case q.skipped(revision, bound):
		return e.Broken("%s told of revision %d in a watch that had been open, and not of revision %d before, which %s had acknowledged", q.member, q.Shown.ResourceVersion, revision, q.Writer).Alone()
	case shows && e.Most <= bound:
		return e.Met("shown", q.how)
	case e.Least > bound:
		e = e.Late("%s did not show a write that %s had acknowledged in a %s for %s", q.member, q.Writer, q.how, asked)
		return law.UnlessStarved(q.facts.History, e, e.Least-bound, q.able(), q.since(), until)
	case q.how == "watch" && q.Sent == 0:
		return q.unopened(e, bound)
	case e.Least < e.Most:
		return e.Excused("the member did not serve all the time, or etcd had no majority")
	}
	return e.Unclear("%s did not show the write in a %s, and was asked for %s only", q.member, q.how, asked)
}

// skipped is whether a watch told of a later write only, though it had been opened, and so had
// listed what was there, before the write was acknowledged. The recorder keeps the last changes of
// an object for longer than the bound: it writes the object once in a second.
func (q question) skipped(revision int64, bound time.Duration) bool {
	watch := q.how == "watch" && q.Sent > 0 && q.Sent < q.From
	return watch && q.Shown.ResourceVersion > revision && time.Duration(q.visibility.At-q.From) <= bound
}

// unopened is the obligation of a member at which no watch was open: the recorder opens one
// as soon as the member lets it, so that one comes within the bound.
func (q question) unopened(e law.Entry, bound time.Duration) law.Entry {
	opened := q.facts.Now
	i := slices.IndexFunc(q.facts.visibilities, func(v visibility) bool { return v.member == q.member && v.Watch.Sent > q.From })
	if i >= 0 {
		opened = q.facts.visibilities[i].Watch.Sent
	}
	e.Least = time.Duration(q.able().Lasts(q.since(), opened, fact.Yes))
	switch {
	case e.Least > bound:
		e = e.Late("%s had no watch open for %s, though nothing disturbed it", q.member, e.Least.Round(10*time.Millisecond))
		return law.UnlessStarved(q.facts.History, e, e.Least-bound, q.able(), q.since(), opened)
	case i < 0 && q.able().At(opened) != fact.No:
		return e.Open("the history ended before a watch was open at %s", q.member)
	}
	return e.Excused("no watch was open at the member")
}
