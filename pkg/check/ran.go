package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// FeatureOff is a feature that processes were started without.
type FeatureOff struct {
	// Feature by the name that scenarios have for it.
	Feature string `json:"feature"`
	// Members whose processes they were, in the order in which they came.
	Members []string `json:"members"`
}

// keptRan bounds how many releases and features are told of: a history that names
// more is not one of a control plane.
const keptRan = 100

// ran is at which releases and without which features members were started, in the
// order in which they came.
func ran(h *fact.History) (releases []string, off []FeatureOff) {
	for _, m := range h.Header.Members {
		releases = with(releases, m.Release)
	}
	for _, p := range h.AllProcesses() {
		releases = with(releases, p.Release)
		for _, feature := range p.Off {
			i := slices.IndexFunc(off, func(o FeatureOff) bool { return o.Feature == feature })
			if i < 0 && len(off) < keptRan {
				i, off = len(off), append(off, FeatureOff{Feature: feature})
			}
			if i >= 0 {
				off[i].Members = with(off[i].Members, p.Member)
			}
		}
	}
	return releases, off
}

// with is all with one more, if it is none of them.
func with(all []string, one string) []string {
	if one == "" || len(all) >= keptRan || slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}
