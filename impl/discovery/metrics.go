package discovery

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const subsystem = "aggregator_discovery"

// The two that KEP-3352 names keep its names to the letter, so the one that is
// a time, in seconds, does not say so.
var (
	aggregations = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "aggregation_count", StabilityLevel: metrics.ALPHA,
		Help: "Number of times that the discovery document has been aggregated.",
	})
	durations = metrics.NewHistogram(&metrics.HistogramOpts{
		Subsystem: subsystem, Name: "aggregation_duration", StabilityLevel: metrics.ALPHA,
		Help:    "Seconds that it took to aggregate all the API resources and to encode the document.",
		Buckets: metrics.ExponentialBuckets(0.0005, 2, 14),
	})
	versionsListed = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "group_versions", StabilityLevel: metrics.ALPHA,
		Help: "Group-versions that this server has from all sources.",
	}, []string{"path"})
	versionsStale = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "stale_group_versions", StabilityLevel: metrics.ALPHA,
		Help: "Group-versions of aggregated servers that are marked Stale, because the last attempt to fetch their discovery failed or none was made yet.",
	}, []string{"path"})
	fetches = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "fetches_total", StabilityLevel: metrics.ALPHA,
		Help: "Attempts to fetch discovery from an aggregated server, by outcome.",
	}, []string{"outcome"})
	localRequests = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "nopeer_requests_total", StabilityLevel: metrics.ALPHA,
		Help: "Requests for the discovery document of this server alone.",
	})

	// published is the counter that operators of Kubernetes know. The libraries
	// register it for an aggregator that is not used here.
	published metrics.CounterMetric

	registerMetrics sync.Once
)

// catalogMetrics are the metrics of one document; without gauges there are none.
type catalogMetrics struct {
	listed, stale metrics.GaugeMetric
	duration      metrics.ObserverMetric
}

func metricsFor(path string) catalogMetrics {
	registerMetrics.Do(func() {
		legacyregistry.MustRegister(aggregations, durations, versionsListed, versionsStale, fetches, localRequests)
		published = publishedCounter()
	})
	return catalogMetrics{listed: versionsListed.WithLabelValues(path), stale: versionsStale.WithLabelValues(path), duration: durations}
}

// publishedCounter is the counter of that name that is registered already, or
// a new one.
func publishedCounter() metrics.CounterMetric {
	counter := metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "aggregation_count_total", StabilityLevel: metrics.ALPHA,
		Help: "Counter of number of times discovery was aggregated",
	})
	var already prometheus.AlreadyRegisteredError
	if errors.As(legacyregistry.Register(counter), &already) {
		if other, ok := already.ExistingCollector.(metrics.CounterMetric); ok {
			return other
		}
	}
	return counter
}

// united counts an aggregation that peers were part of.
func (m catalogMetrics) united(took time.Duration) {
	if m.listed == nil {
		return
	}
	aggregations.Inc()
	published.Inc()
	m.duration.Observe(took.Seconds())
}

func (m catalogMetrics) built(took time.Duration, listed, stale int) {
	if m.listed == nil {
		return
	}
	m.united(took)
	m.listed.Set(float64(listed))
	m.stale.Set(float64(stale))
}
