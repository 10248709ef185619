package report

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// results are one for each requirement, with all that its verdict stands on.
func (v *validation) results() {
	seen := map[requirement.ID]bool{}
	for _, res := range v.report.Results {
		at := fmt.Sprintf("results[%s]", res.ID)
		req, known := requirement.Lookup(res.ID)
		switch {
		case seen[res.ID]:
			v.broken("%s is there twice", at)
		case !known:
			v.broken("%s: the catalog has no such requirement", at)
		case res.Level != req.Level || res.Promise != req.Promise:
			v.broken("%s: the catalog has another level or promise for it", at)
		}
		seen[res.ID] = true
		v.result(at, res)
	}
	for _, id := range v.report.NotJudged {
		at := fmt.Sprintf("notJudged[%s]", id)
		if _, known := requirement.Lookup(id); !known {
			v.broken("%s: the catalog has no such requirement", at)
		}
		if seen[id] {
			v.broken("%s: there is a result for it, or it is there twice", at)
		}
		seen[id] = true
	}
}

func (v *validation) result(at string, res check.Result) {
	v.breaches(at, res)
	if res.Unlisted && res.Verdict != check.Fail {
		v.broken("%s: it is %s, and unlisted: of unlisted requirements only a fail is reported", at, res.Verdict)
	}
	switch res.Verdict {
	case check.Pass:
		v.seenEnough(at, res)
		v.endedWell(at, res)
		if len(res.Reasons) > 0 || len(res.Deviations) > 0 {
			v.broken("%s: it is a pass with reasons against it or with deviations", at)
		}
	case check.Deviation:
		v.seenEnough(at, res)
		v.endedWell(at, res)
		v.deviates(at, res)
		if len(res.Reasons) > 0 {
			v.broken("%s: it is a deviation with reasons against it", at)
		}
	case check.Fail:
		if len(res.Violations) == 0 {
			v.broken("%s: it is a fail without a violation", at)
		} else if !slices.ContainsFunc(res.Violations, func(b check.Violation) bool { return len(b.Evidence) > 0 }) {
			v.broken("%s: it is a fail without evidence: no violation names an event of the history", at)
		}
	case check.Inconclusive, check.Skipped, check.NotApplicable:
		if len(res.Reasons) == 0 {
			v.broken("%s: it is %s without a reason", at, res.Verdict)
		}
	default:
		v.broken("%s: there is no verdict %q", at, res.Verdict)
	}
}

// breaches are there in a fail alone.
func (v *validation) breaches(at string, res check.Result) {
	if res.Verdict != check.Fail && (len(res.Violations) > 0 || res.ViolationCount != 0) {
		v.broken("%s: it is %s with violations", at, res.Verdict)
	}
	if int64(len(res.Violations)) > res.ViolationCount {
		v.broken("%s: it has %d violations and counts %d", at, len(res.Violations), res.ViolationCount)
	}
	for i, one := range res.Violations {
		v.violation(fmt.Sprintf("%s.violations[%d]", at, i), one)
	}
	for _, d := range res.Deviations {
		if int64(len(d.Examples)) > d.Count {
			v.broken("%s.deviations[%s]: it has %d examples and counts %d", at, d.ID, len(d.Examples), d.Count)
		}
		for i, one := range d.Examples {
			v.violation(fmt.Sprintf("%s.deviations[%s].examples[%d]", at, d.ID, i), one)
		}
	}
}

// violation says something, and names events that there are.
func (v *validation) violation(at string, one check.Violation) {
	if one.Message == "" {
		v.broken("%s says nothing", at)
	}
	for _, event := range one.Evidence {
		// Where lines are missing, events have higher numbers than there are of them.
		if event < 1 || event > v.report.Events && len(v.report.Damage) == 0 {
			v.broken("%s: the history has no event %d", at, event)
		}
	}
}

// seenEnough is what a green verdict stands on.
func (v *validation) seenEnough(at string, res check.Result) {
	if len(v.report.Doubts) > 0 {
		v.broken("%s: it is %s, and nothing of this run can be trusted to be kept", at, res.Verdict)
	}
	if !slices.ContainsFunc(res.Observations, func(o check.Observation) bool { return o.Seen > 0 }) {
		v.broken("%s: it is %s without evidence: nothing was observed", at, res.Verdict)
	}
	for _, o := range res.Observations {
		if o.Seen < o.Need {
			v.broken("%s: it is %s, and of %q there were %d of %d", at, res.Verdict, o.What, o.Seen, o.Need)
		}
	}
}

// endedWell is what a green verdict says of its obligations.
func (v *validation) endedWell(at string, res check.Result) {
	c := res.Obligations
	if c == nil {
		return
	}
	if bad := c.Unclear + c.Open; bad > 0 || c.Excused > c.Met {
		v.broken("%s: it is %s, and of its obligations are %s", at, res.Verdict, c.Words())
	}
	if res.Verdict == check.Pass && c.Late+c.Broken > 0 {
		v.broken("%s: it is %s, and of its obligations are %s", at, res.Verdict, c.Words())
	}
}

// deviates only as it is documented, and never where the judge was strict.
func (v *validation) deviates(at string, res check.Result) {
	if v.report.Strict {
		v.broken("%s: it is a deviation, and the judge was strict", at)
	}
	if len(res.Deviations) == 0 {
		v.broken("%s: it is a deviation, and names none", at)
	}
	documented := requirement.DeviationsFrom(res.ID, v.report.Target.Distribution)
	for _, d := range res.Deviations {
		if !slices.ContainsFunc(documented, func(one requirement.Deviation) bool { return one.ID == d.ID }) {
			v.broken("%s.deviations[%s]: none of that name is documented of it", at, d.ID)
		}
		if len(d.Examples) == 0 {
			v.broken("%s.deviations[%s] has no example", at, d.ID)
		}
	}
}
