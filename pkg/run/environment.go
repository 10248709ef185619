package run

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"sigs.k8s.io/yaml"
)

// environment is what a reader of a bundle may want to know of the machine. It
// names no host, user or path: bundles are published.
type environment struct {
	Harness    string `json:"harness"`
	Go         string `json:"go"`
	System     string `json:"system"`
	Kernel     string `json:"kernel,omitempty"`
	Processors int    `json:"processors"`
	// MemoryTotal as the kernel tells it, such as "24660876 kB".
	MemoryTotal string `json:"memoryTotal,omitempty"`
	Seed        int64  `json:"seed"`
	Traffic     bool   `json:"traffic"`
	Defect      string `json:"defect,omitempty"`
}

func describeEnvironment(o Options, p *plan) ([]byte, error) {
	e := environment{
		Harness: o.Harness, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Processors: runtime.NumCPU(), Seed: p.seed, Traffic: !o.NoTraffic && !p.scenario.Traffic.Off && (!p.topology.ExternallyManaged() || o.AllowDisruption && p.topology.Spec.External != nil && p.topology.Spec.External.Traffic != nil), Defect: o.Defect,
	}
	if raw, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		e.Kernel = strings.TrimSpace(string(raw))
	}
	if raw, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(raw)) {
			if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
				e.MemoryTotal = strings.TrimSpace(rest)
			}
		}
	}
	out, err := yaml.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode the environment: %w", err)
	}
	return out, nil
}
