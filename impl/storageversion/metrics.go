package storageversion

import (
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const subsystem = "storage_version"

var (
	registrations = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "registrations_total", StabilityLevel: metrics.ALPHA,
		Help: "Reports of a storage version that are in place after an attempt, whether or not it had to write.",
	}, []string{"server"})
	conflicts = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "conflicts_total", StabilityLevel: metrics.ALPHA,
		Help: "Attempts at reporting a storage version that met another writer.",
	}, []string{"server"})
	refusals = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "barrier_refusals_total", StabilityLevel: metrics.ALPHA,
		Help: "Requests refused because storage version registration was not complete.",
	}, []string{"server"})
	registered = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "registered", StabilityLevel: metrics.ALPHA,
		Help: "1 while all storage versions of the server are published, 0 otherwise.",
	}, []string{"server"})

	retrying = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "retrying_seconds", StabilityLevel: metrics.ALPHA,
		Help: "For how long a server has tried something that fails, such as to publish one storage version; absent when nothing fails.",
	}, []string{"server", "what"})

	registerMetrics sync.Once
)

// serverMetrics are the metrics of one server.
type serverMetrics struct {
	registrations, conflicts, refusals metrics.CounterMetric
	registered                         metrics.GaugeMetric
}

func metricsFor(serverID string) serverMetrics {
	registerMetrics.Do(func() {
		legacyregistry.MustRegister(registrations, conflicts, refusals, registered, retrying)
	})
	return serverMetrics{
		registrations: registrations.WithLabelValues(serverID),
		conflicts:     conflicts.WithLabelValues(serverID),
		refusals:      refusals.WithLabelValues(serverID),
		registered:    registered.WithLabelValues(serverID),
	}
}

// retryGauge shows what one server tries again.
type retryGauge struct{ server string }

// Set implements retry.Gauge.
func (g retryGauge) Set(what string, tried time.Duration) {
	retrying.WithLabelValues(g.server, what).Set(tried.Seconds())
}

// Delete implements retry.Gauge.
func (g retryGauge) Delete(what string) { retrying.DeleteLabelValues(g.server, what) }
