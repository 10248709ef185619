package discovery

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad18: when the aggregated server is back its group-version is current again within a
// bound (KEP-3352: aggregated servers are contacted "on a set interval").
var ad18 = law.Deadline[*Facts, recovery]{
	Row:   law.Row{ID: "AD-18", Sources: readiness, Needs: each("back")},
	Bound: "recoversWithin", Over: (*Facts).recoveries,
	Begin: law.Once(func(r recovery) fact.Moment {
		return fact.Exactly(r.outage.until, r.member.facts.Evidence(r.outage.until))
	}),
	Running: func(r recovery) fact.Signal { return r.member.able() },
	Looks:   func(r recovery) []law.Look { return r.member.shown(r.outage.until, r.current) },
	Void: func(r recovery) []law.Void {
		return law.Voids("the server misbehaved again, or the APIService was changed", fact.Exactly(r.over, 0))
	},
	Lacking: func(r recovery) string {
		return fmt.Sprintf("the server of %s answered, and %s does not call it current", r.groupVersion, r.member.name)
	},
	Breaks: func(r recovery) (string, []int64) {
		k := r.member.goesBack(r.outage.until, r.over, recoversWithin(), func(k *answer) bool {
			return r.current(k) || r.member.facts.changing(r.group, k.from, k.at)
		})
		if k == nil {
			return "", nil
		}
		return fmt.Sprintf("%s after the server of %s answered again, %s does not call it current", lasted(r.outage.until, k.from), r.groupVersion, r.member.name), []int64{r.outage.seq, k.seq}
	},
	Tag: func(r recovery, _, _ fact.Moment) []string {
		if slices.ContainsFunc(r.member.between(r.outage.since, r.outage.until), func(k *answer) bool { return k.told().stale(r.groupVersion) }) {
			return []string{"back"}
		}
		return nil
	},
}

// recovery is the end of an outage at a member. The server does not answer again where it
// goes over to another misbehaviour.
type recovery struct {
	groupVersion
	member *member
	outage *outage
	// over is when it may cease to be current.
	over int64
}

// Entry is the obligation.
func (r recovery) Entry() law.Entry {
	return law.Entry{About: fmt.Sprintf("%s since event %d", r.groupVersion, r.outage.seq), Member: r.member.name}
}

func (r recovery) current(k *answer) bool {
	return k.from >= r.outage.until && k.told() != nil && k.listing.current(r.groupVersion)
}

func (f *Facts) recoveries() (out []recovery) {
	for _, o := range f.outages {
		next := f.next(o)
		if o.until == fact.Forever || next != nil && o.turns(next) {
			continue
		}
		for _, d := range fact.Where(f.definitionsOf(o.group), func(d *definition) bool { return d.remote && d.certain(o.until) != nil }) {
			over := d.certain(o.until).over()
			if next != nil {
				over = min(over, next.since)
			}
			for _, version := range d.certain(o.until).versions {
				for _, m := range f.all() {
					out = append(out, recovery{groupVersion{o.group, version}, m, o, over})
				}
			}
		}
	}
	return out
}
