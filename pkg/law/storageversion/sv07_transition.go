package storageversion

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// sv07: the transition time moves exactly when the outcome of the agreement changes, the
// outcome being the agreed version, or the condition's status where there is none: that is
// False or Unknown (KEP-2339, StorageVersionCondition).
var sv07 = law.Together[*facts]{
	Row: law.Row{ID: "SV-07", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "gained", Tag: "gained"}, {Name: "lost", Tag: "lost"}, {Name: "unchanged", Tag: "unchanged"},
	}},
	Parts: []law.Law[*facts]{sv07First, sv07Next},
}

// sv07First: the time of the first outcome of an object is when it came about.
var sv07First = law.Each[*facts, outcome]{
	Over: func(f *facts) []outcome {
		return fact.Where(f.outcomes(), func(o outcome) bool { return o.earlier == nil && o.unconditional() })
	},
	End: func(o outcome, bounds law.Bounds) law.Entry {
		skew := bounds.Of("clockSkew")
		switch other := o.otherTime(int64(skew)); {
		case other == "":
			return law.Entry{}
		case o.f.ClocksApart(skew):
			return o.Entry().Unclear("the clocks of servers are not the recorder's, so that it is not certain when %s was", clock(o.to))
		default:
			return o.Entry().Broken("in %s the first outcome is %s, and the transition time is %s, %s", o.of.Name, showOutcome(o.Is), clock(o.to), other).Shown(o.Seq)
		}
	},
}

var sv07Next = law.Each[*facts, outcome]{
	Over: func(f *facts) []outcome {
		return fact.Where(f.outcomes(), func(o outcome) bool { return o.earlier != nil })
	},
	End: func(o outcome, bounds law.Bounds) law.Entry {
		was, is, skew := showOutcome(o.earlier.Is), showOutcome(o.Is), bounds.Of("clockSkew")
		name, before, now, e := o.of.Name, clock(o.from), clock(o.to), o.Entry()
		moved, tag := !o.from.Equal(o.to), "lost"
		if o.Is.Common != nil {
			tag = "gained"
		}
		// It is given in whole seconds, so that two changes within one may have the same.
		same := o.f.Time(o.to) + int64(skew)
		switch e = e.Shown(o.earlier.Seq, o.Seq); {
		case was == is && moved:
			return e.Broken("in %s the transition time moved from %s to %s, but the outcome stayed %s", name, before, now, is)
		case was == is:
			return e.Met("unchanged")
		case o.from.Sub(o.to) > skew:
			return e.Broken("in %s the transition time went back from %s to %s", name, before, now)
		case moved:
			switch other := o.otherTime(int64(skew)); {
			case other != "" && o.f.ClocksApart(skew):
				return e.Unclear("the clocks of servers are not the recorder's, so that it is not certain when %s was", now)
			case other != "":
				return e.Broken("in %s the outcome changed from %s to %s, and the transition time is %s, %s", name, was, is, now, other)
			}
			return e.Met(tag)
		case e.Began.Earliest > same:
			return e.Broken("in %s the outcome changed from %s to %s, but the transition time stayed %s", name, was, is, now)
		case e.Began.Latest > same:
			return e.Unclear("the outcome changed from %s to %s about %s after the transition time, which stayed", was, is, skew)
		default:
			return e.Excused("the outcome changed twice within the second that transition times are given in")
		}
	},
}

// otherTime says why the transition time is none at which the writer can have changed the
// outcome; empty if it may be one. The writer had read the revision before, and its write was
// under way for no longer than writes are, unless a server stood still meanwhile.
func (o outcome) otherTime(skew int64) string {
	underWay := int64(requirement.MustBound("SV-19", "underWay"))
	at, written := o.f.Time(o.to), o.f.When(o.Stamp)
	switch {
	case at-skew > written.Latest:
		return "which had not come"
	case o.before != nil && at+skew < o.f.When(o.before.Stamp).Earliest:
		return "which is before the revision that was changed"
	case at+skew+underWay < written.Earliest && !o.f.Stalled(at, written.Latest):
		return "which was long before"
	}
	return ""
}

// outcome is a revision with a condition, and the one with a condition before it; nil where that is
// not known, or there is none.
type outcome struct {
	revision
	earlier  *fact.VersionRevision
	from, to time.Time
}

// outcomes are those of the control plane: what the harness writes is none.
func (f *facts) outcomes() (out []outcome) {
	var before *outcome
	for _, r := range f.revisions() {
		k, ok := agreementCondition(r.Is)
		edited := f.byHarness(r.of.Name, r.Stamp)
		if edited || r.before == nil {
			before = nil
		}
		if edited || !ok {
			continue
		}
		now := outcome{revision: r, to: k.Transition}
		if before != nil {
			now.earlier, now.from = before.VersionRevision, before.to
		}
		out = append(out, now)
		before = &now
	}
	return out
}

// unconditional is whether the object is new, or the revision before had no condition.
func (o outcome) unconditional() bool {
	if o.before == nil {
		return true
	}
	_, ok := agreementCondition(o.before.Is)
	return !ok
}

// showOutcome is the agreed version, or the status of the condition where there is none.
func showOutcome(sv *history.StorageVersion) string {
	if k, ok := agreementCondition(sv); ok && sv.Common == nil && k.Status == conditionUnknown {
		return "none, which is not known to be final"
	}
	return showCommon(sv.Common)
}

// conditionUnknown is the status of a condition that is neither true nor false.
const conditionUnknown = "Unknown"

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
