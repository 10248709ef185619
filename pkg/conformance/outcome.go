package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// outcome is what the report of a campaign needs of the report of a run. The whole reports
// of thousands of runs would not fit into memory.
type outcome struct {
	run, date, message       string
	verdict                  check.Verdict
	evidence, scenarioDigest string
	scenario                 string
	seed                     int64
	harness                  report.Harness
	implementation           *history.Implementation
	provider, distribution   string
	members, releases        []string
	defect                   string
	strict                   bool
	// starved is whether a requirement stayed open because the machine was starved.
	starved bool
	results map[requirement.ID]result
	order   []requirement.ID
}

// result is one of its requirements.
type result struct {
	verdict     check.Verdict
	obligations law.Counts
	seen        int64
	reason      string
	events      []int64
}

func outcomeOf(rep *report.ConformanceReport) *outcome {
	o := &outcome{
		run: rep.Run, date: rep.Date, message: rep.Message, verdict: rep.Verdict,
		evidence: rep.Digests.Evidence(), scenarioDigest: rep.Digests.Scenario,
		scenario: rep.Scenario, seed: rep.Seed, harness: rep.Harness, implementation: rep.Implementation,
		provider: rep.Target.Provider, distribution: rep.Target.Distribution, releases: rep.Target.Releases,
		defect: rep.Defect, strict: rep.Strict, results: map[requirement.ID]result{},
	}
	for _, m := range rep.Target.Members {
		o.members = append(o.members, m.Name)
	}
	for _, res := range rep.Results {
		r := result{verdict: res.Verdict, seen: res.Cases()}
		o.starved = o.starved || res.Verdict == check.Inconclusive && slices.ContainsFunc(res.Reasons, law.BlamesStarvation)
		if res.Obligations != nil {
			r.obligations = *res.Obligations
		}
		switch {
		case res.Verdict == check.Fail && len(res.Violations) > 0:
			r.reason, r.events = res.Violations[0].Message, res.Violations[0].Evidence
		case len(res.Reasons) > 0:
			r.reason = res.Reasons[0]
		case len(res.Deviations) > 0:
			r.reason = res.Deviations[0].Differs
		}
		o.results[res.ID] = r
		o.order = append(o.order, res.ID)
	}
	return o
}

// of is the result of a requirement. What the run was to judge and did not is open.
func (o *outcome) of(id requirement.ID) result {
	if r, ok := o.results[id]; ok {
		return r
	}
	return result{verdict: check.Inconclusive, reason: "the run did not judge it"}
}

// misfits says why the run is not one of the line; empty if it is. A bundle of another
// scenario, seed, target or program proves nothing of what was planned.
func (o *outcome) misfits(plan *Plan, line Line) string {
	for _, c := range []struct{ what, want, got string }{
		{"scenario", line.Scenario, o.scenario},
		{"seed", fmt.Sprint(line.Seed), fmt.Sprint(o.seed)},
		{"scenario.yaml", line.ScenarioDigest, o.scenarioDigest},
		{"provider", plan.Target.Provider, o.provider},
		{"distribution", plan.Target.Distribution, o.distribution},
		{"members", strings.Join(plan.Target.Members, ", "), strings.Join(o.members, ", ")},
		{"planted defect", plan.Asked.Defect, o.defect},
		{"strict", fmt.Sprint(plan.Asked.Strict), fmt.Sprint(o.strict)},
		{"evenkeel", plan.Harness.Digest, o.harness.Digest},
		{"suite", plan.Suite, o.harness.Suite},
	} {
		if c.want != c.got {
			return fmt.Sprintf("its bundle is of another run: %s is %q, and the plan has %q", c.what, c.got, c.want)
		}
	}
	return ""
}

// interrupted is whether a signal has ended the run, so that it is played again. A breach
// that was seen before that is evidence, and counts.
func (o *outcome) interrupted() bool {
	return o.verdict != check.Fail && strings.Contains(o.message, run.Interrupted)
}

// sealed is whether a run has left a whole bundle.
func sealed(dir string) bool { return !bundle.Lacks(dir, bundle.DigestFile) }

// readOutcome reads the report of a bundle, without judging again.
func readOutcome(dir string) (*outcome, error) {
	raw, err := bundle.ReadFile(dir, bundle.ReportFile)
	if err != nil {
		return nil, fmt.Errorf("read the report of the run: %w", err)
	}
	rep := &report.ConformanceReport{}
	if err := yaml.UnmarshalStrict(raw, rep); err != nil {
		return nil, fmt.Errorf("read the report of the run: %w", err)
	}
	return outcomeOf(rep), nil
}

// salvage judges what a run has recorded that was killed. Only a breach counts of it: then
// the bundle is made whole, without the logs, which have not been searched for credentials.
func salvage(ctx context.Context, dir string) error {
	if file, err := bundle.History(dir); err != nil || !exists(file) {
		return nil
	}
	rep, err := judge.Bundle(ctx, dir)
	if err != nil || rep.Verdict != check.Fail {
		return nil // it proves nothing, and is played again
	}
	raw, err := rep.YAML()
	if err != nil {
		return err
	}
	keep := []string{bundle.HistoryFile, bundle.HistoryFile + bundle.Compressed, bundle.ScenarioFile, bundle.TopologyFile, bundle.EnvironmentFile}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the bundle: %w", err)
	}
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("leave the logs out of the bundle: %w", err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, bundle.ReportFile), raw, 0o644); err != nil {
		return fmt.Errorf("write the report of the run: %w", err)
	}
	return bundle.Seal(ctx, dir)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// lastLine is the last line of what a run has printed.
func lastLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return oneLine(string(lines[len(lines)-1]))
}
