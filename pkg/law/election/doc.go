// Package election has the facts and laws of KEP-4355, coordinated leader election: the
// Leases by which components elect their leaders, the LeaseCandidates that stand for them,
// the coordinator that elects, and what acting leaders do.
package election
