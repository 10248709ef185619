package cluster

import (
	"strings"
	"testing"
)

func TestBinariesOfATopology(t *testing.T) {
	const head = "apiVersion: evenkeel.dev/v1alpha1\nkind: Topology\nmetadata: {name: x}\nspec:\n" +
		"  provider: local\n  distribution: kubernetes\n  release: v1.35.4\n  members: [{name: cp1}]\n"
	for _, tc := range []struct{ name, tail, expectError string }{
		{"named", "  binaries: {v1.36.3: ../mine, etcd: /opt/etcd}\n", ""},
		{"no folder", "  binaries: {v1.36.3: \"\"}\n", "spec.binaries has an entry without a release or without a folder"},
		{"misspelled", "  binary: {v1.36.3: ../mine}\n", `unknown key "binary"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			topology, err := ParseTopology("folder/clusters/f.yaml", []byte(head+tc.tail))
			if tc.expectError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.expectError) {
					t.Errorf("error %v, want one with %q", err, tc.expectError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := topology.Path(topology.Spec.Binaries["v1.36.3"]); got != "folder/mine" {
				t.Errorf("the folder is %s", got)
			}
			if got := topology.Path(topology.Spec.Binaries["etcd"]); got != "/opt/etcd" {
				t.Errorf("the folder is %s", got)
			}
		})
	}
}
