package retry

import (
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Metric is the gauge <subsystem>_retrying_seconds, which tells for how long each thing has been
// tried without success. A component makes one.
type Metric struct {
	vec      *metrics.GaugeVec
	register func()
}

// NewMetric describes the gauge of a component, and Gauge registers it.
func NewMetric(subsystem, help string) *Metric {
	vec := metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "retrying_seconds", StabilityLevel: metrics.ALPHA,
		Help: help + "; absent when nothing fails.",
	}, []string{"what"})
	return &Metric{vec: vec, register: sync.OnceFunc(func() { legacyregistry.MustRegister(vec) })}
}

// Gauge registers the gauge, once for the process.
func (m *Metric) Gauge() Gauge {
	m.register()
	return m
}

// Set implements Gauge.
func (m *Metric) Set(what string, tried time.Duration) {
	m.vec.WithLabelValues(what).Set(tried.Seconds())
}

// Delete implements Gauge.
func (m *Metric) Delete(what string) { m.vec.DeleteLabelValues(what) }
