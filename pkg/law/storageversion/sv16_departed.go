package storageversion

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// sv16: the entries of a server that has gone away disappear within a bound, and the
// agreement is formed anew of those that are left (KEP-2339, garbage collection). The clock
// runs while the collector has nothing in its way.
var sv16 = law.Together[*facts]{
	Row: law.Row{ID: "SV-16", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "gone", Tag: "gone"}, {Name: "formed", Tag: "formed"},
	}},
	Parts: []law.Law[*facts]{sv16Gone, sv16Formed, sv16Expired, sv16Endless},
}

// sv16Gone: no entry of a server that does not take part stays for longer than the bound: it
// goes, or the server takes part again.
var sv16Gone = law.Deadline[*facts, departure]{
	Bound:   "departedGoes",
	Over:    (*facts).departures,
	Begin:   law.Once(func(d departure) fact.Moment { return d.f.When(d.Began) }),
	Running: func(d departure) fact.Signal { return d.clock("SV-16") },
	Done:    departure.done,
	Void:    departure.voids,
	Tag: func(d departure, began, done fact.Moment) []string {
		return tagIf(d.gone && d.left && d.f.inTime("SV-16", began, done), "gone")
	},
	Lacking: func(d departure) string {
		return sprintf("%s still has an entry of %s, which has had no identity Lease", d.v.Name, d.id)
	},
}

// sv16Formed: a version is called agreed when the entry has gone that was in the way.
var sv16Formed = law.Deadline[*facts, agreeing]{
	Bound: "departedGoes",
	Over: func(f *facts) (out []agreeing) {
		for _, d := range f.departures() {
			if !d.left || !d.gone || d.byHarness() || d.v.At(d.Ended.Revision) == nil {
				continue
			}
			after := d.v.At(d.Ended.Revision)
			_, were := fact.Agreed(d.v.At(d.Ended.Revision - 1).Is.Entries)
			_, are := fact.Agreed(after.Is.Entries)
			a := agreeing{f: f, v: d.v, began: f.When(*d.Ended), owed: f.agreeable(d.v), after: d.Ended.Revision - 1}
			if were || !are || after.Is.Common == nil && a.owed.At(a.began.Latest) != fact.Yes {
				continue
			}
			if after.Is.Common != nil {
				a.began = f.When(d.Began) // it went and the agreement was formed in one write
			}
			out = append(out, a)
		}
		return out
	},
	Begin:   law.Once(func(a agreeing) fact.Moment { return a.began }),
	Running: func(a agreeing) fact.Signal { return fact.And(a.f.collectorAble("SV-16"), a.owed) },
	Done:    agreeing.formed,
	Tag: func(a agreeing, began, done fact.Moment) []string {
		return tagIf(a.f.inTime("SV-16", began, done), "formed")
	},
	Lacking: func(a agreeing) string {
		return "the entry of a server that has gone disappeared from " + a.v.Name + ", whose entries are equal now, and no version was called agreed"
	},
}

// sv16Expired: the entries of a server go whose identity Lease has not been renewed for
// long.
var sv16Expired = law.Deadline[*facts, expiry]{
	BoundOf: func(x expiry, _ fact.Moment) time.Duration {
		return x.Duration + requirement.MustBound("SV-16", "expiredGoes")
	},
	Over: func(f *facts) (out []expiry) {
		for _, p := range f.Participants() {
			for _, r := range p.Renewals {
				x := expiry{r, f, p.Server, nil, fact.Exactly(max(f.Time(r.Renewed)+int64(r.Duration), 0), r.Seq)}
				if r.Duration <= 0 || r.Renewed.IsZero() || x.began.Latest > f.Now || r.Until != nil && f.When(*r.Until).Latest <= x.began.Latest {
					continue
				}
				for _, x.v = range f.StorageVersions() {
					if f.hasEntry(x.v, p.Server).At(x.began.Latest) != fact.No {
						out = append(out, x)
					}
				}
			}
		}
		return out
	},
	Describe: func(x expiry) law.Entry { return law.Entry{About: x.v.Name, Member: x.f.MemberOfServer(x.id)} },
	Begin:    law.Once(func(x expiry) fact.Moment { return x.began }),
	Running:  func(x expiry) fact.Signal { return x.f.collectorAble("SV-16") },
	Done: func(x expiry) (out []fact.Moment) {
		if x.Until != nil {
			out = x.f.Moments(*x.Until)
		}
		for _, s := range x.v.Entry(x.id).Stretches(anyEntry) {
			if s.Ended != nil && x.f.When(*s.Ended).Latest > x.began.Latest {
				out = append(out, x.f.When(*s.Ended))
			}
		}
		return out
	},
	Lacking: func(x expiry) string {
		return sprintf("%s has an entry of %s, whose identity Lease has not been renewed since %s, and keeps it", x.v.Name, x.id, clock(x.Renewed))
	},
}

// expiry is that a server's identity Lease, as it was renewed last, ran out while the server
// had an entry in an object.
type expiry struct {
	fact.Renewal
	f     *facts
	id    string
	v     *fact.StorageVersion
	began fact.Moment
}

// sv16Endless: of a member's server that has ended, and whose identity Lease does not say for how
// long it is valid, it is not known when its entries have to go.
var sv16Endless = law.Each[*facts, law.Member[*facts]]{Over: law.Members[*facts], End: func(m law.Member[*facts], bounds law.Bounds) law.Entry {
	f, id := m.Facts, m.Facts.ServerID(m.Name)
	renewals, p := f.Participation(id).Renewals, f.LastProcess(m.Name, history.ComponentAPIServer, f.Now)
	entered := slices.ContainsFunc(f.StorageVersions(), func(v *fact.StorageVersion) bool { return v.EntryAt(id, f.LastTold()) != nil })
	if len(renewals) == 0 || p == nil || p.Exited == nil || !entered || !f.TakesPart(id, f.LastTold()) {
		return law.Entry{}
	}
	last, ended := renewals[len(renewals)-1], f.WhenEnded(p)
	if gone, _ := ended.Until(f.Over()); last.Duration > 0 && !last.Renewed.IsZero() || gone <= bounds.Of("expiredGoes") {
		return law.Entry{}
	}
	e := m.Entry()
	e.Began = ended
	return e.Unclear("the API server of %s has ended and has entries, and its identity Lease does not say for how long it is valid", m.Name).Shown(last.Seq, ended.Seq)
}}
