package cluster

import (
	"context"
	"errors"
	"testing"
)

// listing is a provider that has something to offer but makes no clusters.
type listing struct {
	Provider
	releases []string
	defects  []Defect
}

func (listing) Name() string                                             { return "local" }
func (l listing) Releases(context.Context, string) ([]string, error)     { return l.releases, nil }
func (l listing) Defects(context.Context, string) ([]Defect, error)      { return l.defects, nil }
func (listing) New(context.Context, *Topology, Options) (Cluster, error) { return nil, nil }

func TestRegistryNew(t *testing.T) {
	full := listing{releases: []string{"1.1", "1.2"}, defects: []Defect{{ID: "SV-06"}}}
	for _, tc := range []struct {
		name        string
		registry    Registry
		change      func(*Topology)
		defects     []string
		expectError string
		// kind is one that the error is to be of.
		kind any
	}{
		{name: "fits", registry: Registry{full}, defects: []string{"SV-06"}},
		{name: "unknown provider", registry: Registry{full}, change: func(t *Topology) { t.Spec.Provider = "moon" },
			expectError: `f.yaml: there is no provider "moon"; known are: local`, kind: new(*UnknownProviderError)},
		{name: "unknown release", registry: Registry{full}, change: func(t *Topology) { t.SetRelease("9") },
			expectError: `has no release "9" for member cp1; it has: 1.1, 1.2`, kind: new(*UnknownReleaseError)},
		{name: "unknown release of one member", registry: Registry{full}, change: func(t *Topology) { t.Spec.Members[2].Release = "8" },
			expectError: `no release "8" for member cp3`, kind: new(*UnknownReleaseError)},
		{name: "unknown defect", registry: Registry{full}, defects: []string{"SV-99"},
			expectError: `has no defect "SV-99"; it has: SV-06`, kind: new(*UnknownDefectError)},
		{name: "nothing to plant", registry: Registry{listing{releases: full.releases}}, defects: []string{"SV-99"},
			expectError: "no defects that could be planted", kind: new(*UnknownDefectError)},
		{name: "reached from outside", registry: Registry{full}, change: func(t *Topology) {
			t.Spec.Members[0].External = &ExternalMember{Kubeconfig: Kubeconfig{File: "x"}}
			t.Spec.Members[1].External, t.Spec.Members[2].External = t.Spec.Members[0].External, t.Spec.Members[0].External
			t.Spec.Settings = Settings{}
		},
			expectError: "f.yaml: the provider local runs its members itself", kind: new(*TopologyError)},
		{name: "not reached", registry: Registry{adopting{full}}, expectError: "f.yaml: the provider local makes no cluster: say under spec.members", kind: new(*TopologyError)},
		{name: "invalid", registry: Registry{full}, change: func(t *Topology) { t.Metadata.Name = "" },
			expectError: "metadata.name", kind: new(*TopologyError)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			topology, err := ParseTopology("f.yaml", []byte(valid+members(3)))
			if err != nil {
				t.Fatal(err)
			}
			if tc.change != nil {
				tc.change(topology)
			}
			_, err = tc.registry.New(t.Context(), topology, Options{Defects: tc.defects})
			checkError(t, err, tc.expectError)
			if tc.kind != nil && !errors.As(err, tc.kind) {
				t.Errorf("%v is no %T", err, tc.kind)
			}
		})
	}
}

// adopting is a provider of clusters that are there already.
type adopting struct{ listing }

func (adopting) Adopts() {}
