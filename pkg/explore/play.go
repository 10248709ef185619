package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/run"
	"github.com/evenkeel/evenkeel/pkg/scenario"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// Runs plays schedules by runs of the main job.
type Runs struct {
	Providers cluster.Registry
	Harness   string
	// Defect to plant, by ID, or several with commas between.
	Defect string
}

// Play is for Options.Play.
func (r Runs) Play(ctx context.Context, s *Schedule, files, bundle string) error {
	return r.play(ctx, filepath.Join(files, scenarioFile), filepath.Join(files, topologyFile), seedOf(s.Seed, s.Index), bundle)
}

func (r Runs) play(ctx context.Context, scenarioPath, topologyPath string, seed int64, bundle string) error {
	_, err := run.Run(ctx, run.Options{
		Topology: topologyPath, Scenario: scenarioPath, Seed: seed, Out: bundle, Defect: r.Defect,
		Focus: everything, Harness: r.Harness, Providers: r.Providers,
	})
	return err
}

// everything is the focus of a run that judges all requirements, also with a defect.
const everything = "."

// seedOf is the seed of one run of an exploration; 0 would have the run choose one.
func seedOf(seed int64, index int) int64 {
	if mixed := seed*1_000_003 + int64(index); mixed != 0 {
		return mixed
	}
	return 1
}

// NewComposer has a composer for a topology: it asks its provider what that can do.
func NewComposer(ctx context.Context, providers cluster.Registry, topology *cluster.Topology, seed int64) (composer *Composer, err error) {
	provider, err := providers.Check(ctx, topology, nil)
	if err != nil {
		return nil, err
	}
	if topology.ExternallyManaged() {
		return nil, errors.New("exploring makes a cluster for each schedule: a topology with provider external cannot be explored")
	}
	releases, err := provider.Releases(ctx, topology.Spec.Distribution)
	if err != nil {
		return nil, err
	}
	steps, faults, workloads, err := registered()
	if err != nil {
		return nil, err
	}
	when, err := scenario.WhenParameters()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "evenkeel-explore-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to ask the provider in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	asked, err := provider.New(ctx, topology, cluster.Options{
		Name: "explore-asked", Owner: "explore", BundleDir: dir, LogDir: filepath.Join(dir, "logs"), Observer: func(cluster.Change) {}, Seed: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("ask the provider %s what it can do: %w", topology.Spec.Provider, err)
	}
	grammar := NewGrammar(asked, steps, faults, workloads, when)
	if err := asked.Stop(ctx); err != nil {
		return nil, fmt.Errorf("ask the provider %s what it can do: %w", topology.Spec.Provider, err)
	}
	return &Composer{
		Grammar: grammar, Seed: seed,
		Target: Target{Topology: topology, Releases: releases, Name: fmt.Sprintf("explore-%d", seed)},
	}, nil
}

// registered are all entries: of the faults also those that ship as files, whose values fit what
// they are for.
func registered() (steps, faults, workloads []registry.Entry, err error) {
	files, err := FaultFiles(fixtures.Files)
	if err != nil {
		return nil, nil, nil, err
	}
	workloads, err = workload.Entries(fixtures.Files)
	return scenario.Entries(), append(fault.Entries(), files...), workloads, err
}
