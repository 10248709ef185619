package check

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// accepted is whether a server took what was sent.
func accepted(r *history.Request) bool { return r.Code >= 200 && r.Code < 300 }

// guardedName is the name of the StorageVersion of what a request is about; a
// subresource is stored with its resource.
func guardedName(r *history.Request) string {
	resource, _, _ := strings.Cut(r.Resource, "/")
	return objectName(r.Group, resource)
}

// probes tells what became of invalid statuses. A refusal says something only
// of a server that takes the same status without the flaw: who refuses
// everything has not looked at it. And it says something of writes that last
// only if it was not a dry run.
type probes struct {
	// taken is the object whose valid status each member took last.
	taken map[string]string
	// refused counts the refusals of what would have lasted.
	refused perMember
	// held are the members that refused so since the hold began; unprobed counts
	// the members of holds that did not.
	held     map[string]bool
	unprobed int
}

// outcome of a probe with the given flaw; both false for any other event.
func (p *probes) outcome(w *World, ev *history.Event, flaw string) (wrong, refused bool) {
	if ev.Hold != nil {
		p.hold(w, ev.Hold)
	}
	r := ev.Request
	if r == nil || r.Class != history.ClassInvalid {
		return false, false
	}
	if r.Invalid == "" {
		if p.taken == nil {
			p.taken = map[string]string{}
		}
		delete(p.taken, ev.Member)
		if accepted(r) {
			p.taken[ev.Member] = r.Name
		}
		return false, false
	}
	if r.Invalid != flaw {
		return false, false
	}
	refused = r.Code == 422 && r.Name != "" && p.taken[ev.Member] == r.Name
	if refused && r.Lasting {
		p.refused.add(w, ev.Member)
		if p.held != nil {
			p.held[ev.Member] = true
		}
	}
	return accepted(r), refused
}

// hold opens and closes the books of a hold, at whose end each member that is
// ready is probed.
func (p *probes) hold(w *World, h *history.Hold) {
	switch {
	case h.Phase == history.PhaseBegin:
		p.held = map[string]bool{}
	case h.Phase == history.PhaseEnd && p.held != nil:
		for member := range h.Releases {
			if in := w.servers[member].current(); in != nil && in.exitedAt == 0 && !p.held[member] {
				p.unprobed++
			}
		}
		p.held = nil
	}
}

// least is how often the member that did it least refused what would have
// lasted.
func (p *probes) least(what string) Observation {
	return p.refused.fewest(what+" refused, not as a dry run", needRefusedProbes)
}

func (p *probes) doubts() []string {
	if p.unprobed > 0 {
		return []string{fmt.Sprintf("at the end of holds members were not seen to refuse an invalid status %d times, though they were up", p.unprobed)}
	}
	return nil
}
