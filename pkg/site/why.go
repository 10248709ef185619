package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report/results"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// shipped is a scenario that ships with evenkeel.
type shipped struct {
	name   string
	judges []string
}

func shippedScenarios() ([]shipped, error) {
	all, err := run.Shipped()
	if err != nil {
		return nil, fmt.Errorf("read the scenarios: %w", err)
	}
	var out []shipped
	for _, s := range all {
		out = append(out, shipped{s.Metadata.Name, s.Judges})
	}
	return out, nil
}

func reasonOf(res checked) string { return results.Reason(res) }

// whyEmpty says why no run on the target judged a requirement.
func (m *Model) whyEmpty(t *Target, id requirement.ID) []string {
	var refused, before, unplayed []string
	for _, s := range m.scenarios {
		if !slices.Contains(s.judges, string(id)) {
			continue
		}
		switch text := t.refusal(s.name); {
		case text != "":
			refused = append(refused, s.name+" is refused: "+text)
		case t.played(s.name):
			before = append(before, s.name)
		default:
			unplayed = append(unplayed, s.name)
		}
	}
	if t.Campaign != nil && !asked(t, id) {
		if named := t.Campaign.Asked.Scenarios; len(named) > 0 {
			return []string{"the campaign was asked for no scenario that judges it, only for " + strings.Join(named, ", ")}
		}
		return []string{"the campaign was not asked for it"}
	}
	why := refused
	if len(before) > 0 {
		why = append(why, "played on this target before the scenario listed the requirement: "+strings.Join(before, ", "))
	}
	if len(unplayed) > 0 {
		why = append(why, "not played on this target: "+strings.Join(unplayed, ", "))
	}
	if len(why) == 0 {
		return []string{"no scenario that ships with evenkeel lists it, so that it can only fail"}
	}
	return why
}

// played is whether the results have runs of a scenario.
func (t *Target) played(scenario string) bool {
	return t.Results != nil && slices.ContainsFunc(t.Results.Scenarios, func(s results.Scenario) bool { return s.Name == scenario && s.Runs > 0 })
}

// asked is whether the campaign was to judge the requirement.
func asked(t *Target, id requirement.ID) bool {
	for _, r := range t.Campaign.Requirements {
		if r.ID == id {
			return true
		}
	}
	return false
}

// refusal is why the target cannot be played on with a scenario; empty where it can, or
// where that is not known.
func (t *Target) refusal(scenario string) string {
	if t.Campaign != nil {
		for _, l := range t.Campaign.LeftOut {
			if l.Scenario == scenario {
				return l.Reason
			}
		}
		return ""
	}
	for _, s := range t.Results.Scenarios {
		if s.Name == scenario {
			return s.Refused
		}
	}
	return ""
}

// Rows are the requirements that a law judges.
func rows() []requirement.Requirement {
	return slices.DeleteFunc(requirement.All(), func(r requirement.Requirement) bool { return !check.Built(r.ID) })
}

// level of a requirement in words.
func level(r requirement.Requirement) string {
	if r.KEPOnly {
		return string(r.Level) + " (KEP)"
	}
	return string(r.Level)
}
