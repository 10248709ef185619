package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle03: a healthy candidate answers a ping within the window of an election (KEP-4355,
// "Coordinated Election Controller"). A ping and its answer carry their own times, so no
// recorder is between them.
var cle03 = law.Deadline[*Facts, *Candidate]{
	Row: law.Row{ID: "CLE-03", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "answered"}, {Name: "answeredEach", Each: true},
	}},
	Bound:    "answersWithin",
	Over:     (*Facts).ofMembers,
	Describe: func(c *Candidate) law.Entry { return law.Entry{About: c.Name, Member: c.process().Member} },
	Begin:    (*Candidate).pings,
	Running:  (*Candidate).canAnswer,
	Done:     (*Candidate).answers,
	Void:     (*Candidate).goes,
	Breach: func(c *Candidate, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done == nil {
			return fmt.Sprintf("candidate %s did not answer a ping within %s", c.Name, took.Round(time.Second))
		}
		return fmt.Sprintf("candidate %s answered a ping after %s", c.Name, took.Round(100*time.Millisecond))
	},
}

// ofMembers are the candidates of the members' processes.
func (f *Facts) ofMembers() []*Candidate {
	var out []*Candidate
	for _, c := range f.candidates {
		if c.process() != nil {
			out = append(out, c)
		}
	}
	return out
}

// pings are when the candidate was asked, by the time in the ping, while it could answer.
func (c *Candidate) pings() []fact.Moment {
	var out []fact.Moment
	able := c.canAnswer()
	for i, ch := range c.changes {
		if ch.now.Pinged.IsZero() || i > 0 && ch.now.Pinged.Equal(c.changes[i-1].now.Pinged) || i == 0 && ch.now.Answered() {
			continue
		}
		if at := c.facts.Time(ch.now.Pinged); able.At(at) == fact.Yes {
			out = append(out, fact.Exactly(at, ch.Seq))
		}
	}
	return out
}

// answers are when the candidate renewed after it was asked, by the time in the renewal.
func (c *Candidate) answers() []fact.Moment {
	var out []fact.Moment
	for i, ch := range c.changes {
		if i > 0 && ch.now.Answered() && !ch.now.Renewed.Equal(c.changes[i-1].now.Renewed) {
			out = append(out, fact.Exactly(c.facts.Time(ch.now.Renewed), ch.Seq))
		}
	}
	return out
}

// canAnswer is while nothing stands between the candidate and its answer.
func (c *Candidate) canAnswer() fact.Signal {
	p := c.process()
	if c.Declared().Before(p.Started) == fact.Yes {
		return fact.Constant(fact.No)
	}
	f := c.facts
	return fact.And(p.Running(), f.Serves(p.Member), fact.Not(f.FaultAt(p.Member)), fact.Not(f.Powerless(p.Member)))
}

// goes is when the candidate was deleted, or its process ended.
func (c *Candidate) goes() []law.Void {
	var out []law.Void
	if gone := c.Gone(); gone != nil {
		out = append(out, law.Void{Moment: *gone, Why: "the candidate was deleted"})
	}
	if p := c.process(); p.Exited != nil {
		out = append(out, law.Void{Moment: *p.Exited, Why: "the process ended"})
	}
	return out
}
