package cluster

import (
	"errors"
	"strings"
	"time"
)

// HTTPFault is what a link that understands HTTP does to the requests of one of
// a member's controllers. Exactly one of Abort, Delay and Code is set.
type HTTPFault struct {
	// Method and Path select the requests; empty ones mean all. In Path, which has
	// no query, an asterisk stands for anything, slashes too.
	Method, Path string
	// Abort breaks the connection in the place of an answer.
	Abort bool
	// Delay holds back.
	Delay time.Duration
	// Code is put in the place of the status that the API server answered with.
	Code int
	// Answers is whether the answer is hit, so that the request has had its effect,
	// and not the request. A Code always is about the answer.
	Answers bool
	// Every has only each so many-th of the selected requests hit, such as every
	// tenth; 0 means all. Nothing is drawn: the same requests in the same order are
	// hit the same way.
	Every int
}

// Validate says what is wrong with a fault.
func (f HTTPFault) Validate() error {
	set := 0
	for _, is := range []bool{f.Abort, f.Delay != 0, f.Code != 0} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("a fault of HTTP does one thing: it aborts, delays or replaces the status")
	case f.Delay < 0:
		return errors.New("a delay must not be negative")
	case f.Code != 0 && (f.Code < 400 || f.Code > 599):
		return errors.New("only the status of a failure, 400 to 599, can be put in the place of another one")
	case f.Every < 0:
		return errors.New("of requests every so many-th can be hit, and the number must not be negative")
	case f.Code != 0 && !f.Answers:
		return errors.New("a request has no status that could be replaced; an answer has")
	}
	return nil
}

// Hits is whether the fault is about a request.
func (f HTTPFault) Hits(method, path string) bool {
	return (f.Method == "" || f.Method == method) && (f.Path == "" || matches(f.Path, path))
}

// matches is whether a path is what a pattern with asterisks says.
func matches(pattern, path string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == path
	}
	path, ok := strings.CutPrefix(path, first)
	for ok {
		if matches(rest, path) {
			return true
		}
		if path == "" {
			return false
		}
		path = path[1:]
	}
	return false
}

// HTTPExchange is a request that an HTTPFault hit.
type HTTPExchange struct {
	Method, Path string
	// Over is whether it has come to its end; it is told of when it comes, and
	// again then.
	Over bool
	// Watch is whether it asks for a stream of changes.
	Watch bool
	// Sent is whether the API server was asked.
	Sent bool
	// Code is the status that the controller was answered with; 0 if it got none.
	Code int
	// Held is how long the fault kept the request from the API server, and Took how
	// long it was under way.
	Held, Took time.Duration
}

// HTTPFaultInjector is a Cluster that understands the HTTP between a member's
// controllers and its API server.
type HTTPFaultInjector interface {
	// FaultHTTP has the requests of a component hit from now on, until heal is
	// called, which may be done more than once. What is under way and would be hit
	// is broken off, so that a client that watches has to ask again. The observer is told
	// of each hit from any goroutine, and must not block.
	FaultHTTP(member string, component Component, fault HTTPFault, observe func(HTTPExchange)) (heal func(), err error)
}
