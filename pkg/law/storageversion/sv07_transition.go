package storageversion

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv07: the transition time moves exactly when the outcome of the agreement changes, the
// outcome being the agreed version or its absence.
var sv07 = law.Written[*facts]{
	Row: law.Row{ID: "SV-07", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "gained", Tag: "gained"}, {Name: "lost", Tag: "lost"}, {Name: "unchanged", Tag: "unchanged"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		for _, v := range f.StorageVersions() {
			var before *outcome
			for _, r := range v.Revisions {
				if r.Content == nil || f.harness.edited(v.Name, r.Stamp) {
					before = nil // what the harness writes is no outcome of the control plane
				} else if c, ok := agreementCondition(r.Content); ok {
					now := &outcome{v.Name, f.When(r.Stamp), r.Content, c.Transition}
					if before != nil {
						f.judgeTransition(l, before, now, bounds.Of("clockSkew"))
					}
					before = now
				}
			}
		}
	},
}

// outcome is what an object's condition said at a revision.
type outcome struct {
	name       string
	at         fact.Moment
	content    *history.StorageVersion
	transition time.Time
}

func (f *facts) judgeTransition(l *law.Ledger, before, now *outcome, skew time.Duration) {
	evidence := law.Evidence(before.at.Seq, now.at.Seq)
	was, is := showCommon(before.content.Common), showCommon(now.content.Common)
	moved := !now.transition.Equal(before.transition)
	tag := "lost"
	if now.content.Common != nil {
		tag = "gained"
	}
	// It is given in whole seconds, so that two changes within one may have the same.
	same := f.Time(now.transition) + int64(skew)
	switch {
	case was == is && moved:
		l.Broken(now.name, now.at, evidence, "in %s the transition time moved from %s to %s, but the outcome stayed %s", now.name, clock(before.transition), clock(now.transition), is)
	case was == is:
		l.Met(now.name, now.at, "unchanged")
	case before.transition.Sub(now.transition) > skew:
		l.Broken(now.name, now.at, evidence, "in %s the transition time went back from %s to %s", now.name, clock(before.transition), clock(now.transition))
	case moved:
		l.Met(now.name, now.at, tag)
	case now.at.Earliest > same:
		l.Broken(now.name, now.at, evidence, "in %s the outcome changed from %s to %s, but the transition time stayed %s", now.name, was, is, clock(now.transition))
	case now.at.Latest > same:
		l.Unclear(now.name, now.at, "the outcome changed from %s to %s about %s after the transition time, which stayed", was, is, skew)
	default:
		l.Excused(now.name, now.at, "the outcome changed twice within the second that transition times are given in")
	}
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
