package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// What became of a step.
const (
	stepDone   = "done"
	stepFailed = "failed"
)

// stepBuckets are in seconds: a kill is done at once, a hold or an upgrade on
// nodes takes minutes.
var stepBuckets = []float64{0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600}

// steps counts the steps of the scenario and the holds among them.
type steps struct {
	now   prometheus.Gauge
	total *prometheus.CounterVec
	took  *prometheus.HistogramVec
	held  prometheus.Counter
	mixed prometheus.Counter
	began map[stepKey]int64
}

type stepKey struct {
	index  int
	member string
}

func newSteps(f *factory) *steps {
	return &steps{
		now:   f.gauge("step", "Number of the step that began last; 0 is the boot before them.").WithLabelValues(),
		total: f.counter("steps_total", "Steps that have ended, by what they do and by outcome.", "action", "outcome"),
		took:  f.histogram("step_seconds", "How long steps took, failed ones too.", stepBuckets, "action"),
		held:  f.counter("states_held_total", "States in which the control plane was left alone and looked at.").WithLabelValues(),
		mixed: f.counter("mixed_states_held_total", "Those of them in which members ran different releases.").WithLabelValues(),
		began: map[stepKey]int64{},
	}
}

func (s *steps) take(ev *history.Event) {
	switch {
	case ev.Step != nil:
		s.takeStep(ev)
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd:
		s.held.Inc()
		if history.Mixed(ev.Hold.Releases) {
			s.mixed.Inc()
		}
	}
}

func (s *steps) takeStep(ev *history.Event) {
	key, outcome := stepKey{ev.Step.Index, ev.Member}, stepDone
	switch ev.Step.Phase {
	case history.PhaseBegin:
		s.began[key] = ev.At
		s.now.Set(float64(ev.Step.Index))
		return
	case history.PhaseFailed:
		outcome = stepFailed
	case history.PhaseEnd:
	default:
		return
	}
	s.total.WithLabelValues(ev.Step.Action, outcome).Inc()
	if began, ok := s.began[key]; ok {
		s.took.WithLabelValues(ev.Step.Action).Observe(seconds(ev.At - began))
		delete(s.began, key)
	}
}
