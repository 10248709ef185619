package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/hack/internal/play"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/leadership"
)

// playedMembers is the number of members in a recorded run: the KEP speaks of three, and
// fewer members take less time.
const playedMembers = 3

// settles is the pause after a replacement. It is longer than a leader takes to give up
// and the coordinator to elect another one. Timings of Leases are a fifth of the usual
// ones, but the coordinator waits for candidates as long as usual.
const settles = 12 * time.Second

// topology has the usual timings of leaders, divided by five.
const topology = `apiVersion: evenkeel.dev/v1alpha1
kind: Topology
metadata: {name: skew}
spec:
  provider: local
  distribution: reference
  release: "1.2"
  members: [{name: cp1}, {name: cp2}, {name: cp3}]
  settings:
    identityLeaseDuration: 40s
    identityLeaseRenewInterval: 5s
    leaderElectLeaseDuration: 3s
    leaderElectRenewDeadline: 2s
    leaderElectRetryPeriod: 400ms
`

// leases are the Leases whose leaders are checked.
var leases = []string{"kube-system/kube-controller-manager", "kube-system/kube-scheduler"}

// scenario returns the scenario that replaces the members in the given order.
func scenario(c *cell, order []int) string {
	var b strings.Builder
	action, to, start := "upgrade", "@next", "1.2"
	if c.Back {
		action, to, start = "rollback", "@previous", "1.3"
	}
	fmt.Fprintf(&b, `apiVersion: evenkeel.dev/v1alpha1
kind: Scenario
metadata: {name: skew}
description: Replaces all members one by one, and records which instance leads.
judges: [SV-03]
leaderElection: {coordinated: %v}
start: {release: "%s"}
traffic: {off: true}
steps:
  - hold: {name: before, for: 1s}
`, c.Coordinated, start)
	for i, m := range order {
		fmt.Fprintf(&b, "  - %s: {member: \"@cp%d\", to: \"%s\"}\n  - hold: {name: replaced-%d, for: %s}\n", action, m+1, to, i+1, settles)
	}
	return b.String()
}

// measure runs the scenario of each cell, and adds the results to m.
func measure(ctx context.Context, o options, m *measured, save func() error) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("make the folder of the runs: %w", err)
	}
	plan := filepath.Join(o.out, "topology.yaml")
	if err := os.WriteFile(plan, []byte(topology), 0o644); err != nil {
		return fmt.Errorf("write the topology: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.parallel)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(o.seed, 0))
	for n := range o.runs {
		for _, coordinated := range []bool{false, true} {
			for _, back := range []bool{false, true} {
				mu.Lock()
				c := m.of(coordinated, back)
				mu.Unlock()
				order := random.Perm(playedMembers)
				name := fmt.Sprintf("%s-%s-%d", electing(coordinated), way(back), n+1)
				group.Go(func() error {
					s, err := once(ctx, o, plan, name, scenario(c, order))
					if err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
					mu.Lock()
					defer mu.Unlock()
					c.add(s)
					fmt.Printf("%-28s %v: %s of skew, lasting: %v\n", name, order, s.skewed.Round(time.Millisecond), s.lasting)
					return save()
				})
			}
		}
	}
	return group.Wait()
}

// seen is the result of one run.
type seen struct {
	// skewed is how long a leader was newer than an API server, and lasting whether a
	// leader still was at the end of a hold.
	skewed  time.Duration
	lasting bool
}

func once(ctx context.Context, o options, plan, name, text string) (seen, error) {
	dir := filepath.Join(o.out, name)
	file := dir + ".yaml"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return seen{}, fmt.Errorf("write the scenario: %w", err)
	}
	out, err := play.Run(ctx, o.evenkeel, dir, "--topology", plan, "--scenario", file, "--focus", "^SV-03$")
	if err != nil {
		return seen{}, err
	}
	if !out.Report.Complete {
		return seen{}, fmt.Errorf("the scenario was not played to its end: %s", out.Report.Message)
	}
	history, err := bundle.History(dir)
	if err != nil {
		return seen{}, err
	}
	s, err := look(ctx, history)
	if err != nil {
		return seen{}, err
	}
	if err := errors.Join(os.RemoveAll(dir), os.Remove(file), os.Remove(dir+".log")); err != nil {
		return seen{}, fmt.Errorf("remove the files of the run: %w", err)
	}
	return s, nil
}

// look computes the result of a run from its history.
func look(ctx context.Context, file string) (seen, error) {
	var out seen
	var t *leadership.Tracker
	led := map[string]time.Duration{}
	spent := map[string]time.Duration{}
	err := history.Each(ctx, file, func(h history.Header) { t = leadership.New(h) }, func(ev *history.Event) {
		for _, s := range t.Take(ev) {
			led[s.Lease.Name] += s.Led
			spent[s.Lease.Name] += s.Skewed
		}
		if ev.Hold == nil || ev.Hold.Phase != history.PhaseEnd {
			return
		}
		for _, l := range t.Leases() {
			out.lasting = out.lasting || slices.Contains(leases, l.Name) && t.Skewed(l)
		}
	})
	if err != nil {
		return seen{}, err
	}
	some := false
	for _, name := range leases {
		some = some || led[name] > 0
		out.skewed = max(out.skewed, spent[name])
	}
	if !some {
		return seen{}, errors.New("no leader was seen, so the run shows nothing; see whether the control plane of this run elected one")
	}
	return out, nil
}

func electing(coordinated bool) string {
	if coordinated {
		return "coordinated"
	}
	return "plain"
}

func way(back bool) string {
	if back {
		return "rollback"
	}
	return "upgrade"
}
