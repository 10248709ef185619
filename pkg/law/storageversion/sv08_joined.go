package storageversion

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindBarrierInstead is a version that was called agreed though a server had joined that
// had not reported, and that server stored nothing of the resource before it did.
const kindBarrierInstead = "barrier-instead"

// sv08: agreement is that of all participating servers, also of those that have joined and
// not reported (KEP-2339: it is checked whether all servers in the list of participants
// agree). A server joins before it reports, and others have to notice, so an agreement may
// outlive its joining for a while; but not if the server stores anything meanwhile.
var sv08 = law.Written[*facts]{
	Row: law.Row{ID: "SV-08", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "silences", Tag: "silence", Breaches: true}, {Name: "refused", Tag: "refused"},
	}, Kinds: []string{kindBarrierInstead}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		f.doubtTags(l)
		noticed := f.noticed(bounds.Of("collectorStarts"))
		silences := map[string]map[string]fact.Signal{}
		for _, member := range f.Members() {
			silences[member] = map[string]fact.Signal{}
			for _, v := range f.StorageVersions() {
				quiet := f.silence(v, member, bounds.Of("tamperRepaired"))
				silences[member][v.Name] = quiet
				for _, span := range quiet.Spans(fact.Yes) {
					s := silence{f, v, member, span, quiet}
					s.judge(l, bounds.Of("joiningShows"), noticed)
				}
			}
		}
		f.judgeRefused(l, silences)
	},
}

// silence is a stretch of time in which a member's server takes part and has no entry in
// an object in which others have one, and which it may have to report in.
type silence struct {
	*facts
	v      *fact.StorageVersion
	member string
	span   fact.Span
	quiet  fact.Signal
}

func (f *facts) silence(v *fact.StorageVersion, member string, repaired time.Duration) fact.Signal {
	id := f.serverID(member)
	var reported fact.Builder
	for _, r := range v.Revisions {
		reported.Set(f.When(r.Stamp), fact.Of(r.Content != nil && len(r.Content.Entries) > 0 && fact.EntryIn(r.Content.Entries, id) == nil))
	}
	return fact.And(reported.Signal(), f.takesPart(id), fact.Not(f.hostsNot(id, v.Name)), fact.Not(f.harness.repair(v.Name, repaired)))
}

func (s silence) judge(l *law.Ledger, shows time.Duration, noticed fact.Signal) {
	over := s.Over().Latest
	began := fact.Exactly(s.span.Begin, s.Evidence(s.span.Begin))
	end := min(s.span.End, over)
	due := noticed.Reaches(began.Latest, int64(shows), fact.Yes)
	if due == fact.Forever {
		due = over
	}
	agreed := s.agreed()
	wrong, stored := s.wrong(agreed, due, end), s.stored(end)
	e := law.Entry{Ending: law.Met, About: s.v.Name, Member: s.member, Began: began}
	if due < end && s.othersAgree(due) {
		e.Tags = []string{"silence"}
	}
	hosts := s.hosted(end)
	switch {
	case stored != nil && s.v.At(stored.Stored.Revision).Content.Common != nil:
		e.Ending, e.Evidence = law.Broken, law.Evidence(began.Seq, s.v.At(stored.Stored.Revision).Seq, stored.Stored.Seq)
		e.Why = s.v.Name + " called " + *s.v.At(stored.Stored.Revision).Content.Common + " agreed when " + s.member + ", which takes part and has no entry there, stored an object"
	case wrong == nil && due < end && agreed.Lasts(due, end, fact.Unknown) > 0:
		e.Ending, e.Evidence, e.Why = law.Unclear, law.Evidence(began.Seq, s.Evidence(due+1)), "it is not certain whether the agreement was taken back within "+shows.String()+" of the joining of "+s.member
	case wrong == nil:
	case hosts == fact.Unknown:
		e.Ending, e.Evidence, e.Why = law.Unclear, law.Evidence(began.Seq, wrong.Seq), "a version was called agreed without "+s.member+", and it is not known whether that hosts the resource"
	default:
		e.Ending, e.Evidence = law.Broken, law.Evidence(began.Seq, wrong.Seq, s.Evidence(due+1))
		e.Why = s.v.Name + " called " + *wrong.Content.Common + " agreed " + shows.String() + " after " + s.member + " had joined, which had not reported in it"
		e.Kind = kindBarrierInstead
		if p := s.lastServer(s.member, end); p != nil {
			e.Release = p.Release
		}
	}
	l.Add(e)
}

// judgeRefused notes the writes that a silent server refused.
func (f *facts) judgeRefused(l *law.Ledger, quiet map[string]map[string]fact.Signal) {
	for i := range f.requests {
		r := &f.requests[i]
		if !r.barrier || r.class != history.ClassGuarded {
			continue
		}
		if s, ok := quiet[r.member][r.object]; ok && s.During(f.When(r.Stamp)) != fact.No {
			l.MetBy(r.member, r.object, f.When(r.Stamp), "refused")
		}
	}
}

// agreed is while the object calls a version agreed.
func (s silence) agreed() fact.Signal {
	var b fact.Builder
	for _, r := range s.v.Revisions {
		b.Set(s.When(r.Stamp), fact.Of(r.Content != nil && r.Content.Common != nil))
	}
	return b.Signal()
}

// wrong is the revision by which a version was called agreed that must not be, or went on
// to be, between two instants; nil if there is none.
func (s silence) wrong(agreed fact.Signal, due, end int64) *fact.VersionRevision {
	if due >= end || agreed.Lasts(due, end, fact.Yes) == 0 {
		return nil
	}
	var found *fact.VersionRevision
	for i, r := range s.v.Revisions {
		if at := s.When(r.Stamp); r.Content != nil && r.Content.Common != nil && at.Latest < end && (found == nil || at.Latest <= due) {
			found = &s.v.Revisions[i]
		}
	}
	return found
}

// othersAgree is whether the reports that there were at an instant were all equal.
func (s silence) othersAgree(at int64) bool {
	equal := false
	for _, r := range s.v.Revisions {
		if s.When(r.Stamp).Latest <= at && r.Content != nil {
			_, equal = fact.Agreed(r.Content.Entries)
		}
	}
	return equal
}

// stored is the first object that the server stored while a version was called agreed, and
// it certainly was silent; nil if it stored none.
func (s silence) stored(end int64) *fact.Write {
	id := s.serverID(s.member)
	i := slices.IndexFunc(s.Writes(), func(w *fact.Write) bool {
		if w.Member != s.member || !w.InEtcd() {
			return false
		}
		r, ok := s.ResourceOfWrite(w)
		if !ok || r.StorageVersionName() != s.v.Name || s.Hosted(r) == fact.HostedOtherwise {
			return false
		}
		now := s.v.At(w.Stored.Revision)
		return now != nil && now.Content.Common != nil && fact.EntryIn(now.Content.Entries, id) == nil && s.TakesPart(id, w.Stored.Revision) &&
			s.quiet.During(s.When(w.Stored)) != fact.No && w.Stored.At >= s.span.Begin && s.When(w.Stored).Earliest <= end
	})
	if i < 0 {
		return nil
	}
	return s.Writes()[i]
}

// hosted is whether the server hosts the resource: only one that does reports it.
func (s silence) hosted(end int64) fact.Truth {
	if slices.ContainsFunc(s.v.Changes(s.serverID(s.member)), func(c fact.EntryChange) bool { return c.Present() && s.When(c.Stamp).Latest >= end }) {
		return fact.Yes
	}
	return s.lastServer(s.member, end).hosts(s.v.Name)
}
