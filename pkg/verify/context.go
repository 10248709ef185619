package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// The fields that the files beside the history must agree on. The types have only these
// fields, because verify reads the files for nothing else.
type (
	scenarioFile struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	topologyFile struct {
		Spec struct {
			Provider     string `json:"provider"`
			Distribution string `json:"distribution"`
			Members      []struct {
				Name string `json:"name"`
			} `json:"members"`
		} `json:"spec"`
	}
	environmentFile struct {
		Harness string `json:"harness"`
		Seed    int64  `json:"seed"`
	}
)

// compareContext compares with the history what scenario, topology and environment repeat of
// the run, and their digests if the history has them. No verdict follows from these files,
// so the rest of them is only as trustworthy as the history with which they were recorded.
func (o *Outcome) compareContext(dir string) error {
	var scenario scenarioFile
	var topology topologyFile
	var environment environmentFile
	for _, file := range []struct {
		name string
		into any
		same func() (field, told, recorded string)
	}{
		{bundle.ScenarioFile, &scenario, func() (string, string, string) {
			return "metadata.name", scenario.Metadata.Name, o.Report.Scenario
		}},
		{bundle.TopologyFile, &topology, func() (string, string, string) {
			told := []string{topology.Spec.Provider, topology.Spec.Distribution}
			recorded := []string{o.Report.Target.Provider, o.Report.Target.Distribution}
			for _, m := range topology.Spec.Members {
				told = append(told, m.Name)
			}
			for _, m := range o.Report.Target.Members {
				recorded = append(recorded, m.Name)
			}
			return "provider, distribution and members", strings.Join(told, ", "), strings.Join(recorded, ", ")
		}},
		{bundle.EnvironmentFile, &environment, func() (string, string, string) {
			return "harness and seed", fmt.Sprintf("%s, %d", environment.Harness, environment.Seed), fmt.Sprintf("%s, %d", o.Report.Harness.Version, o.Report.Seed)
		}},
	} {
		raw, err := bundle.ReadFile(dir, file.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // Audit has reported that
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", file.name, err)
		}
		if err := yaml.Unmarshal(raw, file.into); err != nil {
			return fmt.Errorf("%s cannot be read: %w", file.name, err)
		}
		if recorded, sum := o.Report.Recorded[file.name], bundle.ContentDigest(raw); recorded != "" && recorded != sum {
			o.problem("%s is not the file that the history was recorded with: its SHA-256 is %s, and the history says %s", file.name, sum, recorded)
		}
		field, told, recorded := file.same()
		if told != recorded {
			o.problem("%s, %s: it says %q, and the history says %q", file.name, field, told, recorded)
		}
	}
	return nil
}
