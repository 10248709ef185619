package apiserver

import (
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/retry"
)

var (
	retryingSeconds = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: "reference_apiserver", Name: "retrying_seconds", StabilityLevel: metrics.ALPHA,
		Help: "For how long the server has tried something that fails, such as to empty one namespace; absent when nothing fails.",
	}, []string{"what"})

	registerRetrying = sync.OnceFunc(func() { legacyregistry.MustRegister(retryingSeconds) })
)

// retryGauge shows what the server tries again.
type retryGauge struct{}

// Set implements retry.Gauge.
func (retryGauge) Set(what string, tried time.Duration) {
	retryingSeconds.WithLabelValues(what).Set(tried.Seconds())
}

// Delete implements retry.Gauge.
func (retryGauge) Delete(what string) { retryingSeconds.DeleteLabelValues(what) }

// newTroubles returns what this process shows of what it tries again.
func newTroubles(c clock.PassiveClock) *retry.Troubles {
	registerRetrying()
	return retry.New(c, retryGauge{})
}
