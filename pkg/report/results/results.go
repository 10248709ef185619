// Package results holds what came of the runs of scenarios on one target: the files in
// reports/results, which `make survey` writes.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Target is what scenarios were played on, and what came out: a file in
// reports/results.
type Target struct {
	// Target is the column's heading, such as "Kubernetes v1.35.4 → v1.36.3, local".
	Target string `json:"target"`
	// Topology and Release repeat it.
	Topology string `json:"topology"`
	Release  string `json:"release,omitempty"`
	// Scenarios by name.
	Scenarios []Scenario `json:"scenarios"`
}

// Scenario is one scenario on one target.
type Scenario struct {
	Name string `json:"name"`
	// Harness is the version that recorded and judged, or the versions, with commas.
	Harness string `json:"harness,omitempty"`
	// Checks names the sources of the checks that judged, as play.Checks does; empty
	// where that was not told. The digest in a report does not cover their code.
	Checks string `json:"checks,omitempty"`
	// Runs of which a report came out; Clean are those without a red or open
	// verdict; Seconds is how long each took.
	Runs    int   `json:"runs"`
	Clean   int   `json:"clean"`
	Seconds []int `json:"seconds,omitempty"`
	// Refused is why the scenario could not be played here, in the words of evenkeel.
	Refused string    `json:"refused,omitempty"`
	Results []Outcome `json:"results,omitempty"`

	// Earlier is how many of the runs are of an earlier survey; it is not part of the file.
	Earlier int `json:"-"`
}

// Outcome is what the runs of a scenario said of one requirement.
type Outcome struct {
	ID requirement.ID `json:"id"`
	// Verdicts counts runs by verdict.
	Verdicts map[check.Verdict]int `json:"verdicts"`
	// Observations is how often the promise was put to the test, over all runs.
	Observations int64 `json:"observations"`
	// Reason is the first one given for a verdict that is not a pass.
	Reason string `json:"reason,omitempty"`
	// Unlisted is whether the scenario does not list the requirement: then only runs
	// whose history shows it broken are counted.
	Unlisted bool `json:"unlisted,omitempty"`
}

// Add counts one more run of the scenario, and how long it took.
func (p *Scenario) Add(rep *report.ConformanceReport, seconds int) {
	p.Count(rep)
	p.Seconds = append(p.Seconds, seconds)
}

// Count is Add for a run of which the duration is not known.
func (p *Scenario) Count(rep *report.ConformanceReport) {
	if versions := strings.Split(p.Harness, ", "); p.Runs == 0 {
		p.Harness = rep.Harness.Version
	} else if !slices.Contains(versions, rep.Harness.Version) {
		p.Harness = strings.Join(append(versions, rep.Harness.Version), ", ")
	}
	p.Runs++
	if rep.Verdict == check.Pass {
		p.Clean++
	}
	for _, res := range rep.Results {
		o := p.Outcome(res.ID)
		o.Verdicts[res.Verdict]++
		o.Observations += res.Cases()
		o.Unlisted = res.Unlisted
		if o.Reason == "" {
			o.Reason = Reason(res)
		}
	}
	// What the scenario was to judge and did not is as open as what it left so.
	for _, id := range rep.NotJudged {
		p.Outcome(id).Verdicts[check.Inconclusive]++
	}
}

// Reason is the first one for a verdict that is not a pass.
func Reason(res check.Result) string {
	switch {
	case res.Verdict == check.Fail && len(res.Violations) > 0:
		return res.Violations[0].Message
	case res.Verdict == check.Deviation && len(res.Deviations) > 0:
		return res.Deviations[0].Differs
	case len(res.Reasons) > 0:
		return res.Reasons[0]
	}
	return ""
}

// Outcome gives what the runs said of a requirement, and adds an empty one where they
// have said nothing.
func (p *Scenario) Outcome(id requirement.ID) *Outcome {
	i, found := slices.BinarySearchFunc(p.Results, id, func(o Outcome, id requirement.ID) int { return cmp.Compare(o.ID, id) })
	if !found {
		p.Results = slices.Insert(p.Results, i, Outcome{ID: id, Verdicts: map[check.Verdict]int{}})
	}
	return &p.Results[i]
}

// Begin gives what runs of a scenario are added to: earlier ones, where they are to be
// kept and the checks are the same that have judged them, or nothing.
func (t *Target) Begin(name, checks string, keep bool) *Scenario {
	for _, p := range t.Scenarios {
		if keep && p.Name == name && checks != "" && p.Checks == checks {
			p.Earlier = p.Runs
			return &p
		}
	}
	return &Scenario{Name: name, Checks: checks}
}

// SecondsOf gives how long the runs of a scenario took, if that is known of all of them.
func (t *Target) SecondsOf(name string, runs int) []int {
	for _, p := range t.Scenarios {
		if p.Name == name && len(p.Seconds) == runs {
			return p.Seconds
		}
	}
	return nil
}

// Replace puts a scenario in the place of an earlier survey of the same.
func (t *Target) Replace(p Scenario) {
	i, found := slices.BinarySearchFunc(t.Scenarios, p.Name, func(p Scenario, name string) int { return cmp.Compare(p.Name, name) })
	if found {
		t.Scenarios[i] = p
		return
	}
	t.Scenarios = slices.Insert(t.Scenarios, i, p)
}

// Verdict of a requirement over all scenarios and runs: the worst that any came to,
// with the runs that said so, all runs, and all observations. It is open only where no
// run came to anything: a scenario that is too short for one control plane leaves open
// what a longer one shows.
func (t *Target) Verdict(id requirement.ID) (worst check.Verdict, said, runs int, observations int64) {
	counts := map[check.Verdict]int{}
	for _, p := range t.Scenarios {
		for _, o := range p.Results {
			if o.ID != id {
				continue
			}
			observations += o.Observations
			for v, n := range o.Verdicts {
				counts[v] += n
				runs += n
			}
		}
	}
	for _, v := range []check.Verdict{check.Fail, check.Deviation, check.Pass, check.Inconclusive, check.NotApplicable} {
		if counts[v] > 0 {
			return v, counts[v], runs, observations
		}
	}
	return "", 0, 0, 0
}

// Load reads a target's file; one that is not there yet is empty.
func Load(file string) (*Target, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &Target{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read earlier results: %w", err)
	}
	var t Target
	if err := yaml.UnmarshalStrict(data, &t); err != nil {
		return nil, fmt.Errorf("%s holds no results: %w", file, err)
	}
	return &t, nil
}

// Save writes the target's file.
func (t *Target) Save(file string) error {
	data, err := yaml.Marshal(t)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}
