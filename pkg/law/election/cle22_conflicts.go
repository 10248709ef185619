package election

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle22: candidates that want different strategies are dealt with in the same way every
// time, and the Lease does not wait for them to agree (KEP-4355, "Strategy").
var cle22 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-22", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "again", Tag: "again"}}},
	Parts: []law.Law[*Facts]{
		law.SameAcross[*Facts]{Samples: choices, Tags: []string{"again"}, Breach: func(first, other law.Sample) string {
			return "of the candidates for " + other.Key + " the strategy " + other.Value + " was chosen, and before it was " + first.Value
		}},
		law.Deadline[*Facts, *Lease]{
			Bound:   "electsWithin",
			Over:    leases((*Lease).isContested),
			Begin:   func(l *Lease) []fact.Moment { return l.Rises(l.undecided()) },
			Perhaps: func(l *Lease) []fact.Moment { return l.MayRise(l.undecided()) },
			Running: func(l *Lease) fact.Signal { return fact.And(l.contested(), l.electable()) },
			Done:    func(l *Lease) []fact.Moment { return l.Rises(l.settled()) },
			Void: func(l *Lease) []law.Void {
				return law.Voids("the candidates want one strategy again", l.Rises(fact.Not(l.contested()))...)
			},
			Lacking: func(l *Lease) string {
				return "the candidates of " + l.Key + " want different strategies, and it had no holder and was left to no third party"
			},
		},
	},
}

// undecided is while candidates want different strategies, and the Lease waits for them.
func (l *Lease) undecided() fact.Signal { return fact.And(l.contested(), fact.Not(l.settled())) }

// settled is while the Lease is held, or left to a third party that knows its strategy.
func (l *Lease) settled() fact.Signal {
	return fact.Or(l.Held(), l.says(func(now *history.Lease) bool {
		return now.Holder == "" && (isThirdParty(now.Strategy) || now.Strategy == notCoordinated)
	}))
}

// isContested is whether candidates of the Lease ever want different strategies.
func (l *Lease) isContested() bool { return !l.foreign() && len(l.contested().Spans(fact.Unknown)) > 0 }

// contested is while candidates of the Lease want different strategies that decide.
func (l *Lease) contested() fact.Signal {
	return cached(l.Facts, "contested", l, func() fact.Signal {
		conflict := func(revision int64) bool { _, is := l.conflict(revision); return is }
		ends := l.turns(conflict, false)
		return fact.Or(fact.Each(l.turns(conflict, true), func(begins fact.Moment) fact.Signal {
			for i := range ends {
				if ends[i].Revision > begins.Revision {
					return fact.Between(begins, &ends[i])
				}
			}
			return fact.From(begins)
		})...)
	})
}

// conflict names the candidates at a revision with what they want, and is whether those of
// the newest version want different strategies. Of different versions the newest decides.
func (l *Lease) conflict(revision int64) (of string, is bool) {
	var newest *statement
	var names []string
	for _, k := range l.standing(revision) {
		said := k.at(revision)
		if l.expired(said, said.At) {
			return "", false
		}
		names = append(names, own(k.Name)+" "+said.Strategy)
		switch {
		case newest == nil || compareVersions(said.Binary, newest.Binary) > 0:
			newest, is = said, false
		case compareVersions(said.Binary, newest.Binary) == 0:
			is = is || said.Strategy != newest.Strategy
		}
	}
	return strings.Join(names, ", "), is
}

// choices are the strategies that were chosen each time that a contested Lease was created.
func choices(f *Facts) []law.Sample {
	var out []law.Sample
	for _, c := range changes(func(c *Change) bool { return c.Before == nil && c.Now != nil && c.isContested() })(f) {
		if of, is := c.conflict(c.Revision); is && c.settled().At(c.When().Latest) == fact.Yes {
			out = append(out, law.Sample{Key: c.Key + " (" + of + ")", Value: c.Now.Strategy, At: c.When()})
		}
	}
	return out
}
