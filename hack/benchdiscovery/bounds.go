package main

import "time"

// What is measured, and how long that may take. Waits end as soon as their
// condition holds.
const (
	// pacedRate is the rate in requests a second at which answers are timed.
	pacedRate = 200
	// pacedLonger is by how much longer than others that rate is held: a p99 of 2000
	// answers is made by 20 of them, and one collection of garbage decides it.
	pacedLonger = 3
	// flatOutShorter is by how much shorter each number of clients asks without pause.
	flatOutShorter = 2
	// connections are how many clients share that, each with a connection.
	connections = 8
	// outstanding is how many of those requests may wait for their answers. It is
	// below what an API server turns away (400), so that being slow shows as time.
	outstanding = 200
	// coldRuns are how many clients in turn discover everything from nothing.
	coldRuns = 5
	// changeRuns are how many changes of each sort are timed.
	changeRuns = 30

	// requestBound is how long any answer may take.
	requestBound = time.Minute
	// changePoll is the pause between two questions whether a change is visible.
	// It is the grain of those figures.
	changePoll = 2 * time.Millisecond
	// changeBound is how long a change may stay invisible.
	changeBound = time.Minute

	// creators are how many CRDs are created at a time.
	creators = 8
	// toldPoll is the pause between two questions whether all CRDs are told of,
	// toldBound how long that may take.
	toldPoll, toldBound = time.Second, 15 * time.Minute

	// An API server that is not at rest after quietBound is measured all the same, and
	// what it takes is told.
	quietBound = 4 * time.Minute
)

// concurrencies are how many clients at a time ask without pause, to find the
// highest rate.
var concurrencies = []int{1, 4, 16, 64}
