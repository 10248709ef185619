package election

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle01: each component creates a LeaseCandidate when it is ready to lead, which names its
// Lease and its versions (KEP-4355, "Component Lease Candidates").
var cle01 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-01", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "declared", Tag: "declared"}, {Name: "declaredEach", Tag: "declared", Each: true}, {Name: "compared", Tag: "compared"},
	}},
	Parts: []law.Law[*Facts]{
		law.Deadline[*Facts, *instance]{
			Over:     (*Facts).instances,
			Describe: func(i *instance) law.Entry { return law.Entry{About: i.name(), Member: i.Member} },
			Begin:    (*instance).withoutCandidate,
			BoundOf:  (*instance).declares,
			Running:  (*instance).unhindered,
			Done:     (*instance).declarations,
			Void:     (*instance).ends,
			Breach: func(i *instance, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
				return fmt.Sprintf("the %s of %s has run for %s and is no candidate", i.Component, i.Member, took.Round(time.Second))
			},
			Tag: func(i *instance, began, _ fact.Moment) []string {
				if began.Seq == i.Started.Seq {
					return []string{"declared"}
				}
				return nil
			},
		},
		law.Written[*Facts]{Judge: candidateVersions},
	},
}

// declares is in which time an instance has to be a candidate: soon after its start, or,
// when its candidate was deleted, by when it renews next.
func (i *instance) declares(began fact.Moment) time.Duration {
	if began.Seq == i.Started.Seq {
		return bound("CLE-01", "declaresWithin")
	}
	return bound("CLE-01", "declaresAgainWithin")
}

// candidateVersions compares what each candidate says of its versions with the release of
// its process. The providers have every component behave like the release that it is.
func candidateVersions(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, c := range f.candidates {
		p := c.process()
		if p == nil || p.Release == "" {
			continue
		}
		said, release := c.changes[0].now, strings.TrimPrefix(p.Release, "v")
		switch {
		case minor(said.Binary) != minor(release) && c.ofProcessBefore(p):
			l.Excused(c.Name, c.Declared(), "it may be the candidate of the process before")
		case said.Binary != release && !strings.HasPrefix(said.Binary, minor(release)+"."):
			l.Broken(c.Name, c.Declared(), law.Evidence(p.Started.Seq, c.changes[0].Seq), "candidate %s says that it is %q, and %s runs %s", c.Name, said.Binary, p.Member, p.Release)
		case said.Emulation != "" && minor(said.Emulation) != minor(release):
			l.Broken(c.Name, c.Declared(), law.Evidence(p.Started.Seq, c.changes[0].Seq), "candidate %s says that it behaves like %q, and %s runs %s and was not told to", c.Name, said.Emulation, p.Member, p.Release)
		default:
			l.MetBy(p.Member, c.Name, c.Declared(), "compared")
		}
	}
}

// ofProcessBefore is whether a candidate may be that of the process before its own: it
// says the release of that one, and may have been created before its own started.
func (c *Candidate) ofProcessBefore(p *fact.Process) bool {
	return p.Before != nil && p.Before.Release != "" && minor(c.changes[0].now.Binary) == minor(p.Before.Release) &&
		p.Started.Before(c.Declared()) != fact.Yes
}

// instance is a process of a component that takes part in coordination.
type instance struct {
	*fact.Process
	facts *Facts
}

// name is what an instance is called in a ledger.
func (i *instance) name() string {
	return fmt.Sprintf("%s of %s, process %d", i.Component, i.Member, i.Instance)
}

// instances are the processes of components of which any instance ever was a candidate,
// and that were started with coordination.
func (f *Facts) instances() []*instance {
	enrolled := map[string]bool{}
	for _, c := range f.candidates {
		if p := c.process(); p != nil {
			enrolled[p.Component] = true
		}
	}
	var out []*instance
	for _, p := range f.AllProcesses() {
		if enrolled[p.Component] && !p.Without(history.FeatureCoordination) {
			out = append(out, &instance{p, f})
		}
	}
	return out
}

// candidates are those of the instance.
func (i *instance) candidates() []*Candidate {
	var out []*Candidate
	for _, c := range i.facts.candidates {
		if c.process() == i.Process {
			out = append(out, c)
		}
	}
	return out
}

// withoutCandidate is when the instance has no candidate: since its start, and since its
// last candidate was deleted.
func (i *instance) withoutCandidate() []fact.Moment {
	out := []fact.Moment{i.Started}
	all := i.candidates()
	for _, c := range all {
		gone := c.Gone()
		if gone == nil || i.Alive().During(*gone) == fact.No {
			continue
		}
		if others := (*Lease).standing(&Lease{facts: i.facts, Key: c.Lease}, gone.Revision+1); !containsProcess(others, i.Process) {
			out = append(out, *gone)
		}
	}
	return out
}

func containsProcess(candidates []*Candidate, p *fact.Process) bool {
	for _, c := range candidates {
		if c.process() == p {
			return true
		}
	}
	return false
}

func (i *instance) declarations() []fact.Moment {
	var out []fact.Moment
	for _, c := range i.candidates() {
		out = append(out, c.Declared())
	}
	return out
}

// unhindered is while the instance runs beside an API server that serves, with no fault at
// its member.
func (i *instance) unhindered() fact.Signal {
	return fact.And(i.Running(), i.facts.Serves(i.Member), fact.Not(i.facts.FaultAt(i.Member)))
}

// ends is when the process of the instance ended.
func (i *instance) ends() []law.Void {
	if i.Exited == nil {
		return nil
	}
	return []law.Void{{Moment: *i.Exited, Why: "the process ended"}}
}
