package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// FeatureOff is a feature that processes were started without.
type FeatureOff struct {
	// Feature by the name that scenarios have for it.
	Feature string `json:"feature"`
	// Members of these processes, in the order of the history.
	Members []string `json:"members"`
}

// keptRan bounds how many releases and features a judgement lists: a history that names
// more is not the history of a control plane.
const keptRan = 100

// ran returns the releases at which members were started, and the features that they were
// started without, in the order of the history.
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

// with returns all with one appended, unless it is empty or listed.
func with(all []string, one string) []string {
	if one == "" || len(all) >= keptRan || slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}
