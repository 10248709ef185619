package main

import (
	"slices"
	"testing"

	planted "github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	played "github.com/evenkeel/evenkeel/pkg/run"
)

// A requirement that no defect breaks, or that no scenario judges, has not been shown to find
// anything.
func TestEveryRequirement_HasADefectAndAScenario(t *testing.T) {
	defects := planted.All()
	for _, one := range requirement.All() {
		if !slices.ContainsFunc(defects, func(d planted.Defect) bool { return d.Requirement == string(one.ID) }) {
			t.Errorf("no defect breaks %s: plant one in impl/defects", one.ID)
		}
		if _, ok := played.Cheapest([]string{string(one.ID)}); !ok {
			t.Errorf("no scenario judges %s: add it under judges of one in fixtures/scenarios", one.ID)
		}
	}
}
