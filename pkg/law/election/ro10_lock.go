package election

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro10: all instances of an elected component, at all releases that run, stand for the same
// Lease (version skew policy: controllers of neighboring releases run side by side). It
// does not see an instance without a candidate (CLE-01) that never leads.
var ro10 = law.Together[*Facts]{
	Row: law.Row{ID: "RO-10", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "same"}}},
	Parts: []law.Law[*Facts]{
		law.SameAcross[*Facts]{
			Samples: (*Facts).stoodFor,
			Breach: func(first, other law.Sample) string {
				return "the " + other.Key + " of " + other.By + " stands for " + other.Value + ", and that of " + first.By + " for " + first.Value
			},
		},
		law.Written[*Facts]{Judge: judgeLocks},
	},
}

// stoodFor are the Leases that each instance stands for as a candidate. CLE-01 judges that
// it is one, and gives it so long for all of its candidates: one that ended sooner may not
// have come to those for which another one stands besides.
func (f *Facts) stoodFor() []law.Sample {
	var out []law.Sample
	all := fact.Where(f.instances(), func(i *instance) bool { return len(i.candidates()) > 0 })
	for _, i := range all {
		keys := i.locks()
		fewer := slices.ContainsFunc(all, func(other *instance) bool {
			more := other.locks()
			beside := slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(more, key) })
			return other.Component == i.Component && len(more) > len(keys) && !beside
		})
		if lived := i.Alive().Lasts(0, f.Now, fact.Unknown); !fewer || lived >= int64(bound("RO-10", "declaresWithin")) {
			out = append(out, law.Sample{Key: i.Component, By: i.Member + " (" + i.Release + ")", Value: strings.Join(keys, ", "), At: i.Started})
		}
	}
	return out
}

// locks are the keys of the Leases that the instance stands for.
func (i *instance) locks() []string {
	keys := fact.Each(i.candidates(), func(k *Candidate) string { return k.For.Key })
	slices.Sort(keys)
	return slices.Compact(keys)
}

// judgeLocks judges the Leases that instances hold, of which one has no candidates: each is led
// at some time, or stood for, by instances of all releases that lead any Lease of the component,
// or is the only one that was held at a time. What has candidates is compared by these, too.
func judgeLocks(f *Facts, l *law.Ledger, _ law.Bounds) {
	locks := leases(func(one *Lease) bool {
		return !one.isCoordinators() && !fact.Harness(one.Key) && len(one.heldByMembers()) > 0 && !one.outlives()
	})(f)
	for i, a := range locks {
		for _, t := range fact.Where(a.heldByMembers(), func(*Tenure) bool { return len(a.candidates) == 0 }) {
			l.Add(law.Of(a.Key, t.Taken.When()).By(t.Member).Met())
		}
		for _, b := range locks[i+1:] {
			disjoint := !slices.ContainsFunc(a.releases(), func(r string) bool { return slices.Contains(b.releases(), r) })
			stood := len(a.candidates) > 0 && len(b.candidates) > 0
			if stood || a.component() != b.component() || !disjoint || len(a.releases()) == 0 || len(b.releases()) == 0 || fact.And(a.Held(), b.Held()).Spans(fact.Yes) == nil {
				continue
			}
			first, second := a.heldByMembers()[0].Taken, b.heldByMembers()[0].Taken
			l.Add(law.Of(b.Key, second.When()).Broken("instances of %s lead by %s, and those of %s by %s at the same time",
				strings.Join(a.releases(), ", "), a.Key, strings.Join(b.releases(), ", "), b.Key).Shown(first.Seq, second.Seq))
		}
	}
}

// heldByMembers are the tenures of instances on members' hosts.
func (l *Lease) heldByMembers() []*Tenure {
	return fact.Where(l.tenures(), func(t *Tenure) bool { return t.Member != "" })
}

// outlives is whether a holder of the Lease on a member's host renewed it after the process of
// the component had ended that ran when it took it: then it is a program of its own.
func (l *Lease) outlives() bool {
	return slices.ContainsFunc(l.heldByMembers(), func(t *Tenure) bool {
		p := l.LastProcess(t.Member, l.component(), t.Taken.At)
		return p != nil && p.Exited != nil && p.Exited.Before(t.Last.When()) == fact.Yes
	})
}

// releases are those of the processes that held the Lease or stood for it.
func (l *Lease) releases() []string {
	stood := fact.Where(l.candidates, (*Candidate).ofMember)
	out := fact.Each(stood, func(k *Candidate) string { return k.process().Release })
	for _, t := range l.heldByMembers() {
		if p := l.LastProcess(t.Member, l.component(), t.Taken.At); p != nil {
			out = append(out, p.Release)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
