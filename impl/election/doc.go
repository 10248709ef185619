// Package election is coordinated leader election, KEP-4355, as pure decisions:
// functions of the objects in the API and of a time, which write nothing.
//
// Instances of a component declare themselves candidates by a LeaseCandidate. One
// API server at a time runs the active coordinator. The coordinator pings the
// candidates of a Lease without a holder, and writes the best of those that answer
// into the Lease. If a better candidate than the leader appears, the coordinator
// writes its name into the Lease; the leader then ends its work and gives the Lease
// up. So the leader never changes while it works.
//
// Package coordinator carries out the decisions for the coordinator, and package
// candidacy those for an instance.
//
// # Why two instances never lead at once
//
// An instance works only while less than the renew deadline has passed since it
// sent the last renewal that succeeded, by its own clock. A client takes a Lease only
// by a write that names the resourceVersion that the client has observed. It does so
// after it has observed no renewal for the whole duration of the Lease, by its own
// clock, or after the holder has given the Lease up, which the holder does when its
// work has ended. The renew deadline is shorter than the duration. No clock is compared
// with another one.
package election
