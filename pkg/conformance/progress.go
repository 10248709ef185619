package conformance

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// Progress is how far a campaign is.
type Progress struct {
	Lines    []LineProgress
	Parallel int
	// Shard that is played, such as 1/4; empty where it is all of the plan.
	Shard string
}

// LineProgress is one line of the plan.
type LineProgress struct {
	Line Line
	// Over is whether nothing is left to be played of it.
	Over    bool
	Verdict check.Verdict
	// Refused is whether the target cannot be played on with the scenario.
	Refused bool
	Tries   int
	// Seconds that its tries took, of those that have ended.
	Seconds int
	// Started is whether a try was started and has not ended.
	Started bool
}

func (c *campaign) progress() Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.folder.progress(c.parallel)
}

func (f *folder) progress(parallel int) Progress {
	p := Progress{Parallel: parallel, Shard: f.shard.String()}
	for _, line := range f.plan.Lines {
		if !f.shard.has(line.Number) {
			continue
		}
		tries := f.tries(line)
		lp := LineProgress{Line: line, Over: over(f.plan, line, tries), Tries: len(tries), Verdict: verdictOf(f.plan, line, tries), Refused: refused(tries)}
		for _, t := range tries {
			lp.Seconds += t.Seconds
		}
		_, lp.Started = f.state.pending[line.Number]
		p.Lines = append(p.Lines, lp)
	}
	return p
}

// count is how many lines are over, and how many there are.
func (p Progress) count() (done, of int) {
	for _, l := range p.Lines {
		if l.Over {
			done++
		}
	}
	return done, len(p.Lines)
}

// Left estimates how long the rest takes: what a run of the same scenario took, or of any
// scenario, or without any run what the cost says that a scenario has.
func (p Progress) Left(cost func(scenario string) time.Duration) time.Duration {
	type mean struct{ seconds, runs int }
	of, all := map[string]mean{}, mean{}
	expected := 0.0 // by their costs, what the runs that have ended would have taken
	for _, l := range p.Lines {
		if l.Tries == 0 || l.Seconds == 0 {
			continue
		}
		m := of[l.Line.Scenario]
		of[l.Line.Scenario] = mean{m.seconds + l.Seconds, m.runs + 1}
		all = mean{all.seconds + l.Seconds, all.runs + 1}
		expected += cost(l.Line.Scenario).Seconds()
	}
	slower := 1.0 // than their costs say
	if all.runs > 0 && expected > 0 {
		slower = float64(all.seconds) / expected
	}
	total := 0.0
	for _, l := range p.Lines {
		if l.Over {
			continue
		}
		if m := of[l.Line.Scenario]; m.runs > 0 {
			total += float64(m.seconds) / float64(m.runs)
		} else {
			total += cost(l.Line.Scenario).Seconds() * slower
		}
	}
	return time.Duration(total / float64(max(p.Parallel, 1)) * float64(time.Second))
}

// Over is whether nothing is left to be played.
func (p Progress) Over() bool {
	done, of := p.count()
	return done == of
}
