package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// run counts what is of the run as a whole.
type run struct {
	seconds prometheus.Gauge
	events  *prometheus.CounterVec
	gaps    *prometheus.CounterVec
	away    *prometheus.CounterVec
	ended   *prometheus.GaugeVec
}

func newRun(f *factory, h history.Header) *run {
	info := f.gauge("run_info", "Always 1; the labels say which run it is.", "run", "scenario", "provider", "distribution", "harness", "seed", "defect")
	info.WithLabelValues(h.Run, h.Scenario, h.Provider, h.Distribution, h.Harness, strconv.FormatInt(h.Seed, 10), h.Defect).Set(1)
	return &run{
		seconds: f.gauge("run_seconds", "Time from the beginning of the history to its last event so far.").WithLabelValues(),
		events:  f.counter("events_total", "Events that were recorded, by what they tell.", "kind"),
		gaps:    f.counter("recorder_gaps_total", "How often a recorder may have missed something.", "source"),
		away:    f.counter("recorder_away_seconds_total", "Time for which a recorder heard nothing of its source, so that it told late.", "source"),
		ended:   f.gauge("run_complete", "Whether the scenario was played to its end (1) or not (0); absent while it is played."),
	}
}

func (r *run) take(ev *history.Event) {
	r.seconds.Set(seconds(ev.At))
	r.events.WithLabelValues(string(ev.Kind)).Inc()
	switch {
	case ev.RecorderMissed != nil:
		r.gaps.WithLabelValues(ev.RecorderMissed.Source).Inc()
	case ev.RecorderDelayed != nil:
		r.away.WithLabelValues(ev.RecorderDelayed.Source).Add(seconds(ev.At - ev.From))
	case ev.End != nil:
		complete := 0.0
		if ev.End.Complete {
			complete = 1
		}
		r.ended.WithLabelValues().Set(complete)
	}
}
