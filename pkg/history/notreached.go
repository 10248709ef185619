package history

import (
	"fmt"
	"strings"
	"time"
)

// What a step can wait for. Further ones may come.
const (
	// AwaitedReady: a component of the member is ready.
	AwaitedReady = "ready"
	// AwaitedProcess: the member runs a process of the component, which no step has ended.
	AwaitedProcess = "process"
	// AwaitedAnswer: an API server does what a request asks for.
	AwaitedAnswer = "answer"
	// AwaitedState: an object of the API has a state, is there, or is gone.
	AwaitedState = "state"
	// AwaitedLeader: a component has a leader that renews its Lease.
	AwaitedLeader = "leader"
	// AwaitedEtcd: etcd answers, and is whole after a power cut.
	AwaitedEtcd = "etcd"
	// AwaitedQuiet: StorageVersions change no more.
	AwaitedQuiet = "quiet"
	// AwaitedService: any member at all serves. The run has ended early without it.
	AwaitedService = "service"
	// AwaitedEnd: a step comes to its end, or all steps do in spite of what they wait for
	// in vain.
	AwaitedEnd = "end"
)

// NotReached is a state of the control plane that a step waited for and that did not
// come about. The event's From is when the wait began, At when it was given up, and
// Member the member that it was about, if it was a single one.
//
// It tells of the control plane, never of the harness: a failure of the harness or of its
// machine ends the run, and End.Complete is false.
type NotReached struct {
	// Step is the index of the step that waited, and Action what the step does; see Step.
	Step   int    `json:"step"`
	Action string `json:"action"`
	// Awaited is one of the Awaited… values, and Component the component of the member
	// that it was about, if it was a single one.
	Awaited   string `json:"awaited"`
	Component string `json:"component,omitempty"`
	// Bound is the longest that the step would have waited, in nanoseconds; 0 where
	// the first answer was final.
	Bound int64 `json:"bound,omitempty"`
	// Code is the HTTP status of the last answer; 0 when none came or none was asked
	// for. From 400 to 499 the control plane refused the request for what it is: whether
	// the request or the refusal is wrong does not follow from the event alone.
	Code int `json:"code,omitempty"`
	// Failing are the checks that the last answer of /readyz named.
	Failing []string `json:"failing,omitempty"`
	// Judged is whether requirements of their own judge what was waited for, such as that
	// a migration ends, so that the step went on and nothing else follows.
	Judged bool `json:"judged,omitempty"`
	// Message is the last evidence in words: what was seen instead.
	Message string `json:"message"`
}

// Sentence says what was not reached, at the given member.
func (n *NotReached) Sentence(member string) string {
	var b strings.Builder
	if n.Step == 0 {
		fmt.Fprintf(&b, "%s: ", n.Action)
	} else {
		fmt.Fprintf(&b, "step %d (%s): ", n.Step, n.Action)
	}
	var of []string
	for _, one := range []string{member, n.Component, n.Awaited} {
		if one != "" {
			of = append(of, one)
		}
	}
	fmt.Fprintf(&b, "%s not reached", strings.Join(of, " "))
	if n.Bound > 0 {
		fmt.Fprintf(&b, " within %s", time.Duration(n.Bound))
	}
	fmt.Fprintf(&b, ": %s", n.Message)
	return b.String()
}
