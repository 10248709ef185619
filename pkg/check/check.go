// Package check judges a history. A judgement is a pure function of the history: it knows
// no cluster, no clock and no network, so the same file always gives the same verdicts.
//
// The package reads the events, hands them to the laws of all KEPs (pkg/law and the packages
// below it) and combines their results with an account of the run itself. The documentation
// of pkg/law says how to add a requirement, a fact, a recorder or a KEP.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package check
