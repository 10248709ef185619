package storageversion

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
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
	Parts: []law.Law[*facts]{sv16Gone, sv16Formed, sv16Expired},
}

// ableFor is while the collector can work, by what a requirement allows it to begin.
func (f *facts) ableFor(id requirement.ID) fact.Signal {
	return f.collectorAble(requirement.MustBound(id, "collectorStarts"))
}

// tested is whether what came about between two moments shows that the collector is in
// time: all was over within the bound, or the collector worked then.
func (f *facts) tested(id requirement.ID, began, done fact.Moment) bool {
	_, most := began.Until(done)
	return most <= requirement.MustBound(id, "departedGoes") || f.ableFor(id).During(done) == fact.Yes
}

// sv16Gone: no entry of a server that does not take part stays for longer than the bound: it
// goes, or the server takes part again.
var sv16Gone = law.Deadline[*facts, departure]{
	Row:      law.Row{ID: "SV-16"},
	Bound:    "departedGoes",
	Over:     func(f *facts) []departure { return f.departures() },
	Describe: func(d departure) law.Entry { return law.Entry{About: d.v.Name, Member: d.f.memberOf(d.id)} },
	Begin:    func(d departure) []fact.Moment { return []fact.Moment{d.f.When(d.began)} },
	Running:  func(d departure) fact.Signal { return d.f.ableFor("SV-16") },
	Done: func(d departure) []fact.Moment {
		switch {
		case d.back != nil:
			return []fact.Moment{d.f.When(*d.back)}
		case d.gone != nil && !d.byHarness():
			return []fact.Moment{d.f.When(d.gone.Stamp)}
		}
		return nil
	},
	Void: func(d departure) []law.Void {
		if d.gone != nil && d.byHarness() {
			return []law.Void{{Moment: d.f.When(d.gone.Stamp), Why: "the harness removed the entry"}}
		}
		return nil
	},
	Tag: func(d departure, began, done fact.Moment) []string {
		if d.gone != nil && d.left && d.f.tested("SV-16", began, done) {
			return []string{"gone"}
		}
		return nil
	},
	Breach: func(d departure, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("%s still has an entry of %s, which has had no identity Lease for %s in which the collector could work", d.v.Name, d.id, took.Round(time.Second))
	},
}

// byHarness is whether the harness took the entry out.
func (d departure) byHarness() bool {
	if d.gone.WithObject {
		return d.f.harness.removed(d.v.Name, d.f.When(d.gone.Stamp))
	}
	return d.f.harness.edited(d.v.Name, d.gone.Stamp)
}

// sv16Formed: a version is called agreed when the entry has gone that was in the way.
var sv16Formed = law.Deadline[*facts, forming]{
	Row:      law.Row{ID: "SV-16"},
	Bound:    "departedGoes",
	Over:     func(f *facts) []forming { return f.formings() },
	Describe: func(m forming) law.Entry { return law.Entry{About: m.v.Name} },
	Begin:    func(m forming) []fact.Moment { return []fact.Moment{m.freed} },
	Running:  func(m forming) fact.Signal { return fact.And(m.f.ableFor("SV-16"), m.equal) },
	Done:     func(m forming) []fact.Moment { return m.formed() },
	Tag: func(m forming, began, done fact.Moment) []string {
		if m.f.tested("SV-16", began, done) {
			return []string{"formed"}
		}
		return nil
	},
	Breach: func(m forming, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("the entry of a server that has gone disappeared from %s, whose entries are equal now, and no version was called agreed for %s in which the collector could work", m.v.Name, took.Round(time.Second))
	},
}

// forming is an object from which the entry of a departed server went that was in the way
// of an agreement.
type forming struct {
	f     *facts
	v     *fact.StorageVersion
	freed fact.Moment
	equal fact.Signal
	// at is the revision by which the entry went.
	at int64
}

func (f *facts) formings() []forming {
	var out []forming
	for _, d := range f.departures() {
		if !d.left || d.gone == nil || d.gone.WithObject || d.byHarness() {
			continue
		}
		before, after := d.v.At(d.gone.Revision-1), d.v.At(d.gone.Revision)
		_, were := fact.Agreed(before.Content.Entries)
		_, are := fact.Agreed(after.Content.Entries)
		m := forming{f, d.v, f.When(d.gone.Stamp), f.agreeable(d.v), d.gone.Revision}
		if were || !are || after.Content.Common == nil && m.equal.At(m.freed.Latest) != fact.Yes {
			continue
		}
		if after.Content.Common != nil {
			m.freed = f.When(d.began) // it went and the agreement was formed in one write
		}
		out = append(out, m)
	}
	return out
}

func (m forming) formed() []fact.Moment {
	var out []fact.Moment
	for _, r := range m.v.Revisions {
		if r.Revision >= m.at && (r.Content == nil || r.Content.Common != nil) {
			out = append(out, m.f.When(r.Stamp))
		}
	}
	return out
}

// sv16Expired: the entries of a server go whose identity Lease has not been renewed for
// long.
var sv16Expired = law.Deadline[*facts, expiry]{
	Row: law.Row{ID: "SV-16"},
	BoundOf: func(x expiry, _ fact.Moment) time.Duration {
		return x.duration + requirement.MustBound("SV-16", "expiredGoes")
	},
	Over:     func(f *facts) []expiry { return f.expiries() },
	Describe: func(x expiry) law.Entry { return law.Entry{About: x.id, Member: x.f.memberOf(x.id)} },
	Begin:    func(x expiry) []fact.Moment { return []fact.Moment{x.began} },
	Running:  func(x expiry) fact.Signal { return x.f.ableFor("SV-16") },
	Done:     func(x expiry) []fact.Moment { return x.done },
	Breach: func(x expiry, _ fact.Moment, _ *fact.Moment, _ time.Duration) string {
		return fmt.Sprintf("%s still has an entry of %s, whose identity Lease has not been renewed since %s", x.name, x.id, clock(x.renewed))
	},
}

// expiry is that a server's identity Lease ran out while it had entries.
type expiry struct {
	f        *facts
	id, name string
	renewed  time.Time
	duration time.Duration
	began    fact.Moment
	// done is when the Lease was renewed or deleted, or the entries had gone.
	done []fact.Moment
}

func (f *facts) expiries() []expiry {
	var out []expiry
	for _, p := range f.Participants() {
		for i, r := range p.Renewals {
			end := f.renewedOrLeft(p, i)
			at := f.Time(r.Renewed) + int64(r.Duration)
			if r.Duration <= 0 || r.Renewed.IsZero() || at > f.Now || end != nil && end.Latest <= at {
				continue
			}
			x := expiry{f: f, id: p.Server, renewed: r.Renewed, duration: r.Duration, began: fact.Exactly(max(at, 0), r.Seq)}
			if end != nil {
				x.done = append(x.done, *end)
			}
			if x.entries(at) {
				out = append(out, x)
			}
		}
	}
	return out
}

// renewedOrLeft is when the Lease changed next; nil if it did not.
func (f *facts) renewedOrLeft(p *fact.Participation, i int) *fact.Moment {
	var next *fact.Stamp
	if i+1 < len(p.Renewals) {
		next = &p.Renewals[i+1].Stamp
	}
	for j := range p.Spans {
		if left := p.Spans[j].Left; left != nil && left.Revision > p.Renewals[i].Revision && (next == nil || left.Revision < next.Revision) {
			next = left
		}
	}
	if next == nil {
		return nil
	}
	m := f.When(*next)
	return &m
}

// entries notes an entry that the server had at an instant, and when the last of them went;
// it is false if it had none.
func (x *expiry) entries(at int64) bool {
	var last fact.Moment
	found, stays := false, false
	for _, v := range x.f.StorageVersions() {
		has := x.f.hasEntry(v, x.id)
		if has.At(at) == fact.No {
			continue
		}
		if !found {
			x.name, found = v.Name, true
		}
		gone := fact.Moment{Latest: fact.Forever}
		for _, c := range v.Changes(x.id) {
			if m := x.f.When(c.Stamp); !c.Present() && m.Latest > at && gone.Latest == fact.Forever {
				gone = m
			}
		}
		if gone.Latest == fact.Forever {
			x.name, stays = v.Name, true
		} else if gone.Latest > last.Latest {
			last = gone
		}
	}
	if found && !stays {
		x.done = append(x.done, last)
		if len(x.done) == 2 && x.done[1].Latest < x.done[0].Latest {
			x.done[0], x.done[1] = x.done[1], x.done[0]
		}
	}
	return found
}
