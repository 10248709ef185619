// Package play turns scenarios into specs: an ordered container plays its
// scenario once, and each of its specs is one requirement whose verdict comes from
// the recorded history. One more spec fails if the history shows a breach of a
// requirement that has no spec in the container. The specs are ordinary Go packages;
// the ginkgo command runs them.
//
// These variables change what the specs play:
//
//	EVENKEEL_TOPOLOGY  the control plane, a file or one that ships (clusters/local-3.yaml)
//	EVENKEEL_OUT       the folder in which each scenario writes its bundle (_out)
//	EVENKEEL_REFPLANE  the reference control plane's binary (built from source)
//
// ginkgo's own --seed is the seed of the run.
package play

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/run"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Bounds of a container.
const (
	// playTimeout bounds one scenario with starting and stopping its cluster. Every
	// shipped scenario takes far less, on kind nodes too: the timeout ends a run that
	// hangs, and decides no verdict.
	playTimeout = time.Hour
	// graceAfterInterrupt is how long an interrupted scenario may take to complete its
	// bundle and to stop its cluster.
	graceAfterInterrupt = run.StopTimeout + 5*time.Second
)

// Scenario registers the specs of one shipped scenario, named by its file
// below fixtures/scenarios. Call it at package level: var _ = play.Scenario(…).
func Scenario(file string) bool {
	file = "fixtures/scenarios/" + file
	loaded, _, err := run.LoadScenario(file)
	if err != nil {
		panic(fmt.Sprintf("a scenario that ships with evenkeel is broken: %v", err))
	}
	name := loaded.Metadata.Name
	return ginkgo.Describe(name, ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		requirements := selected(name, loaded)
		if len(requirements) == 0 {
			return
		}
		played := &player{file: file, name: name, requirements: requirements}
		ginkgo.BeforeAll(played.play, ginkgo.NodeTimeout(playTimeout), ginkgo.GracePeriod(graceAfterInterrupt))
		played.specs()
	})
}

// labels are what --label-filter selects a requirement by.
func labels(r requirement.Requirement) []string {
	return []string{string(r.ID), r.Source, string(r.Level)}
}

// specs registers the specs that read the verdicts of the scenario.
func (p *player) specs() {
	for _, r := range p.requirements {
		ginkgo.It(text(r), ginkgo.Label(labels(r)...), func() { p.judge(r.ID) })
	}
	ginkgo.It(nothingElse, p.judgeRest)
	// --focus, --skip and --label-filter leave that spec out in most cases, and a breach
	// must fail the suite in all of them.
	ginkgo.AfterAll(p.judgeRestOnce)
}

// nothingElse is the text of the spec on all requirements that have no spec of their own.
const nothingElse = "no other requirement is broken"

// text names a spec by the ID, which --focus matches, and by the promise.
func text(r requirement.Requirement) string { return fmt.Sprintf("%s: %s", r.ID, r.Promise) }

// selected returns the requirements whose specs belong to this container.
func selected(name string, s *scenario.Scenario) []requirement.Requirement {
	suite, _ := ginkgo.GinkgoConfiguration()
	focus := make([]*regexp.Regexp, 0, len(suite.FocusStrings))
	for _, f := range suite.FocusStrings {
		if re, err := regexp.Compile(f); err == nil {
			focus = append(focus, re)
		}
	}
	return focused(name, s, focus)
}

// focused returns the requirements of a scenario that --focus selects. If it names a
// requirement and not the scenario, only the cheapest scenario that can judge the
// requirement has a spec for it, so that the user does not have to play the whole main
// job for one promise.
func focused(name string, s *scenario.Scenario, focus []*regexp.Regexp) []requirement.Requirement {
	matches := func(text string) bool {
		return len(focus) == 0 || slices.ContainsFunc(focus, func(re *regexp.Regexp) bool { return re.MatchString(text) })
	}
	var out []requirement.Requirement
	for _, r := range requirement.All() {
		if !slices.Contains(s.Judges, string(r.ID)) || !check.Built(r.ID) {
			continue
		}
		switch {
		case matches(name):
		case matches(text(r)):
			if cheapest, ok := run.Cheapest([]string{string(r.ID)}); ok && cheapest != "fixtures/scenarios/"+name+".yaml" {
				continue
			}
		case !matches(name + " " + text(r)): // ginkgo's name of the spec
			continue
		}
		out = append(out, r)
	}
	return out
}

// player plays a scenario once for all specs of its container.
type player struct {
	file, name   string
	requirements []requirement.Requirement
	results      map[requirement.ID]check.Result
	// broken are the results of requirements that have no spec in the container.
	broken []check.Result
	// restJudged is whether judgeRest ran.
	restJudged bool
}

func (p *player) play(ctx ginkgo.SpecContext) {
	suite, _ := ginkgo.GinkgoConfiguration()
	out := os.Getenv("EVENKEEL_OUT")
	if out == "" {
		out = run.DefaultOut
	}
	out = filepath.Join(out, p.name)
	// The bundle is named after the scenario, so it replaces that of an earlier run.
	if err := os.RemoveAll(out); err != nil {
		ginkgo.Fail(fmt.Sprintf("the bundle of an earlier run cannot be removed: %v", err))
	}
	fmt.Println()
	outcome, err := run.Run(ctx, run.Options{
		Topology: os.Getenv("EVENKEEL_TOPOLOGY"), Scenario: p.file, Focus: p.focus(),
		Seed: suite.RandomSeed, Out: out, Harness: cmp.Or(os.Getenv("EVENKEEL_VERSION"), "suites"), Console: os.Stdout, Providers: providers.All(),
	})
	if outcome != nil {
		fmt.Println()
		if err := outcome.Report.Table(os.Stdout, console.Width(os.Stdout)); err != nil {
			ginkgo.Fail(err.Error())
		}
		fmt.Printf("Bundle: %s\n", outcome.Bundle)
		if outcome.Oversize.Compressed > 0 {
			fmt.Println(outcome.Oversize)
		}
		p.remember(outcome.Report)
	}
	switch {
	case errors.Is(err, cluster.ErrUnsupported): // the scenario was refused
		ginkgo.Skip(err.Error())
	case err != nil:
		ginkgo.Fail(err.Error())
	}
}

// focus restricts judging to the container's requirements.
func (p *player) focus() string {
	var ids []string
	for _, r := range p.requirements {
		ids = append(ids, string(r.ID))
	}
	return "^(" + strings.Join(ids, "|") + ")$"
}

func (p *player) remember(r *report.ConformanceReport) {
	p.results = map[requirement.ID]check.Result{}
	for _, res := range r.Results {
		if res.Unlisted {
			p.broken = append(p.broken, res)
			continue
		}
		p.results[res.ID] = res
	}
}

// judgeRest is the body of the spec nothingElse.
func (p *player) judgeRest() {
	p.restJudged = true
	switch {
	case p.results == nil:
		ginkgo.Fail("nothing was judged")
	case len(p.broken) > 0:
		told := make([]string, 0, len(p.broken))
		for _, res := range p.broken {
			told = append(told, fmt.Sprintf("%s: %s", res.ID, breach(res)))
		}
		ginkgo.Fail("the history shows requirements broken that have no spec here:\n" + strings.Join(told, "\n"))
	}
}

// judgeRestOnce judges the rest if the spec nothingElse did not run. If there are no
// verdicts, the scenario has failed or was skipped, and ginkgo has reported that.
func (p *player) judgeRestOnce() {
	if !p.restJudged && p.results != nil {
		p.judgeRest()
	}
}

// breach returns the first breach, with the events that show it.
func breach(res check.Result) string {
	first := res.Violations[0]
	return fmt.Sprintf("%s (broken %d times; events %v of the history)", first.Message, res.ViolationCount, first.Evidence)
}

// judge is the body of a spec. Inconclusive fails: if the spec was skipped or passed
// without evidence, the suite would be green.
func (p *player) judge(id requirement.ID) {
	res, ok := p.results[id]
	if !ok {
		ginkgo.Fail(fmt.Sprintf("%s was not judged", id))
	}
	for _, o := range res.Observations {
		ginkgo.AddReportEntry(o.What, fmt.Sprintf("%d (needs %d)", o.Seen, o.Need), ginkgo.ReportEntryVisibilityFailureOrVerbose)
	}
	switch res.Verdict {
	case check.Pass:
	case check.Deviation:
		ginkgo.Skip(fmt.Sprintf("%s differs on purpose: %s", id, res.Deviations[0].Differs))
	case check.NotApplicable:
		ginkgo.Skip(strings.Join(res.Reasons, "; "))
	case check.Fail:
		ginkgo.Fail(fmt.Sprintf("%s: %s", id, breach(res)))
	default:
		ginkgo.Fail(fmt.Sprintf("%s is %s: %s", id, res.Verdict, strings.Join(res.Reasons, "; ")))
	}
}
