package main

import "time"

// What is measured, and how long that may take. Waits end as soon as their condition
// holds.
const (
	// restCandidates are how many candidates there are while writes at rest are counted:
	// three members of a control plane with three elected components each.
	restCandidates, restGroup = 9, 3
	// quietFor is how long nothing of an election must have been seen before the count
	// begins, and quietBound how long that may take; then it begins all the same.
	quietFor, quietBound = 15 * time.Second, 3 * time.Minute

	// apart is how long candidates of one Lease stand one after the other: Kubernetes
	// does not order those of the same second.
	apart = 1100 * time.Millisecond
	// steadyRenewals are how often a leader has renewed before something is done to it.
	steadyRenewals = 2

	// electionBound is how long anything may take that is measured. What takes longer
	// counts as never.
	electionBound = 2 * time.Minute
	// wholeBound is how long a control plane may take until it is whole again.
	wholeBound = 4 * time.Minute
	// requestBound is how long a request of the benchmark's own may take.
	requestBound = 20 * time.Second
	// spread is the time over which repetitions begin that run at once.
	spread = 5 * time.Second
)
