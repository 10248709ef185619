package storageversion

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// sv06: the agreed version is set if and only if all entries are equal, and the condition
// mirrors it with reason and message (KEP-2339, on AgreedEncodingVersion). "Set though they
// differ" is a breach in any revision; "not set though all are equal" only once every
// participant has reported and had time to notice.
var sv06 = law.Together[*facts]{
	Row: law.Row{ID: "SV-06", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "agreed", Tag: "agreed"}, {Name: "differing", Tag: "differing"},
		{Name: "refused", Tag: tagRefused}, {Name: "refusedEach", Tag: tagRefusedLasting, Each: true},
	}},
	Parts: []law.Law[*facts]{sv06Set, sv06Unset},
}

// sv06Set: what is set is right.
var sv06Set = law.Written[*facts]{
	Row: law.Row{ID: "SV-06"},
	Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
		for _, r := range f.revisions() {
			f.judgeAgreed(l, r)
		}
		f.judgeProbes(l, history.InvalidAgreement, "that calls a version agreed though the entries differ")
	},
}

func (f *facts) judgeAgreed(l *law.Ledger, r revision) {
	name, sv, at := r.version.Name, r.Content, f.When(r.Stamp)
	if len(sv.Entries) == 0 && sv.Common == nil && len(sv.Conditions) == 0 {
		return // just created: no server has reported, and nothing is claimed
	}
	value, equal := fact.Agreed(sv.Entries)
	if sv.Common != nil && (!equal || *sv.Common != value) {
		selfEvident(l, name, at, "%s calls %s agreed at revision %d, but the entries are %s", name, *sv.Common, r.Revision, showEntries(sv.Entries))
	}
	if k, ok := agreementCondition(sv); !ok {
		selfEvident(l, name, at, "%s has entries but no condition %s at revision %d", name, conditionType, r.Revision)
	} else {
		if (k.Status == "True") != (sv.Common != nil) {
			selfEvident(l, name, at, "in %s at revision %d the agreed version is %s and the condition %s", name, r.Revision, showCommon(sv.Common), k.Status)
		}
		if k.Reason == "" || k.Message == "" {
			selfEvident(l, name, at, "in %s at revision %d the condition lacks its reason or message", name, r.Revision)
		}
	}
	switch {
	case sv.Common != nil:
		l.Met(name, at, "agreed")
	case !equal:
		l.Met(name, at, "differing")
	}
}

// sv06Unset: a version is called agreed soon once all participants have reported the same
// one.
var sv06Unset = law.Deadline[*facts, agreeing]{
	Row:      law.Row{ID: "SV-06"},
	Bound:    "agreementForms",
	Over:     func(f *facts) []agreeing { return f.agreeings() },
	Describe: func(a agreeing) law.Entry { return law.Entry{About: a.Name} },
	Begin:    func(a agreeing) []fact.Moment { return a.f.Rises(a.equal) },
	Running:  func(a agreeing) fact.Signal { return a.owed() },
	Done: func(a agreeing) []fact.Moment {
		var out []fact.Moment
		for _, r := range a.Revisions {
			if r.Content == nil || r.Content.Common != nil {
				out = append(out, a.f.When(r.Stamp))
			}
		}
		return out
	},
	Breach: func(a agreeing, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("%s has had equal entries of all participants for %s and calls no version agreed", a.Name, took.Round(time.Second))
	},
}

// agreeing is a StorageVersion that could have an agreed version at times.
type agreeing struct {
	*fact.StorageVersion
	f *facts
	// equal is while it has none, although nothing stands against one.
	equal fact.Signal
}

func (f *facts) agreeings() []agreeing {
	var out []agreeing
	for _, v := range f.StorageVersions() {
		if a := (agreeing{v, f, f.agreeable(v)}); len(a.equal.Spans(fact.Yes)) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// agreeable is while a StorageVersion has no agreed version although nothing stands against
// one: all reports are equal, and every participant has reported, or is known not to host
// the resource.
func (f *facts) agreeable(v *fact.StorageVersion) fact.Signal {
	var b fact.Builder
	for _, r := range v.Revisions {
		equal := false
		if r.Content != nil && r.Content.Common == nil {
			_, equal = fact.Agreed(r.Content.Entries)
		}
		b.Set(f.When(r.Stamp), fact.Of(equal))
	}
	all := []fact.Signal{b.Signal()}
	for _, p := range f.Participants() {
		all = append(all, fact.Or(fact.Not(f.takesPart(p.Server)), f.hasEntry(v, p.Server), f.hostsNot(p.Server, v.Name)))
	}
	return fact.And(all...)
}

// hasEntry is while a server has an entry in a StorageVersion.
func (f *facts) hasEntry(v *fact.StorageVersion, id string) fact.Signal {
	var b fact.Builder
	for _, c := range v.Changes(id) {
		b.Set(f.When(c.Stamp), fact.Of(c.Present()))
	}
	return b.Signal()
}

// hostsNot is while a server is known not to host a resource.
func (f *facts) hostsNot(id, name string) fact.Signal {
	var b fact.Builder
	for _, s := range f.servers(f.memberOf(id)) {
		b.Set(s.Started, fact.Of(s.hosts(name) == fact.No))
	}
	return b.Signal()
}

// owed is while an agreed version is owed: whoever wrote the last entry had it in hand, and
// where the coming or leaving of a server makes the difference, the collector has to see it.
func (a agreeing) owed() fact.Signal {
	noticed := a.f.noticed(requirement.MustBound("SV-06", "collectorStarts"))
	var written fact.Builder
	for _, span := range a.equal.Spans(fact.Yes) {
		for _, r := range a.Revisions {
			if a.f.When(r.Stamp).Latest == span.Begin {
				written.SetAt(span.Begin, fact.Yes)
				written.SetAt(span.End, fact.No)
			}
		}
	}
	return fact.And(a.equal, fact.Or(noticed, written.Signal()))
}

// conditionType is the condition that mirrors the agreement.
const conditionType = "AllEncodingVersionsEqual"

func agreementCondition(sv *history.StorageVersion) (history.Condition, bool) {
	for _, c := range sv.Conditions {
		if c.Type == conditionType {
			return c, true
		}
	}
	return history.Condition{}, false
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
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s: %s", e.ServerID, e.Encoding))
	}
	return strings.Join(out, ", ")
}
