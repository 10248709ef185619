package apiserver

import (
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/retry"
)

var retrying = retry.NewMetric("reference_apiserver", "For how long the server has tried something that fails, such as to empty one namespace")

// newTroubles returns what this process shows of what it tries again.
func newTroubles(c clock.PassiveClock) *retry.Troubles { return retry.New(c, retrying.Gauge()) }
