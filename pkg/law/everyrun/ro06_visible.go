package everyrun

import (
	"fmt"
	"net/http"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro06: every member shows an acknowledged write in get, list and watch within a bound,
// and never answers a read that names a revision, or asks for the latest, with an older
// state (API concepts, "Resource versions"). It sees ConfigMaps of the harness, members
// that were ready as the write was acknowledged, and the reads at holds and at the end. It
// does not see a list with resourceVersion=0 that is old, which is allowed.
var ro06 = law.Written[*Facts]{
	Row: law.Row{ID: "RO-06", Sources: []fact.Source{fact.Visibilities, fact.Reads}, Needs: []law.Need{
		{Name: "shown", Tag: "shown"}, {Name: "shownEach", Tag: "shown", Each: true}, {Name: "watched", Tag: "watch"}, {Name: "current", Tag: "current"},
	}},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		quorum := f.quorum(func(m *member) fact.Signal {
			return fact.And(m.notStopped(history.ComponentEtcd), fact.Not(m.FaultAt(m.name)), fact.Not(m.Powerless(m.name)))
		})
		healthy := map[string]fact.Signal{}
		for _, m := range f.Members() {
			healthy[m] = fact.And(f.healthy(m), quorum)
		}
		for _, v := range f.visibilities {
			for _, q := range v.questions() {
				q.judge(healthy[v.member], b.Of("showsWithin"), l)
			}
		}
		for _, r := range f.reads {
			if r.After > 0 && r.Code == http.StatusOK && r.How != history.ReadGet {
				r.judgeCurrent(l)
			}
		}
	},
}

// judgeCurrent judges a list that must not be older than a revision. Whatever disturbs the
// member, it must not answer with an older one.
func (r read) judgeCurrent(l *law.Ledger) {
	e := law.Entry{Ending: law.Met, About: r.resource() + " at " + r.member, Member: r.member, Began: fact.Exactly(r.At, r.Seq), Tags: []string{"current"}}
	if r.ResourceVersion < r.After {
		e.Ending, e.SelfEvident, e.Evidence = law.Broken, true, law.Evidence(r.Seq)
		e.Why = fmt.Sprintf("%s answered a %s of %s with revision %d, and must not answer with one below %d", r.member, r.How, r.resource(), r.ResourceVersion, r.After)
	}
	l.Add(e)
}

// question is one way in which a member was asked for a write.
type question struct {
	visibility
	how string
	*history.Shown
}

func (v visibility) questions() []question {
	return []question{{v, "get", &v.Get}, {v, "list", &v.List}, {v, "watch", &v.Watch}}
}

// since is when the clock begins: with the acknowledgement, or with the first request if
// that was sent later.
func (q question) since() int64 {
	if q.Asked == 1 {
		return max(q.From, q.Sent)
	}
	return q.From
}

// judge judges the answer. The clock runs while the member is healthy and etcd has a
// majority; the member that had acknowledged the write is not needed any more.
func (q question) judge(healthy fact.Signal, bound time.Duration, l *law.Ledger) {
	revision := q.visibility.ResourceVersion
	e := law.Entry{About: fmt.Sprintf("%s by %s at %s", q.how, q.Writer, q.member), Member: q.member, Began: fact.Exactly(q.since(), q.Seq), Evidence: law.Evidence(q.Seq)}
	shows, until := q.Shows(revision), q.visibility.At
	if shows {
		until = q.Shown.At
	}
	e.Most = time.Duration(until - q.since())
	e.Least = time.Duration(healthy.Lasts(q.since(), until, fact.Yes))
	switch {
	case q.Stale:
		e.Ending, e.SelfEvident = law.Broken, true
		e.Why = fmt.Sprintf("%s answered a %s with a state older than revision %d, which %s had acknowledged", q.member, q.how, revision, q.Writer)
	case shows && e.Most <= bound:
		e.Ending, e.Tags = law.Met, []string{"shown", q.how}
	case e.Least > bound:
		e.Ending = law.Late
		e.Why = fmt.Sprintf("%s did not show a write that %s had acknowledged in a %s for %s", q.member, q.Writer, q.how, e.Least.Round(10*time.Millisecond))
	case q.how == "watch" && q.Sent == 0:
		e.Ending, e.Why = law.Excused, "no watch was open at the member"
	case e.Least < e.Most:
		e.Ending, e.Why = law.Excused, "the member did not serve all the time, or etcd had no majority"
	default:
		e.Ending, e.Why = law.Unclear, fmt.Sprintf("%s did not show the write in a %s, and was asked for %s only", q.member, q.how, e.Least.Round(10*time.Millisecond))
	}
	l.Add(e)
}
