package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Cheapest returns the path of the shipped scenario that costs least of those that can judge
// all of the requirements. A scenario that needs ValidatingAdmissionPolicies, which not all
// API servers have, is the last choice.
func Cheapest(requirements []string) (string, bool) {
	if len(requirements) == 0 {
		return "", false
	}
	files, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
	if err != nil {
		return "", false
	}
	best, bestCost, bestNeeds := "", time.Duration(0), false
	for _, file := range files {
		s, err := scenario.LoadFS(fixtures.Files, file)
		if err != nil || slices.ContainsFunc(requirements, func(id string) bool { return !slices.Contains(s.Judges, id) }) {
			continue
		}
		c, needs := s.Cost(), s.Takes(cluster.DeniesWrites)
		if best == "" || bestNeeds && !needs || bestNeeds == needs && c < bestCost {
			best, bestCost, bestNeeds = path.Join("fixtures", file), c, needs
		}
	}
	return best, best != ""
}

// Check reads and checks all that a run of the options would, and asks the cluster, which it
// makes and does not start, whether it can play the scenario. It runs nothing.
func Check(ctx context.Context, o Options) (err error) {
	p, err := prepare(ctx, o, clock.RealClock{}.Now())
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "evenkeel-check-")
	if err != nil {
		return fmt.Errorf("make a folder to ask the provider in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := p.provider.New(ctx, p.topology, cluster.Options{
		Name: p.id, Owner: "check", BundleDir: dir, LogDir: filepath.Join(dir, bundle.LogDir), Observer: func(cluster.Change) {},
		Defects: p.defects, Seed: p.seed, AllowDisruption: o.AllowDisruption,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(ctx)) }()
	leftOut := p.scenario.LeaveOut(c)
	header, err := p.header(c, o, nil)
	if err != nil {
		return err
	}
	header.Lacks = p.scenario.Lacks(c, leftOut, o.AllowDisruption)
	return errors.Join(p.worthwhile(header), p.scenario.Playable(c, leftOut))
}

// Shipped returns the scenarios that ship with Evenkeel, by name. They are read once, and the
// caller must not change them.
func Shipped() ([]*scenario.Scenario, error) { return shipped() }

var shipped = sync.OnceValues(func() ([]*scenario.Scenario, error) {
	files, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*scenario.Scenario
	for _, file := range files {
		s, err := scenario.LoadFS(fixtures.Files, file)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
})

// ScenarioPath is where the scenario of that name ships.
func ScenarioPath(name string) string { return path.Join("fixtures", "scenarios", name+".yaml") }

// PlayedDigest is the SHA-256, in hexadecimal, of scenario.yaml in the bundle of a run that
// plays a shipped scenario with a seed, at the release that was asked for, if any.
func PlayedDigest(name, release string, seed int64) (string, error) {
	raw, err := fs.ReadFile(fixtures.Files, path.Join("scenarios", name+".yaml"))
	if err != nil {
		return "", fmt.Errorf("read the scenario %s: %w", name, err)
	}
	if release != "" {
		if raw, err = withStart(raw, release); err != nil {
			return "", fmt.Errorf("the scenario %s: %w", name, err)
		}
	}
	return bundle.ContentDigest((&plan{seed: seed, scenarioYAML: raw}).played()), nil
}

// ProgramDigest is the SHA-256 of this program, in hexadecimal, as histories name it.
func ProgramDigest() (string, error) { return executableDigest() }
