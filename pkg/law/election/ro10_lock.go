package election

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro10: all instances of an elected component, at all releases that run, stand for the same
// Lease (version skew policy: controllers of neighbouring releases run side by side). It
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

// stoodFor are the Leases that each instance stands for as a candidate.
func (f *Facts) stoodFor() []law.Sample {
	var out []law.Sample
	for _, i := range f.instances() {
		var leases []string
		for _, c := range i.candidates() {
			if !slices.Contains(leases, c.Lease) {
				leases = append(leases, c.Lease)
			}
		}
		if len(leases) == 0 {
			continue // CLE-01 judges that
		}
		slices.Sort(leases)
		out = append(out, law.Sample{Key: i.Component, By: i.Member + " (" + i.Release + ")", Value: strings.Join(leases, ", "), At: i.Started})
	}
	return out
}

// judgeLocks judges the Leases that instances hold without candidates: each is led at
// some time by instances of all releases that lead any Lease of the component, or is the
// only one that was held at a time.
func judgeLocks(f *Facts, l *law.Ledger, _ law.Bounds) {
	locks := f.sorted(func(one *Lease) bool {
		return one.Key != coordinators && !fact.Harness(one.Key) && len(f.candidatesOf(one.Key)) == 0 && len(one.heldByMembers()) > 0
	})
	for i, a := range locks {
		for _, t := range a.heldByMembers() {
			l.MetBy(f.MemberOf(t.Holder), a.Key, t.Taken.When())
		}
		for _, b := range locks[i+1:] {
			if componentOf(a.Key) != componentOf(b.Key) || !disjoint(a.releases(), b.releases()) {
				continue
			}
			both := fact.And(a.Held(), b.Held()).Spans(fact.Yes)
			if len(both) == 0 {
				continue
			}
			first, second := a.heldByMembers()[0], b.heldByMembers()[0]
			l.Broken(b.Key, second.Taken.When(), law.Evidence(first.Taken.Seq, second.Taken.Seq), "instances of %s lead by %s, and those of %s by %s at the same time",
				strings.Join(a.releases(), ", "), a.Key, strings.Join(b.releases(), ", "), b.Key)
		}
	}
}

// heldByMembers are the tenures of instances on members' hosts.
func (l *Lease) heldByMembers() []*Tenure {
	return slices.DeleteFunc(slices.Clone(l.tenures()), func(t *Tenure) bool { return l.facts.MemberOf(t.Holder) == "" })
}

// releases are those of the processes that held the Lease.
func (l *Lease) releases() []string {
	var out []string
	for _, t := range l.heldByMembers() {
		p := l.facts.LastProcess(l.facts.MemberOf(t.Holder), componentOf(l.Key), t.Taken.At)
		if p != nil && !slices.Contains(out, p.Release) {
			out = append(out, p.Release)
		}
	}
	slices.Sort(out)
	return out
}

func disjoint(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}
