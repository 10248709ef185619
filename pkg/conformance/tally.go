package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const (
	// defaultConfidence is that of the printed bounds where none was asked for.
	defaultConfidence = 0.95
	// maxBreaches is how many runs a report names in which a requirement was broken, and
	// maxNamed how many lines one reason names.
	maxBreaches = 20
	maxNamed    = 5
	// holdsYears is how long a result is meant to hold: about as long as Kubernetes maintains a
	// minor release.
	holdsYears = 1
)

// compute makes the report of a campaign. It is a function of the plan, the journal and what
// the bundles say, so that verifying a report is computing it again.
func compute(plan *Plan, planDigest, journalDigest string, triesOf func(Line) []try) *Report {
	r := &Report{
		APIVersion: APIVersion, Kind: Kind, Harness: plan.Harness, Suite: plan.Suite, Plan: planDigest, Journal: journalDigest,
		Target: Target{Topology: plan.Target.Topology, Provider: plan.Target.Provider, Distribution: plan.Target.Distribution, Members: plan.Target.Members, Releases: []string{}},
		Asked:  plan.Asked, LeftOut: plan.LeftOut, Counts: map[check.Verdict]int{}, Requirements: []Requirement{}, Lines: []LineReport{},
	}
	t := tally{plan: plan, of: map[requirement.ID]*Requirement{}, open: map[requirement.ID][]string{}}
	for _, id := range plan.Requirements {
		t.requirement(id)
	}
	for _, line := range plan.Lines {
		tries := triesOf(line)
		t.line(line, tries)
		r.line(plan, line, tries)
	}
	verdicts := map[requirement.ID]check.Verdict{}
	var results []check.Result
	for _, req := range requirement.All() {
		if of, there := t.of[req.ID]; there {
			t.weigh(of)
			r.Requirements = append(r.Requirements, *of)
			r.Counts[of.Verdict]++
			verdicts[req.ID] = of.Verdict
			results = append(results, check.Result{ID: req.ID, Verdict: of.Verdict})
		}
	}
	r.Verdict = check.Worst(results)
	r.Profiles = report.Claimed(requirement.Profiles(), plan.Requirements, verdicts)
	r.holds()
	return r
}

// holds says until when the result is meant to hold.
func (r *Report) holds() {
	r.Holds.Unless = []string{
		"the target gets another release or other settings",
		fmt.Sprintf("evenkeel judges by another suite than %.12s", r.Suite),
	}
	if last, err := time.Parse(time.RFC3339, r.Ended); err == nil {
		r.Holds.Until = last.AddDate(holdsYears, 0, 0).Format(time.DateOnly)
	}
}

// line adds a line of the plan to the report.
func (r *Report) line(plan *Plan, line Line, tries []try) {
	out := LineReport{Line: line.Number, Scenario: line.Scenario, Seed: line.Seed, Verdict: verdictOf(plan, line, tries)}
	for _, t := range tries {
		out.Tries = append(out.Tries, t.report(line))
		if t.outcome == nil {
			continue
		}
		r.Implementation = t.implementation
		if r.Began == "" || t.date < r.Began {
			r.Began = t.date
		}
		r.Ended = max(r.Ended, t.date)
		for _, release := range t.releases {
			if !slices.Contains(r.Target.Releases, release) {
				r.Target.Releases = append(r.Target.Releases, release)
			}
		}
	}
	r.Lines = append(r.Lines, out)
	r.Runs.Planned++
	r.Runs.Tries += len(tries)
	switch {
	case refused(tries):
		r.Runs.Refused++
	case out.Verdict == check.Fail:
		r.Runs.Broken++
	case !over(plan, line, tries):
		r.Runs.Unplayed++
	case out.Verdict == check.Inconclusive:
		r.Runs.Open++
	default:
		r.Runs.Kept++
	}
}

// report is a try as the report lists it.
func (t try) report(line Line) TryReport {
	if t.outcome == nil {
		out := TryReport{Verdict: check.Inconclusive, Why: t.Failed}
		if t.Refused != "" {
			out.Verdict, out.Why = check.Skipped, t.Refused
		}
		return out
	}
	out := TryReport{Run: t.run, Date: t.date, Verdict: t.verdict, Bundle: t.evidence}
	for _, id := range t.order {
		if t.results[id].verdict == check.Fail {
			out.Broken = append(out.Broken, id)
		}
	}
	for _, id := range line.Judges {
		if unsettled(t.of(id).verdict) {
			out.Open = append(out.Open, id)
		}
	}
	if first := slices.Concat(out.Broken, out.Open); len(first) > 0 {
		out.Why = fmt.Sprintf("%s: %s", first[0], oneLine(t.of(first[0]).reason))
	}
	return out
}

// unsettled is whether a verdict says nothing of the requirement, so that a run is worth
// another try.
func unsettled(v check.Verdict) bool { return v == check.Inconclusive || v == check.Skipped }

func refused(tries []try) bool {
	return slices.ContainsFunc(tries, func(t try) bool { return t.Refused != "" })
}

// merged is what the tries of a line say together of a requirement: a breach in any of them,
// else what the last conclusive one says.
func merged(id requirement.ID, tries []try) check.Verdict {
	out := check.Inconclusive
	for _, t := range tries {
		if t.outcome == nil {
			continue
		}
		switch v := t.of(id).verdict; {
		case v == check.Fail:
			return check.Fail
		case !unsettled(v) && (out == check.Inconclusive || v == check.Deviation):
			out = v
		}
	}
	return out
}

// openOf are the requirements of a line that no try has settled.
func openOf(line Line, tries []try) []requirement.ID {
	return slices.DeleteFunc(slices.Clone(line.Judges), func(id requirement.ID) bool { return !unsettled(merged(id, tries)) })
}

// verdictOf is the verdict of all tries of a line together.
func verdictOf(plan *Plan, line Line, tries []try) check.Verdict {
	switch {
	case len(tries) == 0 || refused(tries):
		return check.Skipped
	case slices.ContainsFunc(tries, func(t try) bool { return t.outcome != nil && t.verdict == check.Fail }):
		return check.Fail
	case len(openOf(line, tries)) > 0:
		return check.Inconclusive
	}
	return check.Pass
}

// tally counts what all runs say of each requirement.
type tally struct {
	plan *Plan
	of   map[requirement.ID]*Requirement
	// open are the reasons of lines that stayed open.
	open map[requirement.ID][]string
}

func (t *tally) requirement(id requirement.ID) *Requirement {
	if of, there := t.of[id]; there {
		return of
	}
	of := &Requirement{ID: id, Unlisted: !slices.Contains(t.plan.Requirements, id)}
	if req, ok := requirement.Lookup(id); ok {
		of.Level, of.Promise = req.Level, req.Promise
	}
	t.of[id] = of
	return of
}

// line counts a line of the plan.
func (t *tally) line(line Line, tries []try) {
	ids := slices.Clone(line.Judges)
	for _, one := range tries {
		if one.outcome == nil {
			continue
		}
		for _, id := range one.order {
			if one.results[id].verdict == check.Fail && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, id := range ids {
		of := t.requirement(id)
		listed := slices.Contains(line.Judges, id)
		if listed {
			of.Tested.Planned++
		}
		switch v := merged(id, tries); {
		case v == check.Fail:
			of.Tested.Broken++
		case refused(tries):
			of.Tested.Refused++
		case v == check.Pass:
			of.Tested.Kept++
		case v == check.Deviation:
			of.Tested.Deviated++
		case v == check.NotApplicable:
			of.Tested.NotApplicable++
		default:
			of.Tested.Open++
			t.open[id] = append(t.open[id], whyOpen(line, id, tries))
		}
		t.obligations(of, line, tries)
	}
}

// whyOpen says why a line says nothing of a requirement.
func whyOpen(line Line, id requirement.ID, tries []try) string {
	at := fmt.Sprintf("line %d (%s, seed %d)", line.Number, line.Scenario, line.Seed)
	if len(tries) == 0 {
		return at + " was not played"
	}
	last := tries[len(tries)-1]
	why := last.Failed
	if last.outcome != nil {
		why = last.of(id).reason
	}
	return fmt.Sprintf("%s stayed open after %d tries: %s", at, len(tries), oneLine(why))
}

// obligations adds up what the tries of a line count of a requirement.
func (t *tally) obligations(of *Requirement, line Line, tries []try) {
	for _, one := range tries {
		if one.outcome == nil {
			continue
		}
		res, there := one.results[of.ID]
		if !there {
			continue
		}
		c := res.obligations
		of.Tested.Met += c.Met
		of.Tested.Late += c.Late + c.Broken
		of.Tested.Unclear += c.Unclear + c.Open
		of.Tested.Excused += c.Excused
		of.Tested.Superseded += c.Superseded
		of.Tested.Observations += res.seen
		if res.verdict == check.Fail && len(of.Breaches) < maxBreaches {
			of.Breaches = append(of.Breaches, Breach{Line: line.Number, Try: one.Try, Bundle: one.evidence, Message: oneLine(res.reason), Events: res.events})
		}
	}
}

// weigh gives a requirement its verdict. A breach in one run is a fail, however many others
// kept the promise; a run that says nothing where it was to judge leaves it open.
func (t *tally) weigh(of *Requirement) {
	n := of.Tested
	confidence := t.plan.Asked.Confidence
	if confidence == 0 {
		confidence = defaultConfidence
	}
	bound := UpperBound(n.Broken, n.Kept+n.Broken, confidence)
	if n.Kept+n.Broken > 0 {
		of.MayFail = &MayFail{Broken: n.Broken, Runs: n.Kept + n.Broken, AtMost: upTo(bound), Confidence: upTo(confidence)}
	}
	reason := func(format string, args ...any) { of.Reasons = append(of.Reasons, fmt.Sprintf(format, args...)) }
	switch {
	case n.Broken > 0:
		of.Verdict = check.Fail
		reason("broken in %d of %d conclusive runs", n.Broken, n.Kept+n.Broken)
	case n.Planned == 0:
		of.Verdict = check.Skipped
		reason("no scenario of the plan judges it")
	case n.Refused == n.Planned:
		of.Verdict = check.Skipped
		reason("no scenario that judges it can be played on the target")
	case n.Open > 0:
		of.Verdict = check.Inconclusive
		of.Reasons = append(of.Reasons, named(t.open[of.ID], "lines")...)
	case n.Deviated > 0:
		of.Verdict = check.Deviation
		reason("in %d runs it was broken as the distribution documents", n.Deviated)
	case n.Kept == 0:
		of.Verdict = check.NotApplicable
		reason("the target has nothing that it is about")
	case t.plan.Asked.Rate > 0 && bound > t.plan.Asked.Rate:
		of.Verdict = check.Inconclusive
		reason("%d clean runs bound it at %s, and %s were asked for", n.Kept, upTo(bound), upTo(t.plan.Asked.Rate))
	default:
		of.Verdict = check.Pass
	}
}

// named are the first few of what there is, such as lines, and how many more there are.
func named(all []string, what string) []string {
	if more := len(all) - maxNamed; more > 0 {
		return append(slices.Clone(all[:maxNamed]), fmt.Sprintf("and %d more %s", more, what))
	}
	return all
}
