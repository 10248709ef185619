package main

import (
	_ "embed"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

//go:embed also.yaml
var alsoYAML []byte

// explained says, by defect and by the requirement that turns red beside the one that
// the defect is named after, why that is so.
var explained = loadExplained(alsoYAML)

// loadExplained panics, since the file is compiled in.
func loadExplained(data []byte) map[string]map[requirement.ID]string {
	var listed map[string]map[requirement.ID]string
	if err := yaml.UnmarshalStrict(data, &listed); err != nil {
		panic(fmt.Sprintf("also.yaml: %v", err))
	}
	return listed
}

// because returns the reason why a requirement other than the row's own is red, or a note
// that also.yaml has no reason for it.
func (r row) because(id requirement.ID) string {
	if reason := explained[r.Defect][id]; reason != "" {
		return reason
	}
	return "**not explained yet**"
}
