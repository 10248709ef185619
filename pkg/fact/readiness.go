package fact

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// readiness is what a member's /readyz answered.
type readiness struct {
	last  history.Ready
	asked int64
	// by is the process that had started last when it was asked last.
	by   *Process
	seen []ReadyAnswer
}

// ReadyAnswer is one answer of /readyz that differs from the one before, or is the first
// one since another process started.
type ReadyAnswer struct {
	Moment
	// Since is when the member began to answer so: between the request before and this
	// answer.
	Since Moment
	// Code is the HTTP status, 0 where no answer came; Failing are the checks that failed.
	Code    int
	Failing []string
	// EtcdRevision is one that etcd had right after the answer; 0 where it was not read.
	EtcdRevision int64
}

// OK is whether the member was ready.
func (a ReadyAnswer) OK() bool { return a.Code == http.StatusOK }

func (h *History) observeReady(ev *history.Event) {
	a := h.readiness[ev.Member]
	if a == nil {
		a = &readiness{}
		h.readiness[ev.Member] = a
	}
	m, by := momentOf(ev), h.processes.last(ev.Member, history.ComponentAPIServer)
	if by != nil && m.Earliest < by.Started.Earliest {
		by = a.by // it was asked before that process started
	}
	if n := len(a.seen); n == 0 || ev.Ready.Code != a.last.Code || a.by != by {
		since := m
		switch {
		case a.asked > 0:
			since.Earliest = min(a.asked, since.Earliest)
		case h.Midway():
			since.Earliest = LongAgo // it may have answered so all the time before
		}
		a.seen = append(a.seen, ReadyAnswer{m, since, ev.Ready.Code, ev.Ready.Failing, ev.Ready.Revision})
	} else if a.seen[n-1].EtcdRevision == 0 {
		a.seen[n-1].EtcdRevision = ev.Ready.Revision
	}
	a.last, a.asked, a.by = *ev.Ready, m.Earliest, by
}

// Ready is while a member's /readyz answers 200. It changes between the beginning of the
// request before and the answer that shows the change.
func (h *History) Ready(member string) Signal {
	return Follow(h.ReadyAnswers(member), func(a ReadyAnswer) Moment { return a.Since }, ReadyAnswer.OK)
}

// ReadyAnswers are the answers of a member's /readyz that differ from the one before.
func (h *History) ReadyAnswers(member string) []ReadyAnswer {
	if a := h.readiness[member]; a != nil {
		return a.seen
	}
	return nil
}

// FirstReady is when a process of an API server answered /readyz with 200 first; nil if
// it never did.
func (h *History) FirstReady(p *Process) *Moment {
	for _, a := range h.ReadyAnswers(p.Member) {
		if a.OK() && a.Earliest >= p.Started.Earliest && (p.Exited == nil || a.Latest <= p.Exited.Latest) {
			m := a.Moment
			if p.Started.Given() {
				m.Earliest = LongAgo
			}
			return &m
		}
	}
	return nil
}

// WhenEnded is when an API server ended. Where only the next start tells of that, it may have ended
// at any time since it gave no answer any more.
func (h *History) WhenEnded(p *Process) Moment {
	end := *p.Exited
	if !p.Untold {
		return end
	}
	since := end.Earliest
	for _, a := range h.ReadyAnswers(p.Member) {
		switch {
		case a.Latest <= p.Started.Latest:
		case a.Latest >= end.Earliest:
			end.Earliest = max(min(since, a.Since.Earliest), p.Started.Earliest)
			return end
		case a.Code == 0:
			since = a.Since.Earliest
		default:
			since = end.Earliest
		}
	}
	end.Earliest = max(since, p.Started.Earliest)
	return end
}

// Serves is while a member's API server serves requests: its process lives, is not
// paused, and answered /readyz with 200 at least once. One that is stopped serves until it
// answers no more, although it may live on for a minute, until its watches have ended.
func (h *History) Serves(member string) Signal {
	return Or(Each(h.Processes(member, history.ComponentAPIServer), func(p *Process) Signal {
		if first := h.FirstReady(p); first != nil {
			return And(p.Alive(), Not(p.Paused()), Between(*first, h.closed(p)))
		}
		return Constant(No)
	})...)
}

// closed is since when a process of an API server that was ended on purpose had answered
// nothing; nil if it answered to its end.
func (h *History) closed(p *Process) (since *Moment) {
	if p.Exited == nil || !p.Expected {
		return nil
	}
	for _, a := range h.ReadyAnswers(p.Member) {
		if a.Since.Latest > p.Exited.Earliest {
			break
		}
		if since = nil; a.Code == 0 && a.Since.Latest > p.Started.Latest {
			since = &a.Since
		}
	}
	return since
}
