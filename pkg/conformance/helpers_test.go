package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

func TestMain(m *testing.M) {
	fakerun.Main()
	fakeCampaign()
	os.Exit(m.Run())
}

// planned is a plan of scenarios that judge what the fake's histories are about.
func planned(t testing.TB, change func(*Request)) *Plan {
	t.Helper()
	plan, err := makePlan(change)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func makePlan(change func(*Request)) (*Plan, error) {
	r := Request{
		Topology: "clusters/local-3.yaml", Version: "pkg/story", Providers: cluster.Registry{fakerun.Provider{}},
		Asked: Asked{Focus: "^" + fakerun.Judges + "$", Repeat: 1, Tries: 3, Seed: 1},
	}
	if change != nil {
		change(&r)
	}
	return NewPlan(context.Background(), r)
}

// inProcess plays the fake without a process.
type inProcess struct {
	script fakerun.Script
	mu     sync.Mutex
	played []string
}

func (p *inProcess) Play(ctx context.Context, order Order, started func(Process) error) (Played, error) {
	p.mu.Lock()
	p.played = append(p.played, filepath.Base(order.Dir))
	p.mu.Unlock()
	if err := started(Process{}); err != nil {
		return Played{}, err
	}
	code, err := p.script.Play(ctx, order.Args[1:])
	if err != nil {
		return Played{Status: code, Said: err.Error()}, nil
	}
	return Played{Status: code, Said: "Bundle: " + order.Dir}, nil
}

// heard is a view that keeps what it is told.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}
func (h *heard) Begin(Progress)             {}
func (h *heard) End()                       {}
func (h *heard) Started(line Line, try int) { h.add("%d started %d", line.Number, try) }
func (h *heard) GivenUp(line Line)          { h.add("%d given up", line.Number) }
func (h *heard) Paced(parallel int)         { h.add("paced %d", parallel) }
func (h *heard) Say(text string)            { h.add("%s", text) }
func (h *heard) Ended(line Line, e Ended, told Told, again bool) {
	h.add("%d ended %d %s %v", line.Number, e.Try, told.Verdict, again)
}

// playCampaign plays a new campaign with the fake.
func playCampaign(t testing.TB, plan *Plan, script fakerun.Script, o Options) (*Report, string) {
	t.Helper()
	o = options(t, script, o)
	rep, err := Begin(context.Background(), plan, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep, o.Dir
}

func options(t testing.TB, script fakerun.Script, o Options) Options {
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "campaign")
	}
	if o.Player == nil {
		o.Player = &inProcess{script: script}
	}
	if o.View == nil {
		o.View = &heard{}
	}
	o.Clock = clock.RealClock{}
	return o
}

func of(t testing.TB, rep *Report, id string) Requirement {
	t.Helper()
	for _, r := range rep.Requirements {
		if string(r.ID) == id {
			return r
		}
	}
	t.Fatalf("there is no %s in %+v", id, rep.Requirements)
	return Requirement{}
}

func contains(texts []string, part string) bool {
	return strings.Contains(strings.Join(texts, "\n"), part)
}
