package fact

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Source is a recorder that a law relies on to have missed nothing.
type Source string

// The recorders, by the names that they have in events of a recorder that missed
// something.
const (
	Etcd      Source = history.SourceEtcd
	Readyz    Source = history.SourceReady
	Requests  Source = history.SourceRequest
	Watches   Source = history.SourceWatch
	Discovery Source = history.SourceHostedResources
	Documents Source = history.SourceDiscoveryDocument

	Reads        Source = history.SourceRead
	Visibilities Source = history.SourceVisibility
	Hashes       Source = history.SourceEtcdHash
	Customs      Source = history.SourceCustomResource
	Balancers    Source = history.SourceLoadBalancer
)

// Sources are all of them.
var Sources = []Source{Etcd, Readyz, Requests, Watches, Discovery, Documents, Reads, Visibilities, Hashes, Customs, Balancers}

// recorders is what the recorders said of themselves.
type recorders struct {
	// untrusted is the number of the first event from which on lines are missing, times
	// cannot be told, or a recorder that is not known may have missed something.
	untrusted int64
	// missing is whether lines are missing, stepped why times cannot be told, and unknown
	// how often a recorder that is not known may have missed something.
	missing bool
	stepped string
	// retold is how often the recorder of etcd told of a change when it had told of all up to a
	// later one.
	retold  int64
	unknown int64
	// missed is, for each source, the number of the event with which it said first that
	// it may have missed something, and how often it said so.
	missed map[Source]missed
	// delayed are the times in which the recorder of etcd heard nothing.
	delayed []Span
}

type missed struct{ seq, times int64 }

func (r *recorders) observe(ev *history.Event) {
	switch {
	case ev.RecorderMissed != nil && !slices.Contains(Sources, Source(ev.RecorderMissed.Source)):
		r.distrust(ev.Seq)
		if ev.RecorderMissed.Source == history.SourceClock {
			r.stepped = ev.RecorderMissed.Message
		} else {
			r.unknown++
		}
	case ev.RecorderMissed != nil:
		if r.missed == nil {
			r.missed = map[Source]missed{}
		}
		m := r.missed[Source(ev.RecorderMissed.Source)]
		r.missed[Source(ev.RecorderMissed.Source)] = missed{cmp.Or(m.seq, ev.Seq), m.times + 1}
	case ev.RecorderDelayed != nil && Source(ev.RecorderDelayed.Source) == Etcd && ev.From < ev.At:
		r.delayed = append(r.delayed, Span{ev.From, ev.At})
	}
}

func (r *recorders) distrust(seq int64) {
	r.untrusted = cmp.Or(r.untrusted, seq)
}

// Untrusted is the number of the first event from which on nothing follows from what was
// not seen, whichever recorder it is of; 0 if there is none.
func (h *History) Untrusted() int64 { return h.recorders.untrusted }

// Doubts are why nothing can be concluded from what was not seen, in words.
func (h *History) Doubts() []string {
	var out []string
	if h.recorders.missing {
		out = append(out, "the numbers of the events have gaps: lines are missing")
	}
	for i, m := range h.Header.Members {
		for _, other := range h.Header.Members[:i] {
			if m.ServerID != "" && m.ServerID == other.ServerID {
				out = append(out, fmt.Sprintf("the API servers of %s and %s have one identity, %s: what is recorded under it may be of either", other.Name, m.Name, m.ServerID))
			}
		}
	}
	if why := h.recorders.stepped; why != "" {
		out = append(out, "times cannot be told: "+why)
	}
	if seq := h.DiskFull(); seq > 0 {
		out = append(out, fmt.Sprintf("a disk that the run writes to filled: from event %d on nothing says anything of the control plane", seq))
	}
	if n := h.recorders.retold; n > 0 {
		out = append(out, fmt.Sprintf("the recorder of etcd told of %d changes after it had told of all up to a later one", n))
	}
	if n := h.recorders.unknown; n > 0 {
		out = append(out, fmt.Sprintf("recorders that this evenkeel does not know may have missed something %d times", n))
	}
	return out
}

// Missed is how often a source said that it may have missed something, and the number of
// the first event in which it did.
func (h *History) Missed(s Source) (times, seq int64) {
	m := h.recorders.missed[s]
	return m.times, m.seq
}

// recordedSince is the earliest time at which what the recorder of etcd told at a time can
// have been done.
func (r *recorders) recordedSince(at int64) int64 {
	since := at - int64(etcdDelay)
	for _, d := range slices.Backward(r.delayed) {
		if d.End+int64(etcdDelay) < at {
			break
		}
		if d.Begin <= at {
			since = min(since, d.Begin-int64(etcdDelay))
		}
	}
	return max(since, 0)
}

// EtcdSilent is while the recorder of etcd heard nothing, as when etcd stands still.
func (h *History) EtcdSilent() Signal {
	return Or(Each(h.recorders.delayed, func(s Span) Signal {
		end := Exactly(s.End, 0)
		return Between(Exactly(s.Begin, 0), &end)
	})...)
}
