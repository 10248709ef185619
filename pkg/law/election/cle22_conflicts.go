package election

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle22: candidates that want different strategies are dealt with in the same way every
// time, and the Lease does not wait for them to agree (KEP-4355, "Strategy").
var cle22 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-22", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "again", Tag: "again"}}},
	Parts: []law.Law[*Facts]{
		law.Written[*Facts]{Judge: judgeChoices},
		law.Deadline[*Facts, *Lease]{
			Row:      law.Row{ID: "CLE-22"},
			Bound:    "electsWithin",
			Over:     (*Facts).contestedLeases,
			Describe: (*Lease).entry,
			Begin:    func(l *Lease) []fact.Moment { return l.facts.Rises(fact.And(l.contested(), fact.Not(l.settled()))) },
			Running:  func(l *Lease) fact.Signal { return fact.And(l.contested(), l.electable()) },
			Done:     func(l *Lease) []fact.Moment { return l.facts.Rises(l.settled()) },
			Void:     (*Lease).agreesAgain,
			Breach: func(l *Lease, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
				return fmt.Sprintf("the candidates of %s want different strategies, and for %s it has no holder and is left to no third party", l.Key, took.Round(time.Second))
			},
		},
	},
}

// settled is while the Lease is held, or left to a third party that knows its strategy.
func (l *Lease) settled() fact.Signal {
	return fact.Or(l.Held(), l.exists(func(now *history.Lease) bool {
		return now.Holder == "" && now.Strategy != "" && now.Strategy != oldest
	}))
}

// agreesAgain is when the candidates that stand no longer want different strategies.
func (l *Lease) agreesAgain() []law.Void {
	var out []law.Void
	for _, m := range l.facts.Rises(fact.Not(l.contested())) {
		out = append(out, law.Void{Moment: m, Why: "the candidates want one strategy again"})
	}
	return out
}

// contestedLeases are those whose candidates ever want different strategies.
func (f *Facts) contestedLeases() []*Lease {
	return f.wantedLeases(func(l *Lease) bool { return len(l.contested().Spans(fact.Yes)) > 0 })
}

// contested is while candidates of the Lease want different strategies that decide.
func (l *Lease) contested() fact.Signal {
	return cached(l.facts, "contested "+l.Key, func() fact.Signal {
		var b fact.Builder
		for _, m := range l.candidateChanges() {
			_, conflict := l.conflict(m.Revision + 1)
			b.Set(m, fact.Of(conflict))
		}
		return b.Signal()
	})
}

// candidateChanges are when candidates of the Lease came, changed or went, in the order of
// revisions.
func (l *Lease) candidateChanges() []fact.Moment {
	var out []fact.Moment
	for _, k := range l.facts.candidatesOf(l.Key) {
		for _, ch := range k.changes {
			out = append(out, l.facts.When(ch.Stamp))
		}
		if gone := k.Gone(); gone != nil {
			out = append(out, *gone)
		}
	}
	slices.SortFunc(out, func(a, b fact.Moment) int { return int(a.Revision - b.Revision) })
	return out
}

// conflict names the candidates at a revision with what they want, and is whether those of
// the newest version want different strategies. Of different versions the newest decides.
func (l *Lease) conflict(revision int64) (of string, conflict bool) {
	newest := ""
	var names []string
	all := l.standing(revision)
	for _, k := range all {
		said := k.at(revision)
		if l.facts.expired(&said.now, said.At) {
			return "", false
		}
		if newest == "" || compareVersions(said.now.Binary, newest) > 0 {
			newest = said.now.Binary
		}
		names = append(names, own(k.Name)+" "+said.now.Strategy)
	}
	wanted := map[string]bool{}
	for _, k := range all {
		if said := k.at(revision).now; compareVersions(said.Binary, newest) == 0 {
			wanted[said.Strategy] = true
		}
	}
	return strings.Join(names, ", "), len(wanted) > 1
}

// judgeChoices judges that of the same candidates the same strategy is chosen each time
// that the Lease is created.
func judgeChoices(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, lease := range f.contestedLeases() {
		chosen := map[string]*Change{}
		for _, c := range lease.changes {
			of, conflict := lease.conflict(c.Revision)
			if c.Before != nil || c.Now == nil || !conflict || lease.settled().At(c.When().Latest) != fact.Yes {
				continue
			}
			switch before := chosen[of]; {
			case before == nil:
				chosen[of] = c
			case before.Now.Strategy != c.Now.Strategy:
				l.Broken(lease.Key, c.When(), law.Evidence(before.Seq, c.Seq), "of the same candidates (%s) the strategy %s was chosen for %s, and before it was %s", of, c.Now.Strategy, lease.Key, before.Now.Strategy)
			default:
				l.Met(lease.Key, c.When(), "again")
			}
		}
	}
}
