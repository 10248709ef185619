package scenario

import "time"

const (
	// stepCost is what a step other than a hold costs, about: enough to tell a long
	// scenario from a short one.
	stepCost = 5 * time.Second
	// electionCost is what an election costs under faults, about, when several Leases have
	// them at once.
	electionCost = 5 * time.Second
	// candidatesCost is what it costs until components are candidates again, about: those that
	// watch their candidates take a second, and others minutes.
	candidatesCost = 30 * time.Second
	// objectCost is what an object costs that is written and migrated, about.
	objectCost = 20 * time.Millisecond
)

// Cost is about how long a scenario takes on local processes, the time until its
// control plane is up and waits for conditions apart: enough to compare scenarios.
func (s *Scenario) Cost() time.Duration {
	var total time.Duration
	for _, step := range s.Steps {
		total += costOf(step.Action)
	}
	return total
}

func costOf(a Action) time.Duration {
	if one, ok := a.(costing); ok {
		return one.cost()
	}
	return stepCost
}
