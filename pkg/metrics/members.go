package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/leadership"
)

// members counts what is of the members: their processes, and whether they are
// ready.
type members struct {
	release  *prometheus.GaugeVec
	ready    *prometheus.GaugeVec
	notReady *prometheus.CounterVec
	starts   *prometheus.CounterVec
	exits    *prometheus.CounterVec
	running  *prometheus.GaugeVec
	paused   *prometheus.GaugeVec

	now     int64
	isReady map[string]bool
	tracker *leadership.Tracker
}

func newMembers(f *factory, h history.Header, t *leadership.Tracker) *members {
	m := &members{
		release:  f.gauge("member_release_info", "Always 1; the labels say which release a member's API server runs, or ran last.", "member", "release"),
		ready:    f.gauge("member_ready", "Whether the member's API server said last that it is ready (1) or not (0).", "member"),
		notReady: f.counter("member_not_ready_seconds_total", "Time for which it did not say so.", "member"),
		starts:   f.counter("process_starts_total", "Processes that were started.", "member", "component"),
		exits:    f.counter("process_exits_total", "Processes that ended, on request of the harness (expected=\"true\") or by themselves.", "member", "component", "expected"),
		running:  f.gauge("process_running", "Whether the component has a process (1) or not (0).", "member", "component"),
		paused:   f.gauge("process_paused", "Whether the process is held (1) or may run (0).", "member", "component"),
		isReady:  map[string]bool{},
		tracker:  t,
	}
	for _, member := range h.Members {
		m.isReady[member.Name] = false
		m.ready.WithLabelValues(member.Name).Set(0)
		m.notReady.WithLabelValues(member.Name)
		m.release.WithLabelValues(member.Name, member.Release).Set(1)
	}
	return m
}

// advance counts what has been so since the event before.
func (m *members) advance(now int64) {
	for name, ready := range m.isReady {
		if !ready {
			m.notReady.WithLabelValues(name).Add(seconds(now - m.now))
		}
	}
	m.now = now
}

func (m *members) take(ev *history.Event) {
	m.advance(ev.At)
	switch {
	case ev.Ready != nil:
		m.isReady[ev.Member] = ev.Ready.Code == http.StatusOK
		m.ready.WithLabelValues(ev.Member).Set(truth(m.isReady[ev.Member]))
	case ev.Process != nil:
		m.takeProcess(ev.Member, ev.Process)
	}
}

// takeProcess tells of a change that the tracker has seen already.
func (m *members) takeProcess(member string, p *history.Process) {
	switch p.Change {
	case history.ProcessStarted:
		m.starts.WithLabelValues(member, p.Component).Inc()
		if p.Component == history.ComponentAPIServer && p.Release != "" {
			m.release.DeletePartialMatch(prometheus.Labels{"member": member})
			m.release.WithLabelValues(member, p.Release).Set(1)
		}
	case history.ProcessExited:
		m.exits.WithLabelValues(member, p.Component, word(p.Expected)).Inc()
	}
	now := m.tracker.Process(member, p.Component)
	m.running.WithLabelValues(member, p.Component).Set(truth(now.Alive))
	m.paused.WithLabelValues(member, p.Component).Set(truth(now.Paused))
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func word(is bool) string {
	if is {
		return "true"
	}
	return "false"
}
