package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm15: migrations write no more objects a second than is declared, at any time, and other
// clients are served as quickly as before (KEP-25, "Goals": fewer than ten a second where
// nothing else is declared). A client that is not served at all is not served quickly.
var svm15 = written{
	Row: law.Row{ID: "SVM-15", Sources: []fact.Source{fact.Etcd, fact.Requests, fact.Readyz}, Needs: []law.Need{{Name: "paced", Tag: "paced"}, {Name: "during", Tag: "during"}, {Name: "before", Tag: "before"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		var all, sent []fact.Stamp
		for _, m := range f.Migrations {
			var own []fact.Stamp
			for _, c := range m.rewritten() {
				own = append(own, c.Stamp)
			}
			f.keepsPace(l, bounds, "migration "+m.Name+" rewrote", own, "paced")
			all = append(all, own...)
			for _, x := range m.sentDuring() {
				sent = append(sent, x.Stamp)
			}
		}
		if l.Count(law.Broken) == 0 {
			// Most of what was sent may change nothing in etcd.
			f.keepsPace(l, bounds, "migrations together rewrote", sortBySeq(all), "together")
			f.keepsPace(l, bounds, "migrations together sent writes of", sortBySeq(sent), "together")
		}
		f.servesOthers(l, bounds)
	},
}

// keepsPace holds writes against the declared rate, in each stretch of time of at least a
// length.
func (f *Facts) keepsPace(l *law.Ledger, bounds law.Bounds, who string, writes []fact.Stamp, tag string) {
	if float64(len(writes)) < bounds.Number("measured") {
		return
	}
	limit := f.Header.MigrationRate
	if limit == 0 {
		limit = bounds.Number("rate")
	}
	surely, excess := f.fastest(writes, limit, bounds.Of("measuredOver"), bounds.Of("heldUp"), func(fact.Moment) bool { return false })
	maybe, most := f.fastest(writes, limit*bounds.Number("uneven"), bounds.Of("uncertainOver"), 0, func(fact.Moment) bool { return true })
	// The recorder of etcd may have been delayed for so long that any pace fits.
	if hidden, beyond := f.fastest(writes, limit, bounds.Of("measuredOver"), bounds.Of("heldUp"), func(m fact.Moment) bool { return m.Latest-m.Earliest > int64(bounds.Of("toldWithin")) }); most <= 0 {
		maybe, most = hidden, beyond
	}
	at := f.When(writes[0])
	switch {
	case excess > 0:
		l.Broken(who, at, law.Evidence(surely.first.Seq, surely.last.Seq), "%s %d objects within %v, which are %.1f a second, and %v a second are declared",
			who, surely.count+1, surely.took.Round(time.Millisecond), surely.rate(), limit)
	case most > 0:
		l.Unclear(who, at, "%s %d objects within %v or longer, and %v a second are declared", who, maybe.count+1, maybe.took.Round(time.Millisecond), limit)
	default:
		l.Met(who, at, tag)
	}
}

// servesOthers compares the slowest requests while migrations ran with those while none did.
func (f *Facts) servesOthers(l *law.Ledger, bounds law.Bounds) {
	var with, without latencies
	var longest time.Duration
	var slow fact.Stamp
	var running []fact.Signal
	for _, m := range f.Migrations {
		running = append(running, m.Running())
	}
	busy, unexplained := fact.Or(running...), int64(0)
	for _, r := range f.requests.timed {
		took, during := time.Duration(r.At-r.From), busy.At(r.At) == fact.Yes
		if !r.served {
			switch f.blamed(r, bounds) {
			case fact.No:
				continue
			case fact.Unknown:
				if during {
					unexplained++
				}
				continue
			}
			took = max(took, bounds.Of("unservedTakes"))
		}
		if !during {
			without.add(took)
			continue
		}
		if with.add(took); took > longest {
			longest, slow = took, r.Stamp
		}
	}
	if unexplained > 0 {
		l.Doubt("%d requests were not served while migrations ran, by members that had ceased to be ready with nothing in their way", unexplained)
	}
	f.compareLatencies(l, bounds, &with, &without, slow)
}

func (f *Facts) compareLatencies(l *law.Ledger, bounds law.Bounds, with, without *latencies, slow fact.Stamp) {
	slowest, usual := with.slowest(), without.slowest()
	if slowest > bounds.Of("slowRequest") && float64(slowest) > bounds.Number("slowerThan")*float64(usual) && float64(without.total) >= bounds.Number("measured") {
		l.Broken("clients", f.When(slow), []int64{slow.Seq}, "while migrations ran the slowest of a hundred requests took %v, and %v while none did", slowest.Round(time.Millisecond), usual.Round(time.Millisecond))
	}
	if with.total > 0 {
		l.Add(law.Entry{Ending: law.Met, About: "clients", Began: f.Over(), Tags: []string{"during"}, Times: with.total})
	}
	if without.total > 0 {
		l.Add(law.Entry{Ending: law.Met, About: "clients", Began: f.Over(), Tags: []string{"before"}, Times: without.total})
	}
}

// blamed is whether a request was not served by a member that was ready with nothing in
// its way, and stayed so; Unknown where the member ceased to be ready, with nothing in its
// way either.
func (f *Facts) blamed(r timedRequest, bounds law.Bounds) fact.Truth {
	if r.member < 0 {
		return fact.No
	}
	member, shows := f.Members()[r.member], int64(bounds.Of("endShows"))
	calm := f.calm(member)
	for _, span := range calm.Spans(fact.Yes) {
		if span.Begin <= r.From && r.At+shows <= min(span.End, f.Now) {
			if f.unready(member).Lasts(r.From, r.At+shows, fact.Yes) > 0 {
				return fact.Unknown
			}
			return fact.Yes
		}
	}
	return fact.No
}

// calm is while a member's API server lives that was ready once, no etcd starts or ends,
// and no fault is at the member.
func (f *Facts) calm(member string) fact.Signal {
	return cached(f, calmOf(member), func() fact.Signal {
		calm := []fact.Signal{f.Serves(member), fact.Not(f.FaultAt(member))}
		for _, m := range f.Members() {
			if len(f.Processes(m, history.ComponentEtcd)) > 0 {
				calm = append(calm, f.Running(m, history.ComponentEtcd))
			}
		}
		return fact.And(calm...)
	})
}

type calmOf string

// unready is while a member's /readyz answers that it is not ready. One that does not answer
// may have too much to do.
func (f *Facts) unready(member string) fact.Signal {
	return cached(f, unreadyOf(member), func() fact.Signal {
		var b fact.Builder
		for _, a := range f.ReadyAnswers(member) {
			if a.Code != 0 {
				b.Set(a.Moment, fact.Of(a.Code != 200))
			}
		}
		return b.Signal()
	})
}

type unreadyOf string
