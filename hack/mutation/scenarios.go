package main

import (
	_ "embed"

	"sigs.k8s.io/yaml"
)

// scenarios are those that defects are played with which need another one than the cheapest
// that judges their requirement, by the defect.
var scenarios = mustScenarios()

//go:embed scenarios.yaml
var scenarioFile []byte

func mustScenarios() map[string]string {
	out := map[string]string{}
	if err := yaml.UnmarshalStrict(scenarioFile, &out); err != nil {
		panic("hack/mutation/scenarios.yaml: " + err.Error())
	}
	return out
}
