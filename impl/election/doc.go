// Package election is coordinated leader election, KEP-4355, as pure decisions:
// functions of what lies in the API and of a time, which write nothing.
//
// Instances of a component declare themselves candidates by a LeaseCandidate. A
// coordinator, of which one API server at a time has one that is active, pings
// the candidates of a Lease that nobody holds, and writes the best of those that
// answer into the Lease. Where a better candidate than the leader comes up, it
// writes its name into the Lease; the leader then ends its work and gives the
// Lease up. So the leader never changes while it works.
//
// Package coordinator carries out what this package decides for the coordinator,
// and package candidacy what it decides for an instance.
//
// # Why two instances never lead at once
//
// An instance works only while less than the renew deadline has passed since it
// sent the last renewal that succeeded, by its own clock. A Lease is taken only by
// a write that names the resourceVersion that was seen, by somebody who has seen no
// renewal for the whole duration of the Lease, by a clock of their own; or after
// its holder has given it up, which it does when its work has ended. The renew
// deadline is shorter than the duration. No clock is compared with another one.
package election
