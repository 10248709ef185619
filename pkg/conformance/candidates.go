package conformance

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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
	if err := p.choose(); err != nil {
		return nil, err
	}
	if p.Asked.Tries < 1 || p.Asked.Tries > maxTries || p.Asked.Repeat < 1 {
		return nil, fmt.Errorf("--repeat is to be at least 1, and --tries between 1 and %d", maxTries)
	}
	candidates, err := shipped(r.Scenarios, r.Release)
	if err != nil {
		return nil, err
	}
	for i := range candidates {
		c := &candidates[i]
		c.Unplayable = run.Check(ctx, run.Options{
			Topology: r.Topology, Release: r.Release, Scenario: run.ScenarioPath(c.Name), Focus: focusOn(c.Judges),
			Defect: r.Defect, Strict: r.Strict, AllowDisruption: r.AllowDisruption, Seed: 1, Providers: r.Providers,
		})
	}
	return p, p.lay(candidates)
}

// choose looks up the requirements that are asked for.
func (p *Plan) choose() error {
	profiles, err := requirement.LookupProfiles(p.Asked.Profiles)
	if err != nil {
		return err
	}
	wanted, err := requirement.Select(profiles, p.Asked.Focus)
	if err != nil {
		return err
	}
	p.Requirements, p.Asked.Profiles = nil, nil
	candidates, err := shipped(p.Asked.Scenarios, p.Target.Release)
	if err != nil {
		return err
	}
	for _, req := range wanted {
		// A user who names scenarios asks for what these judge, as in a single run.
		if len(p.Asked.Scenarios) == 0 || slices.ContainsFunc(candidates, func(c Candidate) bool { return slices.Contains(c.Judges, req.ID) }) {
			p.Requirements = append(p.Requirements, req.ID)
		}
	}
	for _, profile := range profiles {
		p.Asked.Profiles = append(p.Asked.Profiles, profile.Name)
	}
	return nil
}

// again plans the same once more, from what the plan itself says was asked, and which
// scenarios the target cannot be played on with. A plan that differs was changed.
func (p *Plan) again() (*Plan, error) {
	candidates, err := shipped(p.Asked.Scenarios, p.Target.Release)
	if err != nil {
		return nil, err
	}
	for i := range candidates {
		for _, l := range p.LeftOut {
			if l.Scenario == candidates[i].Name {
				candidates[i].Unplayable = errors.New(l.Reason)
			}
		}
	}
	out := *p
	out.Lines, out.LeftOut = nil, nil
	if err := out.choose(); err != nil {
		return nil, err
	}
	return &out, out.lay(candidates)
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

// shipped are the scenarios that ship with evenkeel, or those of them that are named, as they are
// played at the release that was asked for, if any.
func shipped(named []string, release string) ([]Candidate, error) {
	all, err := run.Shipped()
	if err != nil {
		return nil, fmt.Errorf("read the scenarios: %w", err)
	}
	// The list of scenarios has the names of files, and `evenkeel run` takes paths.
	named = slices.Clone(named)
	for i, name := range named {
		named[i] = strings.TrimSuffix(strings.TrimPrefix(name, "fixtures/scenarios/"), ".yaml")
	}
	var out []Candidate
	var known []string
	for _, s := range all {
		name := s.Metadata.Name
		known = append(known, name)
		if len(named) > 0 && !slices.Contains(named, name) {
			continue
		}
		c := Candidate{Name: name, Cost: s.Cost(), Digest: func(seed int64) (string, error) { return run.PlayedDigest(name, release, seed) }}
		for _, id := range s.Judges {
			c.Judges = append(c.Judges, requirement.ID(id))
		}
		out = append(out, c)
	}
	for _, name := range named {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no scenario %q; `evenkeel scenarios` lists those that ship", name)
		}
	}
	return out, nil
}

// focusOn is the regular expression that matches these requirements alone.
func focusOn(ids []requirement.ID) string {
	var out []string
	for _, id := range ids {
		out = append(out, regexp.QuoteMeta(string(id)))
	}
	return "^(" + strings.Join(out, "|") + ")$"
}
