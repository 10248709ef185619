// Package election has the facts and laws of KEP-4355, coordinated leader election: the
// Leases by which components elect their leaders, the LeaseCandidates that stand for them,
// the coordinator that elects, and what acting leaders do.
//
// What every run owes by its Leases is here too (RO-03, RO-04, RO-05 and RO-10).
package election
