package report

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Outcome of a part of a profile.
type Outcome string

// The outcomes. A documented deviation does not change the outcome. A core requirement
// that was not judged, not applicable or not judged conclusively makes a profile partial,
// never a success. A violated requirement
// makes its part of a profile a failure, whether or not the scenario lists it.
const (
	Success Outcome = "success"
	Partial Outcome = "partial"
	Failure Outcome = "failure"
)

// Outcomes are all outcomes.
var Outcomes = []Outcome{Success, Partial, Failure}

// Profile is the result for one profile.
type Profile struct {
	// Name of the profile in the catalog.
	Name string `json:"name"`
	// Core consists of the profile's MUST requirements.
	Core Part `json:"core"`
	// Extended consists of the profile's SHOULD requirements.
	Extended Part `json:"extended"`
}

// Part is the core or the extended part of a profile.
type Part struct {
	// Outcome of the part: success if all its requirements hold, or differ as documented;
	// failure if any was violated; else partial.
	Outcome Outcome `json:"outcome"`
	// Counts of the part's requirements by verdict; requirements that were not judged count
	// as skipped.
	Counts map[check.Verdict]int `json:"counts"`
}

// Statistics of a run as a whole.
type Statistics struct {
	// Requirements is the number of requirements that the run was asked to judge, plus the
	// number of others that its history shows violated.
	Requirements int `json:"requirements"`
	// Counts of these requirements by verdict; requirements that were not judged count as
	// skipped.
	Counts map[check.Verdict]int `json:"counts"`
	// Core counts the claimed profiles by the outcome of their core.
	Core map[Outcome]int `json:"core,omitempty"`
	// Extended counts the claimed profiles by the outcome of their extended part.
	Extended map[Outcome]int `json:"extended,omitempty"`
}

// statistics computes the statistics from the results and the profiles.
func (r *ConformanceReport) statistics() Statistics {
	s := Statistics{Requirements: len(r.Results) + len(r.NotJudged), Counts: map[check.Verdict]int{}}
	for _, res := range r.Results {
		s.Counts[res.Verdict]++
	}
	if n := len(r.NotJudged); n > 0 {
		s.Counts[check.Skipped] += n
	}
	if len(r.Profiles) > 0 {
		s.Core, s.Extended = map[Outcome]int{}, map[Outcome]int{}
	}
	for _, p := range r.Profiles {
		s.Core[p.Core.Outcome]++
		s.Extended[p.Extended.Outcome]++
	}
	return s
}

// claimed returns the results for profiles. A run that was asked to judge single
// requirements claims no profile that has none of them.
func claimed(profiles []requirement.Profile, wanted []requirement.ID, verdicts map[requirement.ID]check.Verdict) []Profile {
	out := []Profile{}
	for _, p := range profiles {
		if slices.ContainsFunc(p.Requirements, func(id requirement.ID) bool { return slices.Contains(wanted, id) }) {
			out = append(out, weighed(p, verdicts))
		}
	}
	return out
}

// Claimed returns the results for profiles of a report that many runs made: those profiles of
// which a requirement was asked for.
func Claimed(profiles []requirement.Profile, wanted []requirement.ID, verdicts map[requirement.ID]check.Verdict) []Profile {
	return claimed(profiles, wanted, verdicts)
}

// weighed returns the result for a profile.
func weighed(p requirement.Profile, verdicts map[requirement.ID]check.Verdict) Profile {
	return Profile{Name: p.Name, Core: part(p, requirement.Must, verdicts), Extended: part(p, requirement.Should, verdicts)}
}

// asked returns the requirements that the run was asked to judge: whole profiles, unless
// its header says otherwise.
func asked(h history.Header, profiles []requirement.Profile) []requirement.ID {
	var out []requirement.ID
	for _, id := range h.Asked {
		out = append(out, requirement.ID(id))
	}
	if len(out) > 0 {
		return out
	}
	for _, p := range profiles {
		for _, id := range p.Requirements {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

func part(p requirement.Profile, level requirement.Level, verdicts map[requirement.ID]check.Verdict) Part {
	out := Part{Outcome: Success, Counts: map[check.Verdict]int{}}
	for _, id := range p.Requirements {
		req, ok := requirement.Lookup(id)
		if !ok || req.Level != level {
			continue
		}
		v, judged := verdicts[id]
		if !judged {
			v = check.Skipped
		}
		out.Counts[v]++
		switch v {
		case check.Fail:
			out.Outcome = Failure
		case check.Pass, check.Deviation:
		default:
			// Also a requirement that is not applicable is not shown to hold, and a profile
			// claims all of its requirements.
			if out.Outcome == Success {
				out.Outcome = Partial
			}
		}
	}
	// A core in which no requirement was judged to hold is not a success either.
	if level == requirement.Must && out.Outcome == Success && out.Counts[check.Pass] == 0 {
		out.Outcome = Partial
	}
	return out
}
