package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// outages are the times at which servers that had been ready gave no answer to the
// question whether they are, or said that their etcd does not answer: what keeps
// requests from passing is then no matter of one server.
type outages struct {
	// out are the questions that had no better answer, by member.
	out map[string][]stretch
}

// mostOutages bounds what is kept of a member: one question a second for hours.
const mostOutages = 1 << 14

// etcdCheck is what the readiness of every API server calls that it reaches its etcd.
const etcdCheck = "etcd"

func (o *outages) take(w *World, ev *history.Event) {
	r := ev.Ready
	if r == nil || r.Code != 0 && !slices.Contains(r.Failing, etcdCheck) {
		return
	}
	in := w.servers[ev.Member].current()
	if in == nil || in.exitedAt > 0 || in.ready == nil || w.faulty(ev.Member) {
		return // it is meant to be like that
	}
	if o.out == nil {
		o.out = map[string][]stretch{}
	}
	if len(o.out[ev.Member]) < mostOutages {
		o.out[ev.Member] = append(o.out[ev.Member], stretch{ev.From, ev.At})
	}
}

// elsewhere is whether at least one other member, and every other one that was asked at
// all, was out at some moment between two.
func (o *outages) elsewhere(w *World, member string, from, to int64) bool {
	others := 0
	for _, other := range w.order {
		in := w.servers[other].current()
		if other == member || in == nil {
			continue
		}
		if !slices.ContainsFunc(o.out[other], func(s stretch) bool { return s.from < to && from < s.to }) {
			return false
		}
		others++
	}
	return others > 0
}
