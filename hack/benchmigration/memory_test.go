package main

import (
	"os"
	"strings"
	"testing"
)

func TestParseMemory(t *testing.T) {
	const status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t1\n"
	if n, err := parseMemory(status, residentNow); n != 1<<20 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := parseMemory(status, residentMost); n != 2<<20 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, wrong := range []string{"Name:\tx\n", "\nVmRSS:\tmuch kB\n", "\nVmRSS:\t1 pages\n"} {
		if _, err := parseMemory(wrong, residentNow); err == nil || !strings.Contains(err.Error(), residentNow) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if n, err := memory(os.Getpid(), residentNow); n == 0 || err != nil {
		t.Errorf("of this process: %d, %v", n, err)
	}
}

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
