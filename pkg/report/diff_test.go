package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func TestDiffOfOneRunIsEmpty(t *testing.T) {
	r := New(mixed(), []requirement.Profile{profile})
	if d := Diff(r, r); len(d.Lines) > 0 || len(d.Worse) > 0 {
		t.Errorf("%q, worse %v", d.Lines, d.Worse)
	}
}

func TestDiff(t *testing.T) {
	a, b := New(mixed(), nil), New(mixed(), nil)
	b.Results = slices.Clone(b.Results)
	b.Target.Releases = []string{"1.4"}
	b.Target.SwitchedOff = []check.FeatureOff{{Feature: "storageVersions", Members: []string{"cp1", "cp2"}}}
	b.Implementation = nil
	a.Target.Topology = &Topology{Settings: map[string]string{"b": "2", "a": "1"}}
	b.Took = 3 * time.Second
	b.Faults = []check.FaultSeen{a.Faults[0], {ID: "x", Type: "Power", Action: "cut", Member: "cp2"}}
	b.States = nil
	// SV-01 passed, and SV-06 failed; SV-07 saw no joins.
	b.Results[0].Verdict = check.Fail
	b.Results[0].Observations = []check.Observation{{What: "servers", Seen: 9, Need: 1}, {What: "looks", Seen: 4, Need: 4}}
	b.Results[1].Verdict = check.Pass
	b.Results[2].Observations = []check.Observation{{What: "joins", Seen: 2, Need: 3}}
	b.Results = b.Results[:4]
	d := Diff(a, b)
	for _, want := range []string{
		"releases: 1.2, 1.3 → 1.4",
		"took: 0s → 3s",
		"settings: a 1, b 2 → none",
		"features off: none → storageVersions at cp1 and cp2",
		"implementation: exampleplane 1.2 of Example, Inc. → none",
		"only in the second run, fault: x (Power cut on cp2), without proof that it bit, not healed",
		"only in the first run, state: only (cp1 1.2, cp2 1.3, cp3 1.2)",
		"SV-01: pass → fail",
		`SV-01: only the second run counts "looks" (4, needs 4)`,
		`SV-01: only the first run counts "entries" (39, needs 10)`,
		"SV-06: fail → pass",
		`SV-07: "joins" 0 of 3 needed → 2 of 3`,
		"SV-09: not-applicable → skipped",
	} {
		if !slices.Contains(d.Lines, want) {
			t.Errorf("no line says %q:\n%s", want, strings.Join(d.Lines, "\n"))
		}
	}
	if strings.Contains(strings.Join(d.Lines, "\n"), `"servers"`) {
		t.Errorf("seeing something more often is told as a difference:\n%s", strings.Join(d.Lines, "\n"))
	}
	if !slices.Equal(d.Worse, []requirement.ID{"SV-01", "SV-09"}) {
		t.Errorf("worse: %v", d.Worse)
	}
}

func TestRollout(t *testing.T) {
	for _, tc := range []struct {
		name             string
		path             []string
		up, down, again  bool
		want             string
		answer, notThere string
	}{
		{"nothing", []string{"v1.35.4"}, false, false, false, "v1.35.4", "Not by this run", "Yes"},
		{"up", []string{"v1.35.4", "v1.36.3"}, true, false, false, "v1.35.4 → v1.36.3", "Only the upgrade was; rollback", "Yes"},
		{"up and back", []string{"1.9", "1.10", "1.9"}, true, true, false, "1.9 → 1.10 → 1.9", "Yes, upgrade and rollback; the upgrade->downgrade->upgrade path was not", "path too"},
		{"up, back and up", []string{"1.9", "1.10", "1.9", "1.10"}, true, true, true, "1.9 → 1.10 → 1.9 → 1.10", "Yes, and the upgrade->downgrade->upgrade path too", "Only"},
		{"down first", []string{"1.10", "1.9", "1.10"}, true, false, false, "1.10 → 1.9 → 1.10", "Only the upgrade was", "Yes"},
		{"what cannot be compared", []string{"main", "mine"}, false, false, false, "main → mine", "Not by this run", "Yes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &ConformanceReport{Target: Target{Members: []history.MemberHeader{{Name: "cp1", Release: tc.path[0]}, {Name: "cp2", Release: tc.path[0]}}}}
			for _, release := range tc.path {
				r.States = append(r.States, State{Name: "at " + release, Releases: map[string]string{"cp1": release, "cp2": tc.path[0]}})
			}
			got := r.Rollout()
			if got.Upgraded != tc.up || got.RolledBack != tc.down || got.Again != tc.again || arrows(got.Path) != tc.want {
				t.Errorf("%+v", got)
			}
			md := r.Markdown("evenkeel run", nil)
			if !strings.Contains(md, tc.answer) || strings.Contains(md, tc.notThere) {
				t.Errorf("the answer is not %q:\n%s", tc.answer, md)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	r := New(mixed(), []requirement.Profile{profile})
	golden(t, "mixed.md", []byte(r.Markdown("evenkeel run --seed 1", []string{"Mind the gap."})))
}

// What a server under test has said stays text.
func TestMarkdownIsNotInjected(t *testing.T) {
	nasty := "x | y\n\n# <img src=z> `q` @all [l](http://m)"
	r := New(&check.Judgement{
		Header: history.Header{Scenario: nasty, Distribution: nasty, Provider: nasty, Harness: nasty, Members: []history.MemberHeader{{Name: "cp1", Release: nasty}},
			Implementation: &history.Implementation{Organization: nasty, Project: nasty, URL: nasty, Version: nasty, Contact: []string{nasty}}},
		Results: []check.Result{{ID: "SV-06", Promise: "P.", Verdict: check.Fail, ViolationCount: 1, Violations: []check.Violation{{Message: nasty}}}},
		Doubts:  []string{nasty},
	}, nil)
	md := r.Markdown("evenkeel run", nil)
	plain := regexp.MustCompile(`\\.`).ReplaceAllString(md, "")
	for _, forbidden := range []string{"<img", "\n# ", "`q`", "@all", "[l]", "x | y"} {
		if strings.Contains(plain, forbidden) {
			t.Errorf("it has %q:\n%s", forbidden, md)
		}
	}
	for line := range strings.Lines(md) {
		if strings.HasPrefix(line, "| SV-06") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 5 {
			t.Errorf("the row has other cells than four: %s", line)
		}
	}
}
