package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

type checked = check.Result

// Cell is what the runs on a target say of a requirement.
type Cell struct {
	// Verdict is empty where no run judged the requirement.
	Verdict check.Verdict
	// Said is how many of the Runs came to the verdict.
	Said, Runs int
	// Cases is how often the promise was put to the test.
	Cases int64
	// AtMost is the bound on how often the requirement may still fail; empty where there is
	// none.
	AtMost string
	// Why the verdict is not a pass, or why there is none.
	Why []string
}

// maxReasons is how many reasons a cell has.
const maxReasons = 5

// Cell returns what the target's runs say of a requirement.
func (m *Model) Cell(t *Target, id requirement.ID) Cell {
	var c Cell
	if t.Campaign != nil {
		c = ofCampaign(t.Campaign, id)
	} else {
		c = ofResults(t, id)
	}
	if c.Verdict == "" && len(c.Why) == 0 {
		c.Why = m.whyEmpty(t, id)
	}
	return c
}

// ranks order verdicts as results.Target.Verdict does: what a longer scenario shows, a
// shorter one may leave open.
var ranks = []check.Verdict{check.NotApplicable, check.Inconclusive, check.Pass, check.Deviation, check.Fail}

func ofResults(t *Target, id requirement.ID) Cell {
	var c Cell
	c.Verdict, c.Said, c.Runs, c.Cases = t.Results.Verdict(id)
	for _, s := range t.Results.Scenarios {
		for _, o := range s.Results {
			if o.ID == id && o.Reason != "" && o.Verdicts[c.Verdict] > 0 && c.Verdict != check.Pass {
				c.Why = append(c.Why, s.Name+": "+o.Reason)
			}
		}
	}
	if !t.alone {
		c.add(t.Runs, id)
	}
	c.Why = c.Why[:min(len(c.Why), maxReasons)]
	return c
}

// add counts published bundles where one is worse than all runs of the results. A bundle is
// often one of those runs, which is not to be counted twice.
func (c *Cell) add(runs []*Run, id requirement.ID) {
	worst, said := c.Verdict, 0
	var why []string
	for _, run := range runs {
		res, there := run.result(id)
		if !there || slices.Index(ranks, res.Verdict) < slices.Index(ranks, worst) {
			continue
		}
		if res.Verdict != worst {
			worst, said, why = res.Verdict, 0, nil
		}
		said++
		if text := reasonOf(res); text != "" {
			why = append(why, run.Path+": "+text)
		}
	}
	if worst == c.Verdict {
		return
	}
	for _, run := range runs {
		if res, there := run.result(id); there && res.Verdict == worst {
			c.Cases += res.Cases()
		}
	}
	c.Verdict, c.Said, c.Runs, c.Why = worst, said, c.Runs+said, why
}

func ofCampaign(rep *conformance.Report, id requirement.ID) Cell {
	i := slices.IndexFunc(rep.Requirements, func(r conformance.Requirement) bool { return r.ID == id })
	if i < 0 {
		return Cell{}
	}
	r := rep.Requirements[i]
	c := Cell{Verdict: r.Verdict, Cases: r.Tested.Observations, Why: slices.Clone(r.Reasons)}
	said := map[check.Verdict]int{
		check.Pass: r.Tested.Kept, check.Fail: r.Tested.Broken, check.Deviation: r.Tested.Deviated,
		check.Inconclusive: r.Tested.Open, check.NotApplicable: r.Tested.NotApplicable,
	}
	c.Said = said[r.Verdict]
	for _, n := range said {
		c.Runs += n
	}
	if r.MayFail != nil {
		c.AtMost = r.MayFail.AtMost
	}
	for _, b := range r.Breaches {
		c.Why = append(c.Why, b.String())
	}
	c.Why = c.Why[:min(len(c.Why), maxReasons)]
	if r.Verdict == check.Skipped {
		c.Verdict = ""
	}
	return c
}

// Word is the verdict as it is shown; "–" where there is none.
func (c Cell) Word() string {
	switch c.Verdict {
	case "":
		return "–"
	case check.Fail:
		return "FAIL"
	default:
		return string(c.Verdict)
	}
}

// Share is how many of the runs came to the verdict, such as 2/3; empty where all did.
func (c Cell) Share() string {
	if c.Verdict == "" || c.Said >= c.Runs {
		return ""
	}
	return fmt.Sprintf("%d/%d", c.Said, c.Runs)
}

// String is the cell in one line, as the table in Markdown has it.
func (c Cell) String() string {
	word := c.Word()
	if c.Verdict == "" {
		return word
	}
	if c.Verdict == check.Fail {
		word = "**" + word + "**"
	}
	return strings.Join(slices.DeleteFunc([]string{word, c.Share(), fmt.Sprintf("(%d)", c.Cases), c.bound()}, func(s string) bool { return s == "" }), " ")
}

func (c Cell) bound() string {
	if c.AtMost == "" {
		return ""
	}
	return "≤ " + c.AtMost
}
