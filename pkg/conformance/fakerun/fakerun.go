// Package fakerun plays `evenkeel run` in tests: the same command line and real bundles, but
// no control plane behind them. A test binary becomes it by calling Main first in TestMain.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package fakerun

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/run"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// Variable is the environment variable that turns a test binary into the fake. It holds a
// Script.
const Variable = "EVENKEEL_FAKE_RUN"

// Judges is the requirement that the fake's histories are about.
const Judges = "SV-06"

// The ways in which a run of the fake comes out.
const (
	Pass = "pass"
	Fail = "fail"
	// Weak is inconclusive each time, and WeakOnce in the first try alone.
	Weak     = string(story.Inconclusive)
	WeakOnce = "weak-once"
	// Crash leaves no bundle, and CrashOnce none in the first try.
	Crash     = "crash"
	CrashOnce = "crash-once"
	// Refuse says that the provider does not support the scenario.
	Refuse = "refuse"
	// Leak passes, and ends with the status of a run that must not count.
	Leak = "leak"
	// Dies shows a breach, and is killed before it has judged.
	Dies = "dies"
)

// Script says how runs come out.
type Script struct {
	// Runs has an outcome for each scenario and seed, such as quick/2; the others pass.
	Runs map[string]string `json:"runs"`
	// Most is the longest that a run takes, in milliseconds.
	Most int `json:"most"`
	// Program is the digest that histories have for the program; empty means that of the
	// test binary, which takes long to compute in each child.
	Program string `json:"program,omitempty"`
}

// String encodes the script for Variable.
func (s Script) String() string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // it has nothing that JSON cannot say
	}
	return string(raw)
}

// Main plays `evenkeel run` and exits, if the process was started to do so.
func Main() {
	text := os.Getenv(Variable)
	if text == "" || len(os.Args) < 2 || os.Args[1] != "run" {
		return
	}
	var s Script
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		os.Exit(couldNotRun)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	code, err := s.Play(ctx, os.Args[2:])
	if err != nil {
		fmt.Println("evenkeel:", err)
	}
	os.Exit(code)
}

const couldNotRun = 3

// Play plays a run with the arguments of `evenkeel run`, and gives the exit status.
func (s Script) Play(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	o := options{program: s.Program}
	flags.StringVar(&o.scenario, "scenario", "", "")
	flags.StringVar(&o.focus, "focus", "", "")
	flags.StringVar(&o.out, "out", "", "")
	flags.StringVar(&o.defect, "defect", "", "")
	flags.String("topology", "", "")
	flags.String("release", "", "")
	flags.Bool("strict", false, "")
	flags.Bool("allow-disruption", false, "")
	flags.Int64Var(&o.seed, "seed", 0, "")
	if err := flags.Parse(args); err != nil {
		return couldNotRun, err
	}
	o.scenario = strings.TrimSuffix(filepath.Base(o.scenario), ".yaml")
	outcome := s.Runs[fmt.Sprintf("%s/%d", o.scenario, o.seed)]
	first := strings.HasSuffix(strings.ReplaceAll(o.out, "-again", ""), "-1")
	switch {
	case outcome == "" || (outcome == WeakOnce || outcome == CrashOnce) && !first:
		outcome = Pass
	case outcome == WeakOnce:
		outcome = Weak
	case outcome == CrashOnce:
		outcome = Crash
	}
	interrupted := s.wait(ctx)
	if interrupted && outcome != Fail && rand.IntN(2) == 0 {
		return couldNotRun, errors.New("interrupted before there was anything to judge")
	}
	return o.end(context.WithoutCancel(ctx), outcome, interrupted)
}

// wait takes a time of chance, and says whether it was interrupted.
func (s Script) wait(ctx context.Context) bool {
	if s.Most == 0 {
		return ctx.Err() != nil
	}
	timer := time.NewTimer(time.Duration(rand.IntN(s.Most)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-ctx.Done():
		return true
	}
}

type options struct {
	scenario, focus, out, defect, program string
	seed                                  int64
}

// end leaves what a run of that outcome leaves.
func (o options) end(ctx context.Context, outcome string, interrupted bool) (int, error) {
	switch outcome {
	case Crash:
		return couldNotRun, errors.New("the fake has crashed")
	case Refuse:
		return couldNotRun, fmt.Errorf("step 1: %w", cluster.ErrUnsupported)
	case Dies:
		if err := o.record(Fail, false); err != nil {
			return couldNotRun, err
		}
		return -1, nil
	case Leak:
		outcome = Pass
		defer func() { fmt.Println("evenkeel: the bundle held a credential") }()
	}
	if err := o.record(outcome, interrupted); err != nil {
		return couldNotRun, err
	}
	rep, err := judge.Bundle(ctx, o.out)
	if err != nil {
		return couldNotRun, err
	}
	raw, err := rep.YAML()
	if err != nil {
		return couldNotRun, err
	}
	if err := os.WriteFile(filepath.Join(o.out, bundle.ReportFile), raw, 0o600); err != nil {
		return couldNotRun, err
	}
	if err := bundle.Seal(ctx, o.out); err != nil {
		return couldNotRun, err
	}
	return map[check.Verdict]int{check.Pass: 0, check.Fail: 1, check.Inconclusive: 2}[rep.Verdict], nil
}

// record writes the history of a run, and what lies beside it.
func (o options) record(outcome string, interrupted bool) error {
	if err := bundle.Create(o.out); err != nil {
		return err
	}
	_, scenario, err := run.LoadScenario(run.ScenarioPath(o.scenario))
	if err != nil {
		return err
	}
	program := o.program
	if program == "" {
		if program, err = run.ProgramDigest(); err != nil {
			return err
		}
	}
	s := story.Named(stories.All(), Judges+"/"+outcome)
	h := s.Header()
	h.Run, h.Scenario, h.Seed, h.HarnessDigest, h.Defect = "run-"+filepath.Base(o.out), o.scenario, o.seed, program, o.defect
	h.Judges, h.Asked, h.Files = []string{Judges}, []string{Judges}, map[string]string{}
	for name, content := range map[string][]byte{
		bundle.ScenarioFile:    fmt.Appendf(nil, "# Played with seed %d.\n%s", o.seed, scenario),
		bundle.TopologyFile:    []byte("metadata:\n  name: local-3\nspec:\n  provider: local\n  distribution: reference\n  members: [{name: cp1}, {name: cp2}, {name: cp3}]\n"),
		bundle.EnvironmentFile: fmt.Appendf(nil, "harness: %s\nseed: %d\n", h.Harness, o.seed),
	} {
		if err := os.WriteFile(filepath.Join(o.out, name), content, 0o600); err != nil {
			return err
		}
		h.Files[name] = bundle.ContentDigest(content)
	}
	file, err := os.Create(filepath.Join(o.out, bundle.HistoryFile))
	if err != nil {
		return err
	}
	events := s.Events()
	for i := range events {
		if interrupted && events[i].End != nil {
			events[i].End = &history.End{Message: run.Interrupted}
		}
	}
	return errors.Join(story.Write(file, h, events), file.Close())
}
