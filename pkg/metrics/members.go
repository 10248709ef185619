package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
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

	now       int64
	isReady   map[string]bool
	processes map[processKey]*process
}

type processKey struct{ member, component string }

// process is the last one of a component.
type process struct {
	release       string
	instance      int
	alive, paused bool
}

// leads is whether it could lead: it lives and may run.
func (p *process) leads() bool { return p != nil && p.alive && !p.paused }

func newMembers(f *factory, h history.Header) *members {
	m := &members{
		release:   f.gauge("member_release_info", "Always 1; the labels say which release a member's API server runs, or ran last.", "member", "release"),
		ready:     f.gauge("member_ready", "Whether the member's API server said last that it is ready (1) or not (0).", "member"),
		notReady:  f.counter("member_not_ready_seconds_total", "Time for which it did not say so.", "member"),
		starts:    f.counter("process_starts_total", "Processes that were started.", "member", "component"),
		exits:     f.counter("process_exits_total", "Processes that ended, on request of the harness (expected=\"true\") or by themselves.", "member", "component", "expected"),
		running:   f.gauge("process_running", "Whether the component has a process (1) or not (0).", "member", "component"),
		paused:    f.gauge("process_paused", "Whether the process is held (1) or may run (0).", "member", "component"),
		isReady:   map[string]bool{},
		processes: map[processKey]*process{},
	}
	for _, member := range h.Members {
		m.isReady[member.Name] = false
		m.ready.WithLabelValues(member.Name).Set(0)
		m.notReady.WithLabelValues(member.Name)
		m.release.WithLabelValues(member.Name, member.Release).Set(1)
	}
	return m
}

// advance counts what has been so since the last event.
func (m *members) advance(now int64) {
	for name, ready := range m.isReady {
		if !ready {
			m.notReady.WithLabelValues(name).Add(seconds(now - m.now))
		}
	}
	m.now = now
}

func (m *members) take(ev *history.Event) {
	switch {
	case ev.Ready != nil:
		m.isReady[ev.Member] = ev.Ready.Code == http.StatusOK
		m.ready.WithLabelValues(ev.Member).Set(truth(m.isReady[ev.Member]))
	case ev.Process != nil:
		m.takeProcess(ev.Member, ev.Process)
	}
}

func (m *members) takeProcess(member string, p *history.Process) {
	key := processKey{member, p.Component}
	known := m.processes[key]
	if known == nil {
		known = &process{}
		m.processes[key] = known
	}
	switch p.Change {
	case history.ProcessStarted:
		*known = process{release: p.Release, instance: p.Instance, alive: true}
		m.starts.WithLabelValues(member, p.Component).Inc()
		if p.Component == history.ComponentAPIServer && p.Release != "" {
			m.release.DeletePartialMatch(prometheus.Labels{"member": member})
			m.release.WithLabelValues(member, p.Release).Set(1)
		}
	case history.ProcessExited:
		m.exits.WithLabelValues(member, p.Component, word(p.Expected)).Inc()
		// The end of a process may be told after the start of the next.
		if p.Instance == known.instance {
			known.alive, known.paused = false, false
		}
	case history.ProcessPaused:
		known.paused = true
	case history.ProcessResumed:
		known.paused = false
	}
	m.running.WithLabelValues(member, p.Component).Set(truth(known.alive))
	m.paused.WithLabelValues(member, p.Component).Set(truth(known.paused))
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
