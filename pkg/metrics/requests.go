package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// What became of a request.
const (
	answered   = "answered"   // below 400
	refused    = "refused"    // 4xx but 429
	throttled  = "throttled"  // 429
	heldBack   = "barrier"    // the 503 of the registration barrier
	failed     = "failed"     // any other 5xx
	unanswered = "unanswered" // no answer came
)

// requests counts what the harness asked and how it fared.
type requests struct {
	total     *prometheus.CounterVec
	took      *prometheus.HistogramVec
	balancer  *prometheus.CounterVec
	documents *prometheus.CounterVec
}

func newRequests(f *factory) *requests {
	outcomes := "outcome: answered, refused (4xx), throttled (429), barrier (503 of the registration barrier), failed (other 5xx), unanswered"
	return &requests{
		total:     f.counter("requests_total", "Requests of the harness to single members, by class and "+outcomes+".", "member", "class", "outcome"),
		took:      f.histogram("request_seconds", "From before the first byte was sent until the answer was there, or it was given up.", prometheus.DefBuckets, "member"),
		balancer:  f.counter("balancer_requests_total", "Requests of clients of the load balancer, by "+outcomes+".", "outcome"),
		documents: f.counter("discovery_answers_total", "Answers to requests for discovery that were noted, by "+outcomes+".", "member", "outcome"),
	}
}

func (r *requests) take(ev *history.Event) {
	switch {
	case ev.Request != nil:
		q := ev.Request
		r.total.WithLabelValues(ev.Member, q.Class, outcome(q.Code, q.Barrier)).Inc()
		if ev.From > 0 {
			r.took.WithLabelValues(ev.Member).Observe(seconds(ev.At - ev.From))
		}
	case ev.LoadBalancer != nil:
		r.balancer.WithLabelValues(outcome(ev.LoadBalancer.Code, false)).Inc()
	case ev.DiscoveryDocument != nil:
		r.documents.WithLabelValues(ev.Member, outcome(ev.DiscoveryDocument.Code, false)).Inc()
	}
}

func outcome(code int, barrier bool) string {
	switch {
	case code == 0:
		return unanswered
	case barrier:
		return heldBack
	case code == http.StatusTooManyRequests:
		return throttled
	case code >= http.StatusInternalServerError:
		return failed
	case code >= http.StatusBadRequest:
		return refused
	default:
		return answered
	}
}
