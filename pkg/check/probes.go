package check

import "github.com/evenkeel/evenkeel/pkg/history"

// accepted is whether a server took what was sent.
func accepted(r *history.Request) bool { return r.Code >= 200 && r.Code < 300 }

// probes tells what became of invalid statuses. A refusal says something only
// of a server that takes the same status without the flaw: who refuses
// everything has not looked at it.
type probes struct {
	// taken is the object whose valid status each member took last.
	taken map[string]string
}

// outcome of a probe with the given flaw; both false for any other event.
func (p *probes) outcome(ev *history.Event, flaw string) (wrong, refused bool) {
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
	return accepted(r), r.Code == 422 && r.Name != "" && p.taken[ev.Member] == r.Name
}
