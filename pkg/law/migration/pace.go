package migration

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// pace is how fast objects were written in a stretch of time. The first one takes no time.
type pace struct {
	count       int64
	took        time.Duration
	first, last fact.Moment
}

func (p pace) rate() float64 { return float64(p.count) / p.took.Seconds() }

// beyond is by how many objects it exceeds a rate, where it may have taken longer.
func (p pace) beyond(limit float64, longer time.Duration) float64 {
	return float64(p.count) - limit*(p.took+longer).Seconds()
}

// edges are between which instants a stretch of time lies that begins or ends with a write.
type edges func(fact.Moment) (begin, end int64)

// apart has writes as far from each other as their moments allow.
func apart(m fact.Moment) (begin, end int64) { return m.Earliest, m.Latest }

// closeIfLate has those as close to others that the recorder of etcd told of later than that.
func closeIfLate(within time.Duration) edges {
	return func(m fact.Moment) (begin, end int64) {
		if m.Latest-m.Earliest > int64(within) {
			return m.Latest, m.Earliest
		}
		return apart(m)
	}
}

// fastest is the stretch of at least a length in which writes exceed a rate by most.
func fastest(writes []fact.Moment, limit float64, length time.Duration, of edges) pace {
	var worst pace
	took := func(i, j int) int64 {
		begin, _ := of(writes[i])
		_, end := of(writes[j])
		return end - begin
	}
	consider := func(i, j int) {
		p := pace{int64(j - i), max(time.Duration(took(i, j)), length), writes[i], writes[j]}
		if worst.took == 0 || p.beyond(limit, 0) > worst.beyond(limit, 0) {
			worst = p
		}
	}
	// Longer stretches: the one that begins where writes had fallen behind the rate most.
	behind := func(i int) float64 { return float64(i) + limit*time.Duration(took(i, 0)).Seconds() }
	from, next := -1, 0
	for j := range writes {
		for ; next <= j && took(next, j) >= int64(length); next++ {
			if from < 0 || behind(next) < behind(from) {
				from = next
			}
		}
		if from >= 0 {
			consider(from, j)
		}
		if next <= j {
			consider(next, j)
		}
	}
	return worst
}

// inOrder has the stamps in the order in which they were recorded.
func inOrder(stamps []fact.Stamp) []fact.Stamp {
	return slices.SortedFunc(slices.Values(stamps), func(a, b fact.Stamp) int { return cmp.Compare(a.Seq, b.Seq) })
}

type signalOf struct {
	what   string
	member int32
}

// calm is while nothing stands in the way at a member, and every etcd runs.
func (f *Facts) calm(member int32) fact.Signal {
	return fact.Cached(f.History, signalOf{"calm", member}, func() fact.Signal {
		calm := []fact.Signal{f.Healthy(f.Members()[member])}
		for _, m := range f.Members() {
			if len(f.Processes(m, history.ComponentEtcd)) > 0 {
				calm = append(calm, f.Running(m, history.ComponentEtcd))
			}
		}
		return fact.And(calm...)
	})
}

// hindered is while the harness may make any client wait: a member's etcd is stopped, its power
// is cut, or a fault is active that is not on the link of one component alone.
func (f *Facts) hindered() fact.Signal {
	return fact.Cached(f.History, signalOf{"hindered", -1}, func() fact.Signal {
		return fact.Or(
			f.FaultActive(func(x *fact.Fault) bool { return x.Type != history.FaultHTTP && x.Type != history.FaultBackend }),
			f.AnyMember(func(m string) fact.Signal { return fact.Or(f.Stopped(m, history.ComponentEtcd), f.Powerless(m)) }))
	})
}

// unready is while a member's /readyz answers that it is not ready. One that does not answer
// may have too much to do.
func (f *Facts) unready(member int32) fact.Signal {
	return fact.Cached(f.History, signalOf{"unready", member}, func() fact.Signal {
		answers := fact.Where(f.ReadyAnswers(f.Members()[member]), func(a fact.ReadyAnswer) bool { return a.Code != 0 })
		return fact.Follow(answers, func(a fact.ReadyAnswer) fact.Moment { return a.Moment }, func(a fact.ReadyAnswer) bool { return a.Code != 200 })
	})
}
