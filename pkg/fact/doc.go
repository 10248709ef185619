// Package fact holds what a history says, derived once: which processes live, which
// API servers answer, which faults are active, and when each change happened. It knows no
// KEP; the packages below pkg/law derive the facts of their KEP on top of it.
//
// # Time
//
// A recorder writes an event down after it happened, so a fact has an interval in which
// it came about: a [Moment]. Comparisons of moments answer yes, no or unknown ([Truth]).
// For what is stored in etcd the interval follows from the revision: a write that was
// sent after another one was acknowledged has a higher revision ([Clock]). Nothing but
// this uncertainty is ever added to a bound. Two times in one stored object are by one
// clock, and compare exactly.
//
// # Signals
//
// A [Signal] is a condition over the time of the history: yes, no or unknown at each
// instant. Where a fact changes within a moment, the signal is unknown for the length of
// it. Signals combine with [And], [Or] and [Not].
//
// # Who lives
//
// A process lives from its start to its exit, and an API server serves while its process
// lives and answered /readyz with 200 at least once. Neither follows from an identity
// Lease or a LeaseCandidate: those are judged.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package fact
