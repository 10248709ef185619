// Package metrics tells of a run in numbers, in the text format that Prometheus
// reads: while it goes on, for a Prometheus that scrapes it, and of a bundle, from its history
// alone. Dashboard is a Grafana dashboard of them.
//
// Times are in seconds of the history's clock. What is counted "so far" ends at the
// last event that was taken, so that the same history gives the same numbers.
//
// No metric holds a secret: labels are names of members, components, Leases, steps,
// faults and requirements.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/leadership"
)

// Metrics are those of one run. It is fed from one goroutine, and may be gathered
// from others meanwhile.
type Metrics struct {
	registry *prometheus.Registry
	// names of all metrics.
	names []string

	run          *run
	steps        *steps
	members      *members
	leaders      *leaders
	requests     *requests
	faults       *faults
	requirements *requirements
}

// New makes the metrics of the run that the header is of.
func New(header history.Header) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	f := &factory{metrics: m}
	m.run = newRun(f, header)
	m.steps = newSteps(f)
	// Both go by one tracker, which the leaders feed.
	tracker := leadership.New(header)
	m.leaders = newLeaders(f, tracker)
	m.members = newMembers(f, header, tracker)
	m.requests = newRequests(f)
	m.faults = newFaults(f)
	m.requirements = newRequirements(f)
	return m
}

// Take counts one more event; they must come in their order.
func (m *Metrics) Take(ev *history.Event) {
	m.run.take(ev)
	m.steps.take(ev)
	m.leaders.take(ev)
	m.members.take(ev)
	m.requests.take(ev)
	m.faults.take(ev)
}

// seconds of a time or a span of the history's clock.
func seconds(nanoseconds int64) float64 { return time.Duration(nanoseconds).Seconds() }
