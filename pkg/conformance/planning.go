package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Candidate is a scenario that a plan may use.
type Candidate struct {
	Name   string
	Judges []requirement.ID
	// Cost is about how long a run of it takes.
	Cost time.Duration
	// Unplayable is why it cannot be played on the target; nil if it can.
	Unplayable error
	// Digest is the SHA-256 of the scenario as a run with the seed leaves it.
	Digest func(seed int64) (string, error)
}

// lay plans the runs: each scenario that can judge anything of what is asked as often as
// Repeat says, and then more of them until each requirement has the runs that the bound
// takes. Of the scenarios that help, the one goes first that serves most requirements for
// its cost.
func (p *Plan) lay(candidates []Candidate) error {
	candidates, err := p.usable(candidates)
	if err != nil {
		return err
	}
	times := map[string]int{}
	runs := map[requirement.ID]int{}
	add := func(c Candidate, more int) {
		times[c.Name] += more
		for _, id := range c.Judges {
			runs[id] += more
		}
	}
	for _, c := range candidates {
		add(c, p.Asked.Repeat)
	}
	if p.Asked.Rate > 0 {
		owed, err := RunsFor(p.Asked.Rate, p.Asked.Confidence)
		if err != nil {
			return err
		}
		for {
			best, serves := mostUseful(candidates, func(id requirement.ID) bool { return runs[id] < owed })
			if !serves {
				break
			}
			add(best, 1)
		}
	}
	return p.line(candidates, times)
}

// usable are the candidates that judge something of what is asked and can be played, each
// with what it judges of that. The plan names the others that would.
func (p *Plan) usable(all []Candidate) ([]Candidate, error) {
	var out []Candidate
	var why error
	reasons := map[string]bool{}
	for _, c := range all {
		c.Judges = slices.DeleteFunc(slices.Clone(p.Requirements), func(id requirement.ID) bool { return !slices.Contains(c.Judges, id) })
		switch {
		case len(c.Judges) == 0:
		case c.Unplayable != nil:
			p.LeftOut = append(p.LeftOut, LeftOut{c.Name, oneLine(c.Unplayable.Error())})
			why = cmp.Or(why, c.Unplayable)
			reasons[c.Unplayable.Error()] = true
		default:
			out = append(out, c)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(reasons) == 1: // no scenario is to blame
		return nil, why
	case why != nil:
		return nil, fmt.Errorf("no scenario that judges what is asked can be played here: %w", why)
	default:
		return nil, errors.New("no scenario judges what is asked: ask for other requirements with --profile, --focus or --scenario")
	}
}

// mostUseful is the scenario that serves most requirements for its cost.
func mostUseful(candidates []Candidate, owed func(requirement.ID) bool) (best Candidate, found bool) {
	worth := 0.0
	for _, c := range candidates {
		serves := 0
		for _, id := range c.Judges {
			if owed(id) {
				serves++
			}
		}
		if of := float64(serves) / max(c.Cost.Seconds(), 1); of > worth {
			best, worth, found = c, of, true
		}
	}
	return best, found
}

// line writes the lines: the first run of each scenario, then the second of each, so that
// what breaks often shows early. Long runs begin first: where several are played at a time, a
// long one that begins last would end alone.
func (p *Plan) line(candidates []Candidate, times map[string]int) error {
	total := 0
	for _, n := range times {
		total += n
	}
	if total > maxLines {
		return fmt.Errorf("the plan would have %d runs, and at most %d are planned: ask for less with --focus, --rate or --repeat", total, maxLines)
	}
	candidates = slices.Clone(candidates)
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return cmp.Compare(b.Cost, a.Cost) })
	for repeat := range slices.Max(slices.Collect(maps.Values(times))) {
		for _, c := range candidates {
			if repeat >= times[c.Name] {
				continue
			}
			seed := p.Asked.Seed + int64(repeat)
			digest, err := c.Digest(seed)
			if err != nil {
				return err
			}
			p.Lines = append(p.Lines, Line{Number: len(p.Lines) + 1, Scenario: c.Name, ScenarioDigest: digest, Seed: seed, Judges: c.Judges})
		}
	}
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
