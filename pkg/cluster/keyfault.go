package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// EtcdKeyFaultInjector is a Cluster that can hold or fail single requests of a member's API
// server to its etcd, by the keys that they are about. Where a Cluster is none,
// only whole links can be shaped.
type EtcdKeyFaultInjector interface {
	// SetKeyFault sets what becomes of requests from now on; the zero KeyFault lets
	// all of them pass, and those that were held go on. Connections that were made
	// before the first fault of a member are broken when it is set, so that their
	// clients make new ones.
	SetKeyFault(member string, fault KeyFault) error
	// KeyFaultStats tells how many requests a member's faults have met.
	KeyFaultStats(member string) (KeyFaultStats, error)
}

// KeyRequest is a kind of request to etcd.
type KeyRequest string

// The requests that are about keys. API servers write by transactions only.
const (
	RequestRange  KeyRequest = "range"
	RequestPut    KeyRequest = "put"
	RequestDelete KeyRequest = "delete"
	RequestTxn    KeyRequest = "txn"
)

var keyRequests = []KeyRequest{RequestRange, RequestPut, RequestDelete, RequestTxn}

// KeyFault is what becomes of requests about some keys. The zero value is no
// fault.
type KeyFault struct {
	// Requests that are met.
	Requests []KeyRequest
	// Prefixes of the keys. A request is met if any of its keys has one of them,
	// or if it asks for a range of keys in which some may have.
	Prefixes []string
	// Fail answers that etcd is not available; else a request is held until the
	// fault is taken away or the client gives it up, in which case etcd never
	// sees it.
	Fail bool
}

// None is whether nothing is met.
func (f KeyFault) None() bool { return len(f.Requests) == 0 && len(f.Prefixes) == 0 }

// Validate says what is wrong with a fault.
func (f KeyFault) Validate() error {
	if f.None() {
		return nil
	}
	var errs []error
	if len(f.Requests) == 0 || len(f.Prefixes) == 0 {
		errs = append(errs, errors.New("requests and prefixes must both have something in them"))
	}
	for _, request := range f.Requests {
		if !slices.Contains(keyRequests, request) {
			errs = append(errs, fmt.Errorf("there is no request %q; there are: %v", request, keyRequests))
		}
	}
	for _, prefix := range f.Prefixes {
		if !strings.HasPrefix(prefix, "/") {
			errs = append(errs, fmt.Errorf("the prefix %q does not begin with a slash", prefix))
		}
	}
	return errors.Join(errs...)
}

// KeyFaultStats counts requests; a fault's witness compares it.
type KeyFaultStats struct {
	// Passed were handed on to etcd at once, of all that came by a connection on
	// which requests can be met.
	Passed int64
	// Met were held or failed.
	Met int64
}
