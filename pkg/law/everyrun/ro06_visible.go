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
// state (API concepts, "Resource versions").
var ro06 = law.Written[*Facts]{
	Row: law.Row{ID: "RO-06", Sources: []fact.Source{fact.Visibilities, fact.Reads}, Needs: []law.Need{
		{Name: "shown", Tag: "shown"}, {Name: "shownEach", Tag: "shown", Each: true}, {Name: "current", Tag: "current"},
	}},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, v := range f.visibilities {
			healthy := fact.And(f.healthy(v.member), f.healthy(v.Writer))
			for _, q := range v.questions() {
				f.judgeShown(v, q, healthy, b.Of("showsWithin"), l)
			}
		}
		for _, r := range f.readsOf(func(r read) bool { return r.After > 0 && r.Code == http.StatusOK && r.How != history.ReadGet }) {
			about, at := r.resource()+" at "+r.member, fact.Exactly(r.At, r.Seq)
			if r.ResourceVersion < r.After {
				l.Broken(about, at, law.Evidence(r.Seq), "%s answered a %s of %s with revision %d, and must not answer with one below %d", r.member, r.How, r.resource(), r.ResourceVersion, r.After)
			} else {
				l.MetBy(r.member, about, at, "current")
			}
		}
	},
}

// question is one way in which a member was asked for a write.
type question struct {
	how string
	*history.Shown
}

func (v visibility) questions() []question {
	out := []question{{"get", &v.Get}, {"list", &v.List}}
	if v.Watch.Sent > 0 {
		out = append(out, question{"watch", &v.Watch})
	}
	return out
}

// judgeShown judges one way in which a member was asked. From the acknowledgement on, the
// clock runs while the member is healthy.
func (f *Facts) judgeShown(v visibility, q question, healthy fact.Signal, bound time.Duration, l *law.Ledger) {
	about, at := fmt.Sprintf("%s by %s at %s", q.how, v.Writer, v.member), fact.Exactly(v.From, v.Seq)
	until := v.At
	if q.Shows(v.ResourceVersion) {
		until = q.At
	}
	took := time.Duration(healthy.Lasts(v.From, until, fact.Yes))
	switch {
	case q.Stale:
		l.Broken(about, at, law.Evidence(v.Seq), "%s answered a %s with a state older than revision %d, which %s had acknowledged", v.member, q.how, v.ResourceVersion, v.Writer)
	case q.Shows(v.ResourceVersion) && time.Duration(until-v.From) <= bound:
		l.MetBy(v.member, about, at, "shown")
	case took > bound:
		l.Add(law.Entry{Ending: law.Late, About: about, Member: v.member, Began: at, Least: took, Most: took, Evidence: law.Evidence(v.Seq),
			Why: fmt.Sprintf("%s did not show a write that %s had acknowledged in a %s for %s", v.member, v.Writer, q.how, took.Round(10*time.Millisecond))})
	case healthy.Lasts(v.From, until, fact.Yes) < until-v.From:
		l.Excused(about, at, "the member, or the one that had acknowledged, did not serve all the time")
	default:
		l.Unclear(about, at, "%s did not show the write in a %s, and was asked for %s only", v.member, q.how, took.Round(10*time.Millisecond))
	}
}
