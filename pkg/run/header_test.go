package run

import (
	"os"
	"reflect"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// planned is a cluster of two members, of which one release cannot be told the gates.
type planned struct{ cluster.Cluster }

func (planned) Members() []cluster.Member {
	return []cluster.Member{{Name: "cp1", Host: "cp1", ServerID: "a"}, {Name: "cp2", Host: "node-2", ServerID: "b"}}
}

func (planned) Releases() []string { return []string{"1.1", "1.2", "1.3"} }

func (planned) Release(member string) string {
	return map[string]string{"cp1": "1.2", "cp2": "1.1"}[member]
}

func (planned) Gates(release string) map[string]string {
	if release == "1.1" {
		return nil
	}
	return map[string]string{"apiserver": "A=true,B=" + release}
}

func TestHeaderTellsOfTheTarget(t *testing.T) {
	o := Options{Seed: 7, Harness: "v1", Providers: providers}
	p, err := prepare(t.Context(), o, now)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{bundle.TopologyFile: "d"}
	h, err := p.header(planned{}, o, files)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := bundle.FileDigest(self); err != nil || h.HarnessDigest != digest || len(digest) != 64 {
		t.Errorf("the program has the digest %s (%v), and %s is told", digest, err, h.HarnessDigest)
	}
	if h.Topology.Name != "local-3" || h.Topology.Settings["identityLeaseDuration"] != "40s" || h.Topology.Settings["migrationRate"] != "25" {
		t.Errorf("topology %+v", h.Topology)
	}
	if _, set := h.Topology.Settings["basePort"]; set {
		t.Error("a setting is told of that the topology does not make")
	}
	if want := map[string]map[string]string{"1.2": {"apiserver": "A=true,B=1.2"}, "1.3": {"apiserver": "A=true,B=1.3"}}; !reflect.DeepEqual(h.FeatureGates, want) {
		t.Errorf("gates %v, want %v", h.FeatureGates, want)
	}
	if !reflect.DeepEqual(h.Files, files) {
		t.Errorf("files %v", h.Files)
	}
	// The shipped topology leaves the version to the releases.
	if h.Implementation == nil || h.Implementation.Version != "1.2, 1.1" || len(h.Implementation.Problems()) > 0 {
		t.Errorf("implementation %+v", h.Implementation)
	}
	if p.topology.Spec.Implementation.Version != "" {
		t.Error("the topology was changed")
	}
}

func TestImplementationIsTheTopologys(t *testing.T) {
	if implementation(nil, nil) != nil {
		t.Error("there is an implementation although the topology names none")
	}
	named := &history.Implementation{Project: "p", Version: "4.5"}
	if got := implementation(named, []history.MemberHeader{{Release: "1.2"}}); got.Version != "4.5" {
		t.Errorf("%+v", got)
	}
}
