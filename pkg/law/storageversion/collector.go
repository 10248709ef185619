package storageversion

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// collectorAble is while the collector of KEP-2339, which is part of the controller manager,
// can do its work, and had the time to begin that a requirement gives it: its manager leads
// and runs, nothing stands in the way at the member, and etcd can write.
func (f *facts) collectorAble(id requirement.ID) fact.Signal {
	type key time.Duration
	starts := requirement.MustBound(id, "collectorStarts")
	return fact.Cached(f.History, key(starts), func() fact.Signal {
		return fact.And(f.EtcdQuorum(), f.AnyMember(func(m string) fact.Signal {
			return fact.And(f.manages(m), f.Up(m))
		})).Warm(int64(starts))
	})
}

// manages is while the controller manager of a member leads and runs.
func (f *facts) manages(member string) fact.Signal {
	return fact.And(f.ManagerLeads(member), f.Running(member, history.ComponentControllerManager))
}

// noticed is while those can work that have to notice who comes and goes: the collector,
// where one is known.
func (f *facts) noticed(id requirement.ID) fact.Signal {
	known := slices.ContainsFunc(f.AllProcesses(), func(p *fact.Process) bool { return p.Component == history.ComponentControllerManager }) ||
		slices.ContainsFunc(f.Managers().All(), func(h fact.Value[fact.Holding]) bool { return h.Is.Member != "" })
	if !known {
		return fact.Constant(fact.Yes)
	}
	return f.collectorAble(id)
}

// inTime is whether what came about between two moments shows that the collector is in time:
// all was over within the bound, or the collector worked then.
func (f *facts) inTime(id requirement.ID, began, done fact.Moment) bool {
	_, most := began.Until(done)
	return most <= requirement.MustBound(id, "departedGoes") || f.collectorAble(id).During(done) == fact.Yes
}

// owed is a stretch of revisions of an object that has to end. It is gone where it ended
// because that went which it is about.
type owed struct {
	fact.Stretch
	f    *facts
	v    *fact.StorageVersion
	gone bool
}

func (o owed) byHarness() bool { return o.gone && o.f.takenBy(o.v.Name, *o.Ended) }

// done is when it ended, and voids when the harness ended it.
func (o owed) done() []fact.Moment {
	if o.Ended == nil || o.byHarness() {
		return nil
	}
	return o.f.Moments(*o.Ended)
}

func (o owed) voids() []law.Void {
	if !o.byHarness() {
		return nil
	}
	return law.Voids("the harness took it away", o.f.When(*o.Ended))
}

// departure is an entry of a server that does not take part: since the later of two things
// came about, the entry, and that its server does not take part. It is gone where the entry
// went, and not where the server joined again. That the Lease of a server is back which does not
// live is no joining.
type departure struct {
	owed
	id string
	// left is whether the server had taken part before.
	left bool
}

func (d departure) Entry() law.Entry {
	return law.Entry{About: d.v.Name, Member: d.f.MemberOfServer(d.id)}
}

// clock runs while the collector can do its work and the entry is stale: while its server is not on
// the list of participants.
func (d departure) clock(id requirement.ID) fact.Signal {
	return fact.And(d.f.collectorAble(id), fact.Not(d.f.takesPart(d.id)))
}

// joined are the stretches in which a server takes part, without those in which no process of its
// member lives.
func (f *facts) joined(id string) []fact.Stretch {
	member := f.MemberOfServer(id)
	all, lives := f.Participation(id).Stretches(), f.Alive(member, history.ComponentAPIServer)
	if len(f.Processes(member, history.ComponentAPIServer)) == 0 {
		return all
	}
	return fact.Where(all, func(s fact.Stretch) bool {
		from, until := f.When(s.Began).Earliest, f.Over().Latest
		if s.Ended != nil {
			until = f.When(*s.Ended).Latest
		}
		return lives.Lasts(from, until, fact.Unknown) > 0
	})
}

// departures are those of all StorageVersions, in the order of names and servers.
func (f *facts) departures() []departure {
	type key struct{}
	return fact.Cached(f.History, key{}, func() (out []departure) {
		for _, v := range f.StorageVersions() {
			for _, id := range v.Servers() {
				spans := f.Participation(id).Stretches()
				for _, s := range fact.Overlaps(v.Entry(id).Stretches(anyEntry), fact.Gaps(f.joined(id))) {
					of := owed{s, f, v, s.Ended != nil && v.EntryAt(id, s.Ended.Revision) == nil}
					out = append(out, departure{of, id, len(spans) > 0 && spans[0].Began.Revision < s.Began.Revision})
				}
			}
		}
		return out
	})
}
