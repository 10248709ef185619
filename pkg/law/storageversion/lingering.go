package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// lingering is a write that the barrier refused although the server had said before that it
// is ready.
type lingering struct {
	// request is its index, before and after are the answers of /readyz around it, and
	// again is whether the second one was 200 too.
	request       int
	before, after fact.Stamp
	again         bool
}

// readyNow is the last answer of a member's /readyz, and the refusals since.
type readyNow struct {
	fact.Stamp
	code    int
	pending []int
}

func (f *facts) observeReady(ev *history.Event) {
	now := f.readyNow[ev.Member]
	if now == nil {
		now = &readyNow{}
		f.readyNow[ev.Member] = now
	}
	for _, i := range now.pending {
		f.lingering[i].after, f.lingering[i].again = fact.StampOf(ev), ev.Ready.Code == 200
	}
	*now = readyNow{fact.StampOf(ev), ev.Ready.Code, nil}
}

// linger notes whether the server of the last request had been ready when it was sent.
func (f *facts) linger(r *request) {
	now := f.readyNow[r.member]
	r.ready = now != nil && now.code == 200 && r.From >= now.At
	if !r.ready || r.class != history.ClassGuarded || !r.barrier {
		return
	}
	now.pending = append(now.pending, len(f.lingering))
	f.lingering = append(f.lingering, lingering{request: len(f.requests) - 1, before: now.Stamp})
}
