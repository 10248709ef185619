package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv06: the agreed version is set if and only if all entries are equal, and the condition
// mirrors it with reason and message (KEP-2339, on AgreedEncodingVersion). "Set though they
// differ" is a breach in any revision; "not set though all are equal" only once every
// participant has reported and had time to notice.
var sv06 = law.Together[*facts]{
	Row: law.Row{ID: "SV-06", Takes: []string{history.LackEtcd, history.LackProbes}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "agreed", Tag: "agreed"}, {Name: "differing", Tag: "differing"},
		{Name: "refused", Tag: "refused"}, {Name: "refusedEach", Tag: "refused lasting", Each: true},
	}},
	Parts: []law.Law[*facts]{sv06Set, refuses(history.InvalidAgreement, "that calls a version agreed though the entries differ"), sv06Unset},
}

// sv06Set: what is set is right. An object that was just created claims nothing.
var sv06Set = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, r := range f.revisions() {
		sv, e, name := r.Is, r.Entry(), r.of.Name
		value, equal := fact.Agreed(sv.Entries)
		k, mirrored := agreementCondition(sv)
		if len(sv.Entries) == 0 && sv.Common == nil && len(sv.Conditions) == 0 {
			continue
		}
		if sv.Common != nil && (!equal || *sv.Common != value) {
			l.Add(e.Alone().Broken("%s calls %s agreed at revision %d, but the entries are %s", name, *sv.Common, r.Revision, showEntries(sv.Entries)))
		}
		if !mirrored {
			l.Add(e.Alone().Broken("%s has entries but no condition %s at revision %d", name, conditionType, r.Revision))
		} else if (k.Status == "True") != (sv.Common != nil) {
			l.Add(e.Alone().Broken("in %s at revision %d the agreed version is %s and the condition %s", name, r.Revision, showCommon(sv.Common), k.Status))
		}
		if mirrored && (k.Reason == "" || k.Message == "") {
			l.Add(e.Alone().Broken("in %s at revision %d the condition lacks its reason or message", name, r.Revision))
		}
		if sv.Common != nil {
			l.Add(e.Met("agreed"))
		} else if !equal {
			l.Add(e.Met("differing"))
		}
	}
}}

// sv06Unset: a version is called agreed soon once all participants have reported the same
// one. The writer of the last entry has it in hand for as long as it runs; where that has ended,
// or the coming or leaving of a server makes the difference, the collector has to notice it.
var sv06Unset = law.Deadline[*facts, agreeing]{
	Bound: "agreementForms",
	Over: func(f *facts) (out []agreeing) {
		for _, v := range f.StorageVersions() {
			equal := f.agreeable(v)
			for _, began := range f.Rises(equal) {
				able := append(f.writersAt(v, began), f.noticed("SV-06"))
				out = append(out, agreeing{f, v, began, fact.And(equal, fact.Or(able...)), 0})
			}
		}
		return out
	},
	Begin:   law.Once(func(a agreeing) fact.Moment { return a.began }),
	Running: func(a agreeing) fact.Signal { return a.owed },
	Done:    agreeing.formed,
	Lacking: func(a agreeing) string {
		return a.v.Name + " calls no version agreed, and has had equal entries of all participants"
	},
}

// writersAt is while a server is up whose entry a StorageVersion got at that moment; one of
// which no process was seen counts as up.
func (f *facts) writersAt(v *fact.StorageVersion, at fact.Moment) (up []fact.Signal) {
	for _, id := range v.Servers() {
		for _, c := range v.Entry(id).All() {
			if !c.There || f.When(c.Stamp).Latest != at.Latest {
				continue
			}
			if member := f.MemberOfServer(id); len(f.Processes(member, history.ComponentAPIServer)) > 0 {
				up = append(up, f.Up(member))
			} else {
				up = append(up, fact.Constant(fact.Yes))
			}
		}
	}
	return up
}

// agreeing is a StorageVersion that could have an agreed version from a moment on.
type agreeing struct {
	f     *facts
	v     *fact.StorageVersion
	began fact.Moment
	// owed is while an agreed version is owed; after is a revision that it comes after.
	owed  fact.Signal
	after int64
}

func (a agreeing) Entry() law.Entry { return law.Entry{About: a.v.Name} }

// formed is when a version was called agreed, or the object was deleted.
func (a agreeing) formed() []fact.Moment {
	done := fact.Where(a.v.In(a.after, a.f.LastTold()), func(r fact.VersionRevision) bool { return !r.There || r.Is.Common != nil })
	return fact.Each(done, func(r fact.VersionRevision) fact.Moment { return a.f.When(r.Stamp) })
}

// agreeable is while a StorageVersion has no agreed version although nothing stands against
// one: all reports are equal, and every participant has reported, or is known not to host
// the resource.
func (f *facts) agreeable(v *fact.StorageVersion) fact.Signal {
	all := []fact.Signal{v.While(f.History, func(sv *history.StorageVersion) bool {
		_, equal := fact.Agreed(sv.Entries)
		return equal && sv.Common == nil
	})}
	for _, p := range f.Participants() {
		all = append(all, fact.Or(fact.Not(f.takesPart(p.Server)), f.hasEntry(v, p.Server), f.hostsNot(p.Server, v.Name)))
	}
	return fact.And(all...)
}

// conditionType is the condition that mirrors the agreement.
const conditionType = "AllEncodingVersionsEqual"

func agreementCondition(sv *history.StorageVersion) (history.Condition, bool) {
	i := slices.IndexFunc(sv.Conditions, func(c history.Condition) bool { return c.Type == conditionType })
	if i < 0 {
		return history.Condition{}, false
	}
	return sv.Conditions[i], true
}

func showCommon(c *string) string {
	if c == nil {
		return "none"
	}
	return *c
}

func showEntries(entries []history.Entry) string {
	if len(entries) == 0 {
		return "none"
	}
	return strings.Join(fact.Each(entries, func(e history.Entry) string { return e.ServerID + ": " + e.Encoding }), ", ")
}
