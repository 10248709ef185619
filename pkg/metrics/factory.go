package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// prefix of all names.
const prefix = "evenkeel_"

// factory makes metrics and remembers their names.
type factory struct{ metrics *Metrics }

func (f *factory) name(name string) string {
	f.metrics.names = append(f.metrics.names, prefix+name)
	return prefix + name
}

func (f *factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(f.metrics.registry).NewCounterVec(prometheus.CounterOpts{Name: f.name(name), Help: help}, labels)
}

func (f *factory) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return promauto.With(f.metrics.registry).NewGaugeVec(prometheus.GaugeOpts{Name: f.name(name), Help: help}, labels)
}

func (f *factory) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return promauto.With(f.metrics.registry).NewHistogramVec(prometheus.HistogramOpts{Name: f.name(name), Help: help, Buckets: buckets}, labels)
}
