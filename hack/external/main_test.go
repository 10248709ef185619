package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

func TestDescribe(t *testing.T) {
	for _, tc := range []struct{ provider, releases, host, release, hook, address string }{
		{"kind", "1.2,1.3", "theirs-1-control-plane2", "", cluster.HookUpgrade, ""},
		{"kind", "", "theirs-1-control-plane2", "1.2", cluster.HookPowerOff, ""},
		{"local", "", "", "1.2", cluster.HookKill, "localhost"},
	} {
		t.Run(tc.provider+tc.releases, func(t *testing.T) {
			file := filepath.Join("..", "..", "clusters", tc.provider+"-3.yaml")
			topology, err := describe(state.Record{
				ID: "theirs-1", Name: "theirs", Topology: tc.provider + "-3", File: file, Provider: tc.provider, Kubeconfig: "/x/kubeconfig",
				Members: []state.Member{{Name: "cp1", Release: "1.2"}, {Name: "cp2", Release: "1.2"}},
			}, "/x/node.sh", request{releases: strings.FieldsFunc(tc.releases, func(r rune) bool { return r == ',' }), traffic: tc.releases != ""})
			if err != nil {
				t.Fatal(err)
			}
			if gives := topology.Spec.External.Traffic != nil; gives != (tc.releases != "") {
				t.Errorf("leave for traffic: %v", gives)
			}
			second := topology.Spec.Members[1]
			if second.External.Host != tc.host || second.External.Context != "cp2" || topology.Spec.Release != tc.release || topology.Spec.Distribution != "reference" {
				t.Errorf("the second member is %+v at %q", second.External, topology.Spec.Release)
			}
			if topology.Spec.External.Hooks[tc.hook].Command[0] != "/x/node.sh" || topology.Spec.External.Address != tc.address {
				t.Errorf("there is %+v", topology.Spec.External)
			}
		})
	}
	if _, err := describe(state.Record{Provider: "local", File: filepath.Join("..", "..", "clusters", "local-3.yaml")}, "x", request{}); err == nil {
		t.Error("a cluster without members is accepted")
	}
	if _, err := describe(state.Record{Provider: "other", File: filepath.Join("..", "..", "clusters", "local-3.yaml")}, "x", request{}); err == nil {
		t.Error("a provider is accepted of whose nodes nothing is known")
	}
}

// The script has every hook that the topology names.
func TestHooksAreThere(t *testing.T) {
	script, err := os.ReadFile("node.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, owned := range ownerships {
		for _, hook := range owned.hooks {
			if !strings.Contains(string(script), "\t"+hook+":") && !strings.Contains(string(script), "| "+hook+":") && !strings.Contains(string(script), "\t"+hook+")") {
				t.Errorf("node.sh has no %s", hook)
			}
		}
	}
}
