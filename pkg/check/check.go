// Package check judges a history. A judgement is a pure function of the history: it knows
// no cluster, no clock and no network, so the same file gives the same verdicts for ever.
//
// The package reads the events, hands them to the laws of all KEPs (pkg/law and the packages
// below it) and puts their results together with what it tells of the run itself. How to
// add a requirement, a fact, a recorder or a KEP is written in pkg/law.
package check
