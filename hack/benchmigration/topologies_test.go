package main

import "testing"

func TestTopologies(t *testing.T) {
	for _, plane := range []string{"reference", "kubernetes"} {
		topology, err := topologyOf(plane, "v1.36.3", kubernetesRate)
		if err != nil || topology.Spec.Distribution != plane || len(topology.Spec.Members) != 1 {
			t.Errorf("%s: %+v, %v", plane, topology, err)
		}
	}
	if _, err := topologyOf("another", "", 1); err == nil {
		t.Error("there is another plane")
	}
}
