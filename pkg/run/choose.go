package run

import (
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Cheapest returns the path of the shipped scenario that costs least of those that can judge
// all of the requirements. A scenario that needs ValidatingAdmissionPolicies, which not all
// API servers have, is the last choice.
func Cheapest(requirements []string) (string, bool) {
	if len(requirements) == 0 {
		return "", false
	}
	files, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
	if err != nil {
		return "", false
	}
	best, bestCost, bestNeeds := "", time.Duration(0), false
	for _, file := range files {
		s, err := scenario.LoadFS(fixtures.Files, file)
		if err != nil || slices.ContainsFunc(requirements, func(id string) bool { return !slices.Contains(s.Judges, id) }) {
			continue
		}
		c, needs := s.Cost(), s.Takes(cluster.DeniesWrites)
		if best == "" || bestNeeds && !needs || bestNeeds == needs && c < bestCost {
			best, bestCost, bestNeeds = path.Join("fixtures", file), c, needs
		}
	}
	return best, best != ""
}
