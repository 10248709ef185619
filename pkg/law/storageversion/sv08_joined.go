package storageversion

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// kindBarrierInstead is a version that was called agreed though a server had joined that
// had not reported, and that server stored nothing of the resource before it did.
const kindBarrierInstead = "barrier-instead"

// sv08: agreement is that of all participating servers, also of those that have joined and
// not reported (KEP-2339: it is checked whether all servers in the list of participants
// agree). A server joins before it reports, and others have to notice, so an agreement may
// outlive its joining for a while; but not if the server stores anything meanwhile.
var sv08 = law.Together[*facts]{
	Row: law.Row{ID: "SV-08", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "silences", Tag: "silence", Breaches: true}, {Name: "refused", Tag: "refused"},
	}, Kinds: []string{kindBarrierInstead}},
	Parts: []law.Law[*facts]{hostingKnown, tagsKnown, law.Each[*facts, silence]{Over: (*facts).silences, End: silence.obligation}, sv08Refused},
}

// sv08Refused counts the writes that a silent server refused.
var sv08Refused = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	quiet := map[[2]string]fact.Signal{}
	for _, r := range f.requests {
		by := [2]string{r.member, r.object}
		if _, known := quiet[by]; !known {
			quiet[by] = f.quiet(f.StorageVersion(r.object), f.ServerID(r.member))
		}
		if r.barrier && r.class == history.ClassGuarded && quiet[by].During(r.Entry().Began) != fact.No {
			l.Add(r.Entry().Met("refused"))
		}
	}
}}

// silence is a stretch of time in which a member's server takes part and has no entry in an
// object in which others have one, and which it may have to report in.
type silence struct {
	*facts
	fact.Span
	v          *fact.StorageVersion
	member, id string
	quiet      fact.Signal
	// was is whether there was such a stretch: Yes, or Unknown.
	was fact.Truth
}

func (f *facts) silences() []silence {
	type key struct{}
	return fact.Cached(f.History, key{}, func() (out []silence) {
		for _, v := range f.StorageVersions() {
			for _, member := range f.Members() {
				id := f.ServerID(member)
				quiet := f.quiet(v, id)
				for _, span := range quiet.Spans(fact.Yes) {
					out = append(out, silence{f, span, v, member, id, quiet, fact.Yes})
				}
				for _, m := range f.MayRise(quiet) {
					out = append(out, silence{f, fact.Span{Begin: m.Earliest, End: m.Latest}, v, member, id, quiet, fact.Unknown})
				}
			}
		}
		return out
	})
}

// quiet is while a server takes part and has no entry in an object in which others have one,
// unless it is known not to host the resource, or the harness changed the object shortly
// before.
func (f *facts) quiet(v *fact.StorageVersion, id string) fact.Signal {
	return fact.And(v.While(f.History, func(sv *history.StorageVersion) bool {
		return len(sv.Entries) > 0 && fact.EntryIn(sv.Entries, id) == nil
	}), f.takesPart(id), fact.Not(f.hostsNot(id, v.Name)), fact.Not(f.repair(v.Name, requirement.MustBound("SV-08", "tamperRepaired"))))
}

func (s silence) obligation(bounds law.Bounds) law.Entry { return s.end(bounds).Owed(s.was) }

func (s silence) end(bounds law.Bounds) law.Entry {
	shows, end := bounds.Of("joiningShows"), min(s.End, s.Over().Latest)
	due := min(s.noticed("SV-08").Reaches(s.Begin, int64(shows), s.was), end)
	agreed := s.v.While(s.History, func(sv *history.StorageVersion) bool { return sv.Common != nil })
	equal := s.v.While(s.History, func(sv *history.StorageVersion) bool { _, equal := fact.Agreed(sv.Entries); return equal })
	e := law.Of(s.v.Name, fact.Exactly(s.Begin, s.Evidence(s.Begin))).By(s.member)
	if due < end && equal.At(due) != fact.No {
		e.Tags = []string{"silence"}
	}
	if w := s.stored(end); w != nil {
		return e.Broken("%s called %s agreed when %s, which takes part and has no entry there, stored an object", s.v.Name, *w.object.Is.Common, s.member).
			Shown(e.Began.Seq, w.object.Seq, w.Stored.Seq)
	}
	var wrong fact.VersionRevision // the last one that calls a version agreed
	for _, r := range s.v.All() {
		if r.There && r.Is.Common != nil && s.When(r.Stamp).Latest < end {
			wrong = r
		}
	}
	e = e.Shown(e.Began.Seq, wrong.Seq, s.Evidence(due+1))
	p := s.lastServer(s.member, end)
	reports := slices.ContainsFunc(s.v.Entry(s.id).All(), func(c fact.EntryChange) bool { return c.There && s.When(c.Stamp).Latest >= end })
	switch {
	case agreed.Lasts(due, end, fact.Unknown) == 0:
		return e.Met()
	case agreed.Lasts(due, end, fact.Yes) == 0:
		return e.Unclear("it is not certain whether the agreement was taken back within %s of the joining of %s", shows, s.member)
	case !reports && p.hosts(s.v.Name) != fact.Yes:
		return e.Unclear("a version was called agreed without %s, and it is not known whether that hosts the resource", s.member)
	}
	e = e.Broken("%s called %s agreed %s after %s had joined, which had not reported in it", s.v.Name, showCommon(wrong.Is.Common), shows, s.member)
	if p != nil {
		e = e.As(kindBarrierInstead, p.Release)
	}
	// It was called agreed for that much longer than those that notice may have taken.
	excess := time.Duration(agreed.Lasts(due, end, fact.Yes))
	return law.UnlessStarved(s.History, e, excess, s.noticed("SV-08"), s.Begin, end)
}

// stored is the first object that the server stored while a version was called agreed, and
// it certainly was silent; nil if it stored none.
func (s silence) stored(end int64) *storing {
	for _, w := range s.storedBy(s.member, s.v.Name) {
		if w.object != nil && w.object.Is.Common != nil && fact.EntryIn(w.object.Is.Entries, s.id) == nil &&
			s.TakesPart(s.id, w.Stored.Revision) && s.quiet.During(w.at) != fact.No && w.Stored.At >= s.Begin && w.at.Earliest <= end {
			return w
		}
	}
	return nil
}
