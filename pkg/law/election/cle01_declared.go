package election

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// cle01: each component creates a LeaseCandidate when it is ready to lead, which names its
// Lease and its versions (KEP-4355, "Component Lease Candidates").
var cle01 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-01", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "declared", Tag: "declared"}, {Name: "declaredEach", Tag: "declared", Each: true}, {Name: "compared", Tag: "compared"},
	}},
	Parts: []law.Law[*Facts]{
		law.Deadline[*Facts, *instance]{
			Over:    (*Facts).instances,
			Begin:   (*instance).withoutCandidate,
			BoundOf: (*instance).declares,
			Running: (*instance).able,
			Done:    (*instance).declarations,
			// What the process before declared may be all that there is.
			Unrelated: true,
			Void:      func(i *instance) []law.Void { return law.Ended(i.Process) },
			Lacking: func(i *instance) string {
				return fmt.Sprintf("the %s of %s ran and was no candidate", i.Component, i.Member)
			},
			Tag: func(i *instance, began, _ fact.Moment) []string {
				if began.Seq == i.Started.Seq {
					return []string{"declared"}
				}
				return nil
			},
		},
		law.Each[*Facts, declaration]{Over: (*Facts).declarations, End: declaration.versions},
	},
}

// declaration is the first statement of a process in a candidate.
type declaration struct {
	*Candidate
	by   *fact.Process
	said *statement
}

func (f *Facts) declarations() (out []declaration) {
	for _, k := range candidates((*Candidate).ofMember)(f) {
		var last *fact.Process
		for _, s := range k.said {
			if by, certain := k.writer(s); s.renewed && by != last && (certain || s == k.said[0]) {
				out, last = append(out, declaration{k, by, s}), by
			}
		}
	}
	return out
}

// versions compares what a candidate says of its versions with the release of its process,
// and with the version that this emulates.
func (d declaration) versions(_ law.Bounds) law.Entry {
	k, p, said := d.Candidate, d.by, d.said
	e := law.Of(k.Name, k.when(said)).By(p.Member)
	switch runs := release.Parse(p.Release); {
	case runs.Binary == "":
		return e
	case says(said, runs):
		return e.Met("compared")
	case p.Before != nil && says(said, release.Parse(p.Before.Release)) && p.Started.Before(k.when(said)) != fact.Yes:
		return e.Excused("it may be the candidate of the process before")
	}
	return e.Broken("candidate %s says that it is %q, behaves like %q, and %s runs %s", k.Name, said.Binary, said.Emulation, p.Member, p.Release).
		Shown(p.Started.Seq, said.Seq)
}

// says is whether a candidate says that it is of a release and behaves like what that emulates.
func says(said *statement, runs release.Played) bool {
	return sameMinor(said.Binary, runs.Binary) && sameMinor(cmp.Or(said.Emulation, said.Binary), runs.Behaves())
}

// instance is a process of a component that takes part in coordination.
type instance struct {
	*fact.Process
	facts *Facts
}

// instances are the processes of components of which any instance ever was a candidate,
// and that were started with coordination.
func (f *Facts) instances() []*instance {
	enrolled := fact.Each(candidates((*Candidate).ofMember)(f), func(k *Candidate) string { return k.process().Component })
	all := fact.Where(f.AllProcesses(), func(p *fact.Process) bool {
		return slices.Contains(enrolled, p.Component) && !p.Without(history.FeatureCoordination)
	})
	return fact.Each(all, func(p *fact.Process) *instance { return &instance{p, f} })
}

// Entry is an obligation of the instance.
func (i *instance) Entry() law.Entry { return processEntry(i.Process) }

func processEntry(p *fact.Process) law.Entry {
	return law.Of(fmt.Sprintf("%s of %s, process %d", p.Component, p.Member, p.Instance), p.Started).By(p.Member)
}

func (i *instance) able() fact.Signal { return i.facts.able(i.Process) }

// candidates are those of the instance: its own, and those that it goes on with.
func (i *instance) candidates() []*Candidate {
	return candidates(func(k *Candidate) bool { return k.process() == i.Process || k.keptBy(i.Process) })(i.facts)
}

// declarations are when the instance declared its candidates, and when it renewed those of a
// process before it. What it certainly wrote it wrote after its start; and where it may go on with
// a candidate, that may have been its own from its start on.
func (i *instance) declarations() (out []fact.Moment) {
	for _, k := range candidates((*Candidate).ofMember)(i.facts) {
		own := k.process() == i.Process
		for _, s := range k.said {
			if by, certain := k.writer(s); by == i.Process && s.renewed && own == (s == k.said[0]) {
				m := k.when(s)
				if certain {
					m.Earliest = max(m.Earliest, i.Started.Latest)
					m.Latest = max(m.Latest, m.Earliest)
				}
				out = append(out, m)
			}
		}
		if slices.Contains(k.keepers(), i.Process) {
			out = append(out, fact.Moment{Earliest: i.Started.Earliest - 1, Latest: i.Started.Latest + 1, Seq: i.Started.Seq})
		}
	}
	return out
}

// withoutCandidate is when the instance has no candidate: since its start, and since one
// was deleted.
func (i *instance) withoutCandidate() []fact.Moment {
	out := []fact.Moment{i.Started}
	for _, k := range i.candidates() {
		if gone := k.Gone(); gone != nil && i.Alive().During(*gone) != fact.No {
			out = append(out, *gone)
		}
	}
	return out
}

// declares is in which time an instance has to be a candidate: soon after its start, or,
// when its candidate was deleted, by when it renews next.
func (i *instance) declares(began fact.Moment) time.Duration {
	if began.Seq == i.Started.Seq {
		return bound("CLE-01", "declaresWithin")
	}
	return bound("CLE-01", "declaresAgainWithin")
}
