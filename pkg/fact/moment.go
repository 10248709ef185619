package fact

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Moment is when something came about: not before Earliest and not after Latest, both in
// nanoseconds since the history began.
type Moment struct {
	Earliest, Latest int64
	// Seq is the number of the event that tells of it, the evidence.
	Seq int64
	// Revision of etcd that it made, 0 if it is no change in etcd.
	Revision int64
}

// Exactly is a moment without uncertainty.
func Exactly(at, seq int64) Moment { return Moment{Earliest: at, Latest: at, Seq: seq} }

// LongAgo is the earliest time at which something can have come about that was so before the
// history began: a century before, which is longer than any bound.
const LongAgo = -int64(100 * 365 * 24 * time.Hour)

// Given is whether it came about before the history began, at a time that is not known.
func (m Moment) Given() bool { return m.Earliest == LongAgo }

// momentOf is the moment of an event that lasted from its From to its At.
func momentOf(ev *history.Event) Moment {
	m := Exactly(ev.At, ev.Seq)
	switch {
	case ev.Given:
		m.Earliest = LongAgo
	case ev.From > 0:
		m.Earliest = min(ev.From, ev.At)
	}
	return m
}

// Before is whether m came about before other. Two changes in etcd are in the order of
// their revisions; two changes of one revision are not before each other.
func (m Moment) Before(other Moment) Truth {
	switch {
	case m.Revision > 0 && other.Revision > 0:
		return Of(m.Revision < other.Revision)
	case m.Latest < other.Earliest:
		return Yes
	case m.Earliest >= other.Latest:
		return No
	}
	return Unknown
}

// Until gives the least and the most time from m to a later moment, at least 0.
func (m Moment) Until(later Moment) (least, most time.Duration) {
	return time.Duration(max(later.Earliest-m.Latest, 0)), time.Duration(max(later.Latest-m.Earliest, 0))
}

// Stamp is when an event was recorded. [History.When] makes a Moment of it once all of
// the history was read.
type Stamp struct {
	// Seq, At and From are those of the event; From is LongAgo where the event tells what was so
	// when its recorder began.
	Seq, At, From int64
	// Revision is that of a change in etcd, 0 for all other events.
	Revision int64
}
