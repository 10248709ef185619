package run

import (
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// stepCost is what a step other than a hold costs, about: enough to tell a
// short scenario from a long one.
const stepCost = 5 * time.Second

// electionCost is what an election costs under faults, about, when several Leases have
// theirs at a time.
const electionCost = 5 * time.Second

// objectCost is what an object costs that is written and migrated, about.
const objectCost = 20 * time.Millisecond

// Cheapest gives the path of the shipped scenario that costs least of those
// that can judge all of the requirements. One that needs policies of API servers, which
// not all of them know, is the last choice.
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
		c, needs := Cost(s), s.NeedsPolicies()
		if best == "" || bestNeeds && !needs || bestNeeds == needs && c < bestCost {
			best, bestCost, bestNeeds = path.Join("fixtures", file), c, needs
		}
	}
	return best, best != ""
}

// Cost is about how long a scenario takes on local processes, the time until its
// control plane is up and waits for conditions apart: enough to compare scenarios.
func Cost(s *scenario.Scenario) time.Duration {
	var total time.Duration
	for _, step := range s.Steps {
		if step.Hold != nil {
			total += step.Hold.For
			continue
		}
		total += stepCost
		if step.RandomFaults != nil {
			total += time.Duration(step.RandomFaults.LeaderChanges) * electionCost
		}
		if step.Populate != nil {
			total += time.Duration(step.Populate.Count)*objectCost + step.Populate.MigrationDuration
		}
	}
	return total
}
