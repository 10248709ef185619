package run

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// header of the history that this plan leads to. Files are the digests of those that
// were put beside it.
func (p *plan) header(c cluster.Cluster, o Options, files map[string]string) (history.Header, error) {
	digest, err := executableDigest()
	if err != nil {
		return history.Header{}, err
	}
	settings, err := p.topology.Spec.Settings.Named()
	if err != nil {
		return history.Header{}, err
	}
	h := history.Header{
		Run: p.id, Seed: p.seed, Harness: o.Harness, HarnessDigest: digest,
		Scenario: p.scenario.Metadata.Name, Provider: p.topology.Spec.Provider,
		Distribution: p.topology.Spec.Distribution, Asked: ids(p.asked), Judges: ids(p.requirements), Defect: o.Defect, Strict: o.Strict,
		MigrationRate: p.topology.Spec.Settings.MigrationRate,
		Topology:      &history.Topology{Name: p.topology.Metadata.Name, ReplaceWith: p.topology.Spec.ReplaceWith, Settings: settings},
		FeatureGates:  gates(c), Files: files,
	}
	for _, profile := range p.profiles {
		h.Profiles = append(h.Profiles, profile.Name)
	}
	for _, m := range c.Members() {
		h.Members = append(h.Members, memberHeader(m, c.Release(m.Name)))
	}
	for _, w := range p.scenario.Written() {
		h.Writes = append(h.Writes, history.WrittenResource{Group: w.Spec.Group, Resource: w.Spec.Resource, Kind: w.Spec.Kind})
	}
	h.Implementation = implementation(p.topology.Spec.Implementation, h.Members)
	return h, nil
}

func memberHeader(m cluster.Member, release string) history.MemberHeader {
	h := history.MemberHeader{Name: m.Name, ServerID: m.ServerID, Release: release}
	if m.Host != m.Name {
		h.Host = m.Host
	}
	return h
}

// implementation is the one that the topology names; where it leaves the version out,
// that is what the releases are called at which the members begin.
func implementation(named *history.Implementation, members []history.MemberHeader) *history.Implementation {
	if named == nil {
		return nil
	}
	out := *named
	if out.Version == "" {
		var releases []string
		for _, m := range members {
			if !slices.Contains(releases, m.Release) {
				releases = append(releases, m.Release)
			}
		}
		out.Version = strings.Join(releases, ", ")
	}
	return &out
}

// gates are those of each release that the cluster can run, where it has any.
func gates(c cluster.Cluster) map[string]map[string]string {
	gated, ok := c.(cluster.FeatureGated)
	if !ok {
		return nil
	}
	var out map[string]map[string]string
	for _, release := range c.Releases() {
		if of := gated.Gates(release); len(of) > 0 {
			if out == nil {
				out = map[string]map[string]string{}
			}
			out[release] = of
		}
	}
	return out
}
