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
	// Started is the bundle of a try that was started and has not ended, below the campaign; empty
	// where there is none.
	Started string
}

func (c *campaign) progress() Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.folder.progress(c.pace.now())
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
		lp.Started = f.state.pending[line.Number].Bundle
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

// Left estimates how long the rest takes.
func (p Progress) Left(cost func(scenario string) time.Duration) time.Duration {
	expected := p.estimate(cost)
	var total time.Duration
	for _, l := range p.Lines {
		if !l.Over {
			total += expected(l.Line.Scenario)
		}
	}
	return total / time.Duration(max(p.Parallel, 1))
}

// Expected estimates how long a run of a scenario takes.
func (p Progress) Expected(scenario string, cost func(scenario string) time.Duration) time.Duration {
	return p.estimate(cost)(scenario)
}

// estimate estimates how long runs take: what a run of the same scenario took, or else what
// the cost says that it takes, corrected by how much slower the runs of all scenarios were.
func (p Progress) estimate(cost func(scenario string) time.Duration) func(scenario string) time.Duration {
	type mean struct{ seconds, runs int }
	of, took := map[string]mean{}, 0.0
	byCost := 0.0 // what the runs that have ended would have taken by their costs
	for _, l := range p.Lines {
		if l.Tries == 0 || l.Seconds == 0 {
			continue
		}
		m := of[l.Line.Scenario]
		of[l.Line.Scenario] = mean{m.seconds + l.Seconds, m.runs + 1}
		took += float64(l.Seconds)
		byCost += cost(l.Line.Scenario).Seconds()
	}
	slower := 1.0
	if took > 0 && byCost > 0 {
		slower = took / byCost
	}
	return func(scenario string) time.Duration {
		if m := of[scenario]; m.runs > 0 {
			return time.Duration(float64(m.seconds) / float64(m.runs) * float64(time.Second))
		}
		return time.Duration(cost(scenario).Seconds() * slower * float64(time.Second))
	}
}

// Over is whether nothing is left to be played.
func (p Progress) Over() bool {
	done, of := p.count()
	return done == of
}
