package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// Request is what a campaign is asked for.
type Request struct {
	Topology, Release string
	Asked
	// Version of this evenkeel, for the record.
	Version   string
	Providers cluster.Registry
}

// NewPlan plans a campaign.
func NewPlan(ctx context.Context, r Request) (*Plan, error) {
	program, err := run.ProgramDigest()
	if err != nil {
		return nil, err
	}
	p := &Plan{APIVersion: APIVersion, Kind: PlanKind, Harness: Program{r.Version, program}, Suite: check.Suite(), Asked: r.Asked}
	if p.Target, err = target(r); err != nil {
		return nil, err
	}
	profiles, err := requirement.LookupProfiles(r.Profiles)
	if err != nil {
		return nil, err
	}
	wanted, err := requirement.Select(profiles, r.Focus)
	if err != nil {
		return nil, err
	}
	for _, req := range wanted {
		p.Requirements = append(p.Requirements, req.ID)
	}
	p.Asked.Profiles = nil
	for _, profile := range profiles {
		p.Asked.Profiles = append(p.Asked.Profiles, profile.Name)
	}
	if p.Asked.Tries < 1 || p.Asked.Tries > maxTries || p.Asked.Repeat < 1 {
		return nil, fmt.Errorf("--repeat is to be at least 1, and --tries between 1 and %d", maxTries)
	}
	candidates, err := shipped(ctx, r)
	if err != nil {
		return nil, err
	}
	return p, p.lay(candidates)
}

func target(r Request) (PlannedTarget, error) {
	raw, err := clusters.Read(r.Topology)
	if err != nil {
		return PlannedTarget{}, fmt.Errorf("the topology %s cannot be read: %w", r.Topology, err)
	}
	topology, err := cluster.ParseTopology(r.Topology, raw)
	if err != nil {
		return PlannedTarget{}, err
	}
	t := PlannedTarget{
		Topology: r.Topology, TopologyDigest: bundle.ContentDigest(raw), Release: r.Release,
		Provider: topology.Spec.Provider, Distribution: topology.Spec.Distribution,
	}
	for _, m := range topology.Spec.Members {
		t.Members = append(t.Members, m.Name)
	}
	return t, nil
}

// shipped are the scenarios that ship with evenkeel, or those of them that were named, each
// with why it cannot be played on the target.
func shipped(ctx context.Context, r Request) ([]Candidate, error) {
	all, err := run.Shipped()
	if err != nil {
		return nil, fmt.Errorf("read the scenarios: %w", err)
	}
	var out []Candidate
	var known []string
	for _, s := range all {
		name := s.Metadata.Name
		known = append(known, name)
		if len(r.Scenarios) > 0 && !slices.Contains(r.Scenarios, name) {
			continue
		}
		c := Candidate{Name: name, Cost: s.Cost()}
		for _, id := range s.Judges {
			c.Judges = append(c.Judges, requirement.ID(id))
		}
		if _, err := run.PlayedDigest(name, 1); err != nil {
			return nil, err
		}
		c.Digest = func(seed int64) string {
			digest, err := run.PlayedDigest(name, seed)
			if err != nil {
				panic(fmt.Sprintf("the scenario %s was there before: %v", name, err)) // it is compiled in
			}
			return digest
		}
		c.Unplayable = run.Check(ctx, run.Options{
			Topology: r.Topology, Release: r.Release, Scenario: run.ScenarioPath(name), Focus: "^(" + strings.Join(s.Judges, "|") + ")$",
			Defect: r.Defect, Strict: r.Strict, AllowDisruption: r.AllowDisruption, Seed: 1, Providers: r.Providers,
		})
		out = append(out, c)
	}
	for _, name := range r.Scenarios {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no scenario %q; `evenkeel scenarios` lists those that ship", name)
		}
	}
	return out, nil
}
