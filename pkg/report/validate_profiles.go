package report

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// profiles have the outcomes that follow from the results.
func (v *validation) profiles() {
	verdicts := v.report.verdicts()
	seen := map[string]bool{}
	for _, p := range v.report.Profiles {
		at := fmt.Sprintf("profiles[%s]", p.Name)
		profile, err := requirement.LookupProfile(p.Name)
		switch {
		case err != nil:
			v.broken("%s: the catalog has no such profile", at)
			continue
		case seen[p.Name]:
			v.broken("%s is there twice", at)
		}
		seen[p.Name] = true
		v.success(at, p, profile, verdicts)
		want := weighed(profile, verdicts)
		v.part(at+".core", p.Core, want.Core)
		v.part(at+".extended", p.Extended, want.Extended)
	}
}

// success is the rule that all others are there for: it is one of what was judged to
// be kept, and of nothing else. It is said apart from the sums, so that it holds
// whatever becomes of how they are made.
func (v *validation) success(at string, told Profile, profile requirement.Profile, verdicts map[requirement.ID]check.Verdict) {
	if told.Core.Outcome != Success {
		return
	}
	for _, id := range profile.Requirements {
		req, known := requirement.Lookup(id)
		if !known || req.Level != requirement.Must {
			continue
		}
		switch verdict := verdicts[id]; verdict {
		case check.Pass, check.Deviation:
		case "":
			v.broken("%s.core: it is a success, and %s was not judged", at, id)
		default:
			v.broken("%s.core: it is a success, and %s is %s", at, id, verdict)
		}
	}
}

func (v *validation) part(at string, told, want Part) {
	if told.Outcome != want.Outcome {
		v.broken("%s.outcome: it is %s, and from the results follows %s", at, told.Outcome, want.Outcome)
	}
	if !same(told.Counts, want.Counts) {
		v.broken("%s.counts: they say %s, and the results add up to %s", at, inWords(told.Counts), inWords(want.Counts))
	}
}
