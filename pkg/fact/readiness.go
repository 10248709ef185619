package fact

import "github.com/evenkeel/evenkeel/pkg/history"

// readiness is what the members' /readyz answered.
type readiness struct {
	of map[string]*answersOfReady
}

type answersOfReady struct {
	// ready changes with the answers: a change lies between the beginning of the request
	// before and the answer that shows it.
	ready Builder
	last  history.Ready
	asked int64
	first []Moment
	seen  []ReadyAnswer
}

// ReadyAnswer is one answer of /readyz that differs from the one before.
type ReadyAnswer struct {
	Moment
	// Since is when the member began to answer so: between the request before and this
	// answer.
	Since Moment
	// Code is the HTTP status, 0 where no answer came; Failing are the checks that failed.
	Code    int
	Failing []string
	// Revision is one that etcd had right after the answer; 0 where it was not read.
	EtcdRevision int64
}

func newReadiness() readiness { return readiness{of: map[string]*answersOfReady{}} }

func (r *readiness) observe(ev *history.Event) {
	a := r.of[ev.Member]
	if a == nil {
		a = &answersOfReady{}
		r.of[ev.Member] = a
	}
	from := ev.From
	if from == 0 {
		from = ev.At
	}
	m := Moment{Earliest: from, Latest: ev.At, Seq: ev.Seq}
	if ev.Ready.Code != a.last.Code || len(a.seen) == 0 {
		since := m
		if a.asked > 0 {
			since.Earliest = min(a.asked, since.Earliest)
		}
		a.ready.Set(since, Of(ev.Ready.Code == 200))
		a.seen = append(a.seen, ReadyAnswer{m, since, ev.Ready.Code, ev.Ready.Failing, ev.Ready.Revision})
	} else if n := len(a.seen); a.seen[n-1].EtcdRevision == 0 {
		a.seen[n-1].EtcdRevision = ev.Ready.Revision
	}
	a.last, a.asked = *ev.Ready, from
}

// Ready is while a member's /readyz answers 200.
func (h *History) Ready(member string) Signal {
	if a := h.readiness.of[member]; a != nil {
		return a.ready.Signal()
	}
	return Signal{}
}

// ReadyAnswers are the answers of a member's /readyz that differ from the one before.
func (h *History) ReadyAnswers(member string) []ReadyAnswer {
	if a := h.readiness.of[member]; a != nil {
		return a.seen
	}
	return nil
}

// FirstReady is when a process of an API server answered /readyz with 200 first; nil if
// it never did.
func (h *History) FirstReady(p *Process) *Moment {
	for _, a := range h.ReadyAnswers(p.Member) {
		if a.Code == 200 && a.Earliest >= p.Started.Earliest && (p.Exited == nil || a.Latest <= p.Exited.Latest) {
			return &a.Moment
		}
	}
	// An answer of 200 may follow on one of the process before, with no other between.
	ready := h.Ready(p.Member)
	if ready.During(p.Started) == Yes && (p.Exited == nil || ready.At(p.Started.Latest+1) == Yes) {
		m := p.Started
		return &m
	}
	return nil
}

// Serves is while a member's API server serves requests: its process lives, is not
// paused, and answered /readyz with 200 at least once.
func (h *History) Serves(member string) Signal {
	var signals []Signal
	for _, p := range h.Processes(member, history.ComponentAPIServer) {
		if first := h.FirstReady(p); first != nil {
			var since Builder
			since.Set(*first, Yes)
			signals = append(signals, And(p.Running(), since.Signal()))
		}
	}
	return Or(signals...)
}
