package play

import (
	"testing"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A label that ginkgo refuses ends a suite before its first spec.
func TestLabels_AreThoseThatGinkgoTakes(t *testing.T) {
	for _, r := range requirement.All() {
		for _, label := range labels(r) {
			if _, err := types.ValidateAndCleanupLabel(label, types.CodeLocation{}); err != nil {
				t.Errorf("%s: %q is no label: write the source in the catalog without any of &|!,()/", r.ID, label)
			}
		}
	}
}
