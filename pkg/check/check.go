// Package check judges a history. A check is a pure function of the history:
// it knows no cluster, no clock and no network, so the same file gives the
// same verdicts for ever. Checks read the file once, event by event, in memory
// that does not grow with its length.
//
// To add a check: write a file named after the requirement with a type that
// implements Check, list it in registry.go, and add a case to the stories of its
// KEP, for example in pkg/law/election/stories: a passing, a failing and an
// inconclusive story.
package check

import "github.com/evenkeel/evenkeel/pkg/history"

// Check judges one requirement.
type Check interface {
	// Observe is called for every event, after the World has taken it in.
	Observe(w *World, ev *history.Event)
	// Finish is called once, when the history has ended.
	Finish(w *World)
	// Observations counts what was seen; the names and their order are fixed.
	Observations() []Observation
	// found is where the check reports breaches: embed findings.
	found() *findings
}

// doubter is a check that may have to leave something unjudged which its
// observations do not tell of.
type doubter interface {
	// doubts are reasons not to pass, in words; empty if there are none.
	doubts() []string
}

// Source is a recorder that a check relies on to have missed nothing.
type Source string

// The sources, as they are named in Gap events.
const (
	SourceEtcd      Source = "etcd"
	SourceReady     Source = "ready"
	SourceRequest   Source = "request"
	SourceWatch     Source = "watch"
	SourceDiscovery Source = "discovery"
	SourceDocument  Source = "document"
)

// sources are all of them, the last ones being those that no check relies on. A gap of any
// other one is nobody's in particular, and so everybody's.
var sources = []Source{SourceEtcd, SourceReady, SourceRequest, SourceWatch, SourceDiscovery, SourceDocument,
	"read", "visibility", "hash", "custom", "balancer"}
