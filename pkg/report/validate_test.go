package report

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const claimedProfile = "storage-version-rollout"

// valid is a report of a run of a profile of the catalog in which every requirement holds.
func valid() *ConformanceReport {
	p, err := requirement.LookupProfile(claimedProfile)
	if err != nil {
		panic(err)
	}
	h := header()
	h.HarnessDigest = strings.Repeat("1", 64)
	h.Topology = &history.Topology{Name: "three", Settings: map[string]string{"leaderElectLeaseDuration": "15s"}}
	h.Files = map[string]string{"topology.yaml": strings.Repeat("2", 64)}
	h.FeatureGates = map[string]map[string]string{"1.2": {"kube-apiserver": "A=true"}, "1.9": {"kube-apiserver": "A=true"}}
	j := &check.Judgement{
		Header: h, Events: 500, Complete: true, Releases: []string{"1.2", "1.3"}, Off: []check.FeatureOff{{Feature: "storageVersions", Members: []string{"cp1"}}},
		Faults: []check.FaultSeen{{ID: "crash-1", Type: "PodChaos", Action: "pod-kill", Member: "cp1", Witness: "another process", Healed: true}},
		Holds: []check.HoldSeen{
			{Name: "before", Releases: map[string]string{"cp1": "1.2", "cp2": "1.2"}}, {Name: "half", Releases: map[string]string{"cp1": "1.3", "cp2": "1.2"}},
		},
	}
	for _, req := range requirement.All() {
		if slices.Contains(p.Requirements, req.ID) {
			j.Results = append(j.Results, check.Result{ID: req.ID, Level: req.Level, Promise: req.Promise, Verdict: check.Pass,
				Observations: []check.Observation{{What: "looks", Seen: 9, Need: 3}}})
		}
	}
	r := New(listAll(j), []requirement.Profile{p})
	r.Digests = Digests{History: strings.Repeat("3", 64), Scenario: strings.Repeat("4", 64)}
	return r
}

// again recomputes everything that follows from the results, as a forger would who knows
// which fields are computed.
func again(r *ConformanceReport) {
	p, err := requirement.LookupProfile(claimedProfile)
	if err != nil {
		panic(err)
	}
	r.Verdict, r.Profiles = r.weigh(), []Profile{weighed(p, r.verdicts())}
	r.Statistics = r.statistics()
}

func TestValidReport(t *testing.T) {
	r := valid()
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if r.Verdict != check.Pass || r.Profiles[0].Core.Outcome != Success || len(r.Target.Gates) != 1 || !r.States[1].Mixed || r.States[0].Mixed {
		t.Errorf("%+v", r)
	}
	// Written and read it is the same.
	raw, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	read := &ConformanceReport{}
	if err := yaml.UnmarshalStrict(raw, read); err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Error(err)
	}
	// What is red or open is as valid as what is green.
	for _, tc := range []struct {
		name   string
		change func(*check.Result)
	}{
		{"fail", func(res *check.Result) {
			res.Verdict, res.ViolationCount, res.Violations = check.Fail, 2, []check.Violation{{Message: "m", Evidence: []int64{500}}}
		}},
		{"fail, unlisted", func(res *check.Result) {
			res.Verdict, res.ViolationCount, res.Violations, res.Unlisted = check.Fail, 2, []check.Violation{{Message: "m", Evidence: []int64{500}}}, true
		}},
		{"inconclusive", func(res *check.Result) { res.Verdict, res.Reasons = check.Inconclusive, []string{"too little"} }},
		{"skipped", func(res *check.Result) { res.Verdict, res.Reasons = check.Skipped, []string{"no check"} }},
		{"not applicable", func(res *check.Result) { res.Verdict, res.Reasons = check.NotApplicable, []string{"one member"} }},
	} {
		r := valid()
		tc.change(&r.Results[0])
		again(r)
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// Each rule, broken alone, is told with the field that breaks it.
func TestValidateTellsOfEachRule(t *testing.T) {
	// outcome of a result, with all that follows from it made to fit.
	result := func(change func(*check.Result)) func(*ConformanceReport) {
		return func(r *ConformanceReport) {
			change(&r.Results[0])
			again(r)
		}
	}
	fail := func(res *check.Result) {
		res.Verdict, res.ViolationCount, res.Violations = check.Fail, 1, []check.Violation{{Message: "m", Evidence: []int64{7}}}
	}
	// deviates makes it a deviation that is documented of Kubernetes.
	deviates := func(r *ConformanceReport) {
		d := requirement.DeviationsFrom("SV-21", "kubernetes")[0]
		r.Target.Distribution = "kubernetes"
		i := slices.IndexFunc(r.Results, func(res check.Result) bool { return res.ID == "SV-21" })
		r.Results[i].Verdict = check.Deviation
		r.Results[i].Deviations = []check.DeviationSeen{{ID: d.ID, Differs: d.Differs, Source: d.Source, Count: 1, Examples: []check.Violation{{Message: "m", Evidence: []int64{7}}}}}
		again(r)
	}
	deviation := func(change func(*ConformanceReport, *check.Result)) func(*ConformanceReport) {
		return func(r *ConformanceReport) {
			deviates(r)
			i := slices.IndexFunc(r.Results, func(res check.Result) bool { return res.ID == "SV-21" })
			change(r, &r.Results[i])
		}
	}
	r := valid()
	deviates(r)
	if err := r.Validate(); err != nil {
		t.Fatalf("a documented deviation: %v", err)
	}

	for _, tc := range []struct {
		name   string
		change func(*ConformanceReport)
		want   string
	}{
		{"another version", func(r *ConformanceReport) { r.APIVersion = "evenkeel.dev/v2" }, `apiVersion and kind: it is a "RunReport" of "evenkeel.dev/v2"`},
		{"another kind", func(r *ConformanceReport) { r.Kind = "Scenario" }, `apiVersion and kind: it is a "Scenario"`},
		{"another suite", func(r *ConformanceReport) { r.Harness.Suite = strings.Repeat("0", 64) }, "harness.suite: it was judged by the requirements and checks"},
		{"no suite", func(r *ConformanceReport) { r.Harness.Suite = "" }, "harness.suite"},
		{"another schema", func(r *ConformanceReport) { r.Harness.Schema = strings.Repeat("0", 64) }, "harness.schema: it is written in the form"},

		{"no run", func(r *ConformanceReport) { r.Run = "" }, "run is missing"},
		{"no scenario", func(r *ConformanceReport) { r.Scenario = "" }, "scenario is missing"},
		{"no harness", func(r *ConformanceReport) { r.Harness.Version = "" }, "harness.version is missing"},
		{"no provider", func(r *ConformanceReport) { r.Target.Provider = "" }, "target.provider is missing"},
		{"no distribution", func(r *ConformanceReport) { r.Target.Distribution = "" }, "target.distribution is missing"},
		{"no date", func(r *ConformanceReport) { r.Date = "yesterday" }, `date "yesterday" is no time`},
		{"a date elsewhere", func(r *ConformanceReport) { r.Date = "2026-11-20T10:00:00+01:00" }, "is no time"},
		{"no digest of the history", func(r *ConformanceReport) { r.Digests.History = "" }, "digests.history is missing"},
		{"a digest in capitals", func(r *ConformanceReport) { r.Digests.Scenario = strings.Repeat("A", 64) }, "digests.scenario"},
		{"a short digest", func(r *ConformanceReport) { r.Harness.Digest = "abc" }, "harness.digest"},
		{"no digest of the topology", func(r *ConformanceReport) { r.Target.Topology.Digest = "x" }, "target.topology.digest"},
		{"no contact", func(r *ConformanceReport) {
			i := *r.Implementation
			i.Contact = nil
			r.Implementation = &i
		}, "implementation.contact is missing"},
		{"less than no events", func(r *ConformanceReport) { r.Events = -1 }, "events: there are -1 of them"},
		{"not played to its end", func(r *ConformanceReport) { r.Complete = false }, "doubts: the scenario was not played to its end"},
		{"damaged", func(r *ConformanceReport) { r.Damage = []string{"Line 4 is empty."} }, "doubts: the history is damaged"},

		{"no members", func(r *ConformanceReport) { r.Target.Members = nil }, "target.members is missing"},
		{"a member without a name", func(r *ConformanceReport) { r.Target.Members = []history.MemberHeader{{}} }, "target.members: one has no name"},
		{"a member twice", func(r *ConformanceReport) { r.Target.Members = append(r.Target.Members, r.Target.Members[0]) }, "target.members[cp1] is there twice"},
		{"a release that did not run", func(r *ConformanceReport) { r.Target.Releases = []string{"1.3"} }, "target.releases: cp1 began at 1.2"},
		{"gates of no release", func(r *ConformanceReport) { r.Target.Gates["1.9"] = nil }, "target.gates[1.9]"},
		{"mixed", func(r *ConformanceReport) { r.States[0].Mixed = true }, "states[before].mixed is true"},
		{"not mixed", func(r *ConformanceReport) { r.States[1].Mixed = false }, "states[half].mixed is false"},

		{"a result twice", func(r *ConformanceReport) { r.Results = append(r.Results, r.Results[0]); again(r) }, "results[SV-01] is there twice"},
		{"a result of nothing", result(func(res *check.Result) { res.ID = "SV-99" }), "results[SV-99]: the catalog has no such requirement"},
		{"another level", result(func(res *check.Result) { res.Level = requirement.Should }), "results[SV-01]: the catalog has another level or promise"},
		{"another promise", result(func(res *check.Result) { res.Promise = "All is well." }), "results[SV-01]: the catalog has another level or promise"},
		{"judged and not judged", func(r *ConformanceReport) { r.NotJudged = []requirement.ID{"SV-01"}; again(r) }, "notJudged[SV-01]: there is a result for it"},
		{"not judged twice", func(r *ConformanceReport) { r.NotJudged = []requirement.ID{"SV-08", "SV-08"}; again(r) }, "notJudged[SV-08]: there is a result for it, or it is there twice"},
		{"nothing not judged", func(r *ConformanceReport) { r.NotJudged = []requirement.ID{"SV-99"}; again(r) }, "notJudged[SV-99]: the catalog has no such requirement"},

		{"unknown verdict", result(func(res *check.Result) { res.Verdict = "splendid" }), `results[SV-01]: there is no verdict "splendid"`},
		{"no verdict", result(func(res *check.Result) { res.Verdict = "" }), `results[SV-01]: there is no verdict ""`},
		{"a pass of nothing", result(func(res *check.Result) { res.Observations = nil }), "results[SV-01]: it is pass without evidence"},
		{"a pass of nothing seen", result(func(res *check.Result) { res.Observations = []check.Observation{{What: "looks"}} }), "results[SV-01]: it is pass without evidence"},
		{"a pass of too little", result(func(res *check.Result) { res.Observations[0].Seen = 2 }), `results[SV-01]: it is pass, and of "looks" there were 2 of 3`},
		{"a pass with reasons", result(func(res *check.Result) { res.Reasons = []string{"but"} }), "results[SV-01]: it is a pass with reasons"},
		{"a pass with violations", result(func(res *check.Result) { fail(res); res.Verdict = check.Pass }), "results[SV-01]: it is pass with violations"},
		{"a pass with a count of them", result(func(res *check.Result) { res.ViolationCount = 1 }), "results[SV-01]: it is pass with violations"},
		{"a pass with deviations", func(r *ConformanceReport) {
			deviation(func(_ *ConformanceReport, res *check.Result) { res.Verdict = check.Pass })(r)
			again(r)
		}, "results[SV-21]: it is a pass with reasons against it or with deviations"},
		{"a pass in doubt", func(r *ConformanceReport) { r.Doubts = []string{"it was cut off"} }, "results[SV-01]: it is pass, and nothing of this run can be trusted"},

		{"a fail of nothing", result(func(res *check.Result) { fail(res); res.Violations = nil }), "results[SV-01]: it is a fail without a violation"},
		{"a fail without evidence", result(func(res *check.Result) { fail(res); res.Violations[0].Evidence = nil }), "results[SV-01]: it is a fail without evidence"},
		{"a fail in silence", result(func(res *check.Result) { fail(res); res.Violations[0].Message = "" }), "results[SV-01].violations[0] says nothing"},
		{"a fail that counts too few", result(func(res *check.Result) { fail(res); res.ViolationCount = 0 }), "results[SV-01]: it has 1 violations and counts 0"},
		{"evidence beyond the end", result(func(res *check.Result) { fail(res); res.Violations[0].Evidence[0] = 501 }), "results[SV-01].violations[0]: the history has no event 501"},
		{"evidence before the beginning", result(func(res *check.Result) { fail(res); res.Violations[0].Evidence[0] = 0 }), "the history has no event 0"},
		{"open without a reason", result(func(res *check.Result) { res.Verdict = check.Inconclusive }), "results[SV-01]: it is inconclusive without a reason"},
		{"skipped without a reason", result(func(res *check.Result) { res.Verdict = check.Skipped }), "results[SV-01]: it is skipped without a reason"},
		{"open with violations", result(func(res *check.Result) { fail(res); res.Verdict, res.Reasons = check.Inconclusive, []string{"x"} }), "results[SV-01]: it is inconclusive with violations"},

		{"a deviation of a strict judge", deviation(func(r *ConformanceReport, _ *check.Result) { r.Strict = true }), "results[SV-21]: it is a deviation, and the judge was strict"},
		{"a deviation of nothing", deviation(func(_ *ConformanceReport, res *check.Result) { res.Deviations = nil }), "results[SV-21]: it is a deviation, and names none"},
		{"a deviation of another distribution", deviation(func(r *ConformanceReport, _ *check.Result) { r.Target.Distribution = "reference" }), "none of that name is documented of it"},
		{"a deviation without an example", deviation(func(_ *ConformanceReport, res *check.Result) { res.Deviations[0].Examples = nil }), "has no example"},
		{"a deviation that counts too few", deviation(func(_ *ConformanceReport, res *check.Result) { res.Deviations[0].Count = 0 }), "it has 1 examples and counts 0"},
		{"a deviation with an example from nowhere", deviation(func(_ *ConformanceReport, res *check.Result) { res.Deviations[0].Examples[0].Evidence[0] = 9999 }), "the history has no event 9999"},
		{"a deviation with reasons", deviation(func(_ *ConformanceReport, res *check.Result) { res.Reasons = []string{"x"} }), "it is a deviation with reasons"},
		{"a deviation of too little", deviation(func(_ *ConformanceReport, res *check.Result) { res.Observations = nil }), "it is deviation without evidence"},

		{"an unlisted requirement that passes", func(r *ConformanceReport) { r.Results[0].Unlisted = true }, "results[SV-01]: it is pass, and unlisted"},
		{"an unlisted requirement that stayed open", func(r *ConformanceReport) {
			r.Results[0].Verdict, r.Results[0].Reasons, r.Results[0].Unlisted = check.Inconclusive, []string{"too little"}, true
			again(r)
		}, "results[SV-01]: it is inconclusive, and unlisted"},
		{"another verdict of the whole", func(r *ConformanceReport) { r.Verdict = check.Fail }, "verdict: it is fail, and from the results follows pass"},
		{"a pass that was not judged as a whole", func(r *ConformanceReport) {
			r.NotJudged = []requirement.ID{"SV-08"}
			again(r)
			r.Verdict = check.Pass
		}, "verdict: it is pass, and from the results follows inconclusive"},
		{"a pass with a fail in it", func(r *ConformanceReport) {
			result(fail)(r)
			r.Verdict = check.Pass
		}, "verdict: it is pass, and from the results follows fail"},

		{"a profile twice", func(r *ConformanceReport) {
			r.Profiles = append(r.Profiles, r.Profiles[0])
			r.Statistics = r.statistics()
		}, "profiles[storage-version-rollout] is there twice"},
		{"a profile of nothing", func(r *ConformanceReport) { r.Profiles[0].Name = "moon" }, "profiles[moon]: the catalog has no such profile"},
		{"counts of the core", func(r *ConformanceReport) { r.Profiles[0].Core.Counts[check.Pass]++ }, "profiles[storage-version-rollout].core.counts: they say {pass:15}"},
		{"counts of the rest", func(r *ConformanceReport) { r.Profiles[0].Extended.Counts[check.Skipped] = 1 }, "profiles[storage-version-rollout].extended.counts"},
		{"an outcome of nothing", func(r *ConformanceReport) { r.Profiles[0].Extended.Outcome = "splendid"; r.Statistics = r.statistics() }, "extended.outcome: it is splendid"},
		{"a failure of nothing", func(r *ConformanceReport) { r.Profiles[0].Core.Outcome = Failure; r.Statistics = r.statistics() }, "core.outcome: it is failure, and from the results follows success"},
		{"statistics", func(r *ConformanceReport) { r.Statistics.Counts[check.Pass]-- }, "statistics: they say"},
		{"statistics of outcomes", func(r *ConformanceReport) { r.Statistics.Core = map[Outcome]int{Success: 2} }, "statistics: they say"},
		{"statistics of requirements", func(r *ConformanceReport) { r.Statistics.Requirements++ }, "statistics: they say"},

		{"a fault that is none", func(r *ConformanceReport) { r.Faults[0].Type = "" }, "faults[0]: id and type must be there"},
		{"a fault without a witness", func(r *ConformanceReport) { r.Faults[0].Witness = "" }, "faults[crash-1]: nothing proves that it bit"},
		{"etcd", func(r *ConformanceReport) { r.Etcd = []check.EtcdSeen{{Event: 4}} }, `etcd[0].problem: it says "", and the members say "no etcd was asked"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := valid()
			tc.change(r)
			err := r.Validate()
			var invalid *Invalid
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is more than one line: %q", err)
			}
		})
	}
}

// No core row that is anything but kept, documented or not there to keep leaves a
// success, whatever the sums say.
func TestSuccessIsOfNothingElse(t *testing.T) {
	p, err := requirement.LookupProfile(claimedProfile)
	if err != nil {
		t.Fatal(err)
	}
	core := 0
	for i, id := range p.Requirements {
		if req, _ := requirement.Lookup(id); req.Level != requirement.Must {
			continue
		}
		core++
		for _, verdict := range []check.Verdict{check.Fail, check.Inconclusive, check.Skipped, check.NotApplicable, "splendid", ""} {
			r := valid()
			if verdict == "" {
				r.Results = slices.Delete(r.Results, i, i+1)
				r.NotJudged = []requirement.ID{id}
			} else {
				r.Results[i].Verdict, r.Results[i].Reasons = verdict, []string{"x"}
			}
			again(r)
			if r.Profiles[0].Core.Outcome == Success || r.Verdict == check.Pass && verdict != check.NotApplicable {
				t.Errorf("%s is %q, and the core a %s in a run that is %s", id, verdict, r.Profiles[0].Core.Outcome, r.Verdict)
			}
			r.Profiles[0].Core.Outcome = Success
			if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "core: it is a success, and "+string(id)) {
				t.Errorf("%s is %q: %v", id, verdict, err)
			}
		}
	}
	if core != 14 {
		t.Errorf("the core has %d requirements", core)
	}
}
