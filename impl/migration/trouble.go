package migration

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trouble is since when a worker has not got to the end of a chunk. It is part of the
// checkpoint: a worker that gave way, or crashed, does not begin to be patient anew.
type Trouble struct {
	// Since is when the first request about the chunk failed.
	Since metav1.Time `json:"since,omitzero"`
	// Erring is since when the server has answered nothing but errors of its own (500)
	// about an object, by namespace and name. The list has the empty name.
	Erring map[string]metav1.Time `json:"erring,omitempty"`
	// Refused is whether an object of the chunk counts as refused.
	Refused bool `json:"refused,omitempty"`
}

// Failed is the trouble after a request about an object, or the list, failed.
func (t Trouble) Failed(object string, outcome Outcome, now time.Time) Trouble {
	at := metav1.NewTime(now)
	if t.Since.IsZero() {
		t.Since = at
	}
	erring := maps.Clone(t.Erring)
	if erring == nil {
		erring = map[string]metav1.Time{}
	}
	if outcome != Broken {
		delete(erring, object)
	} else if _, known := erring[object]; !known {
		erring[object] = at
	}
	t.Erring = erring
	return t
}

// Passed is the trouble after a request about an object, or the list, was answered. The
// chunk is not done for that.
func (t Trouble) Passed(object string) Trouble {
	if _, known := t.Erring[object]; known {
		t.Erring = maps.Clone(t.Erring)
		delete(t.Erring, object)
	}
	return t
}

// Over reports whether there is no sense in trying again: the server has erred about the
// object for the given patience, or was not there for OutagePatience.
func (t Trouble) Over(object string, patience time.Duration, now time.Time) bool {
	since, erring := t.Erring[object]
	return erring && now.Sub(since.Time) >= patience || !t.Since.IsZero() && now.Sub(t.Since.Time) >= OutagePatience
}

// Patience is how long the server may err about one object.
func (c Checkpoint) Patience() time.Duration {
	if c.Done.Refused > 0 || c.Trouble.Refused {
		return RefusedPatience
	}
	return ObjectPatience
}
