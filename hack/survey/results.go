package main

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
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// target is what scenarios were played on, and what came out: a file in
// reports/results.
type target struct {
	// Target is the column's heading, such as "Kubernetes v1.35.4 → v1.36.3, local".
	Target string `json:"target"`
	// Topology and Release repeat it.
	Topology string `json:"topology"`
	Release  string `json:"release,omitempty"`
	// Scenarios by name.
	Scenarios []played `json:"scenarios"`
}

// played is one scenario on one target.
type played struct {
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
	Results []outcome `json:"results,omitempty"`

	// earlier is how many of the runs are of an earlier survey.
	earlier int
}

// outcome is what the runs of a scenario said of one requirement.
type outcome struct {
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

// add counts one more run of the scenario.
func (p *played) add(rep *report.ConformanceReport, seconds int) {
	if versions := strings.Split(p.Harness, ", "); p.Runs == 0 {
		p.Harness = rep.Harness.Version
	} else if !slices.Contains(versions, rep.Harness.Version) {
		p.Harness = strings.Join(append(versions, rep.Harness.Version), ", ")
	}
	p.Runs++
	p.Seconds = append(p.Seconds, seconds)
	if rep.Verdict == check.Pass {
		p.Clean++
	}
	for _, res := range rep.Results {
		o := p.outcome(res.ID)
		o.Verdicts[res.Verdict]++
		o.Observations += res.Cases()
		o.Unlisted = res.Unlisted
		if o.Reason == "" {
			o.Reason = reason(res)
		}
	}
	// What the scenario was to judge and did not is as open as what it left so.
	for _, id := range rep.NotJudged {
		p.outcome(id).Verdicts[check.Inconclusive]++
	}
}

// status is what evenkeel ended with in the worst run.
func (p *played) status() int {
	switch {
	case p.Clean == p.Runs:
		return exit.Pass
	case slices.ContainsFunc(p.Results, func(o outcome) bool { return o.Verdicts[check.Fail] > 0 }):
		return exit.Fail
	default:
		return exit.Inconclusive
	}
}

// reason is the first one for a verdict that is not a pass.
func reason(res check.Result) string {
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

func (p *played) outcome(id requirement.ID) *outcome {
	i, found := slices.BinarySearchFunc(p.Results, id, func(o outcome, id requirement.ID) int { return cmp.Compare(o.ID, id) })
	if !found {
		p.Results = slices.Insert(p.Results, i, outcome{ID: id, Verdicts: map[check.Verdict]int{}})
	}
	return &p.Results[i]
}

// begin gives what runs of a scenario are added to: earlier ones, where they are to be
// kept and the checks are the same that have judged them, or nothing.
func (t *target) begin(name, checks string, keep bool) *played {
	for _, p := range t.Scenarios {
		if keep && p.Name == name && checks != "" && p.Checks == checks {
			p.earlier = p.Runs
			return &p
		}
	}
	return &played{Name: name, Checks: checks}
}

// seconds are how long the runs of a scenario took, if that is known of all of them.
func (t *target) seconds(name string, runs int) []int {
	for _, p := range t.Scenarios {
		if p.Name == name && len(p.Seconds) == runs {
			return p.Seconds
		}
	}
	return nil
}

// settle makes the options and the target say the same of the control plane: the target
// is of one, and its rows would be repeated with another. What the options leave open is
// as the target has it.
func (t *target) settle(o *options) error {
	if t.Topology == "" {
		t.Topology, t.Release = cmp.Or(o.topology, "clusters/local-3.yaml"), o.release
	}
	if o.topology != "" && o.topology != t.Topology {
		return fmt.Errorf("its rows are of %s and not of %s; name another -target", t.Topology, o.topology)
	}
	if o.release != "" && o.release != t.Release {
		return fmt.Errorf("its rows begin at release %q and not at %q; name another -target", t.Release, o.release)
	}
	o.topology, o.release = t.Topology, t.Release
	return nil
}

// replace puts a scenario in the place of an earlier survey of the same.
func (t *target) replace(p played) {
	i, found := slices.BinarySearchFunc(t.Scenarios, p.Name, func(p played, name string) int { return cmp.Compare(p.Name, name) })
	if found {
		t.Scenarios[i] = p
		return
	}
	t.Scenarios = slices.Insert(t.Scenarios, i, p)
}

// verdict of a requirement over all scenarios and runs: the worst that any came to,
// with the runs that said so, all runs, and all observations. It is open only where no
// run came to anything: a scenario that is too short for one control plane leaves open
// what a longer one shows.
func (t *target) verdict(id requirement.ID) (worst check.Verdict, said, runs int, observations int64) {
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

// load reads a target's file; one that is not there yet is empty.
func load(file string) (*target, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &target{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read earlier results: %w", err)
	}
	var t target
	if err := yaml.UnmarshalStrict(data, &t); err != nil {
		return nil, fmt.Errorf("%s holds no results: %w", file, err)
	}
	return &t, nil
}

func (t *target) save(file string) error {
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

// markdown is the table of requirements by targets, and that of scenarios.
func markdown(targets []*target) string {
	var b strings.Builder
	b.WriteString(`# Requirements and targets

A cell is the worst that any run on that target came to, and in brackets how often
the promise was put to the test in all of them. "2/3" says that two of three runs
said so, and beside a pass that the third left it open; "inconclusive" is where no run
came to anything. "–": no scenario that judges it was played there. Of a scenario that does not list the
requirement only those runs count whose history shows it broken. Made by
` + "`make survey`" + ` from the files in ` + "`results/`" + `, which name the reasons.

`)
	heading := "| requirement | level |"
	rule := "|---|---|"
	for _, t := range targets {
		heading += " " + t.Target + " |"
		rule += "---|"
	}
	b.WriteString(heading + "\n" + rule + "\n")
	for _, r := range requirement.All() {
		if !check.Built(r.ID) {
			continue
		}
		level := string(r.Level)
		if r.KEPOnly {
			level += " (KEP)"
		}
		fmt.Fprintf(&b, "| %s | %s |", r.ID, level)
		for _, t := range targets {
			b.WriteString(" " + t.cell(r.ID) + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## Scenarios\n\nRuns without a red or open verdict, of all runs, and the seconds of the quickest and the slowest.\n\n")
	b.WriteString(strings.Replace(heading, "| requirement | level |", "| scenario |", 1) + "\n" + strings.TrimPrefix(rule, "|---") + "\n")
	for _, name := range scenarioNames(targets) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, t := range targets {
			b.WriteString(" " + t.told(name) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (t *target) cell(id requirement.ID) string {
	worst, said, runs, observations := t.verdict(id)
	if runs == 0 {
		return "–"
	}
	text := string(worst)
	if worst == check.Fail {
		text = "**FAIL**"
	}
	if said < runs {
		text += fmt.Sprintf(" %d/%d", said, runs)
	}
	return fmt.Sprintf("%s (%d)", text, observations)
}

func (t *target) told(name string) string {
	for _, p := range t.Scenarios {
		switch {
		case p.Name != name:
		case p.Refused != "":
			return "refused"
		case p.Runs > 0 && len(p.Seconds) == 0:
			return fmt.Sprintf("%d/%d", p.Clean, p.Runs)
		case p.Runs > 0:
			return fmt.Sprintf("%d/%d, %d–%d s", p.Clean, p.Runs, slices.Min(p.Seconds), slices.Max(p.Seconds))
		}
	}
	return "–"
}

func scenarioNames(targets []*target) []string {
	var names []string
	for _, t := range targets {
		for _, p := range t.Scenarios {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
