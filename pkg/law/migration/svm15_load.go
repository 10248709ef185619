package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm15: migrations write no more objects a second than is declared, at any time, and other
// clients are served as quickly as before (KEP-25, "Goals": fewer than ten a second where
// nothing else is declared). A client that is not served at all is not served quickly.
var svm15 = together{
	Row: law.Row{ID: "SVM-15", Sources: []fact.Source{fact.Etcd, fact.Requests, fact.Readyz}, Needs: []law.Need{{Name: "paced", Tag: "paced"}, {Name: "during", Tag: "during"}, {Name: "before", Tag: "before"}}},
	Parts: parts{
		each[writer]{Over: writers, End: writer.keepsPace},
		written{Judge: servesOthers},
	},
}

// writer is who wrote objects one after the other: a migration, or all of them.
type writer struct {
	*Facts
	does   string
	writes []fact.Moment
	tags   []string
}

func writers(f *Facts) []writer {
	var out []writer
	var rewritten, sent []fact.Stamp
	add := func(does string, writes []fact.Stamp, tags ...string) {
		out = append(out, writer{f, does, fact.Each(inOrder(writes), f.When), tags})
	}
	for _, m := range f.Migrations {
		own := fact.Each(m.rewritten(), func(c *Change) fact.Stamp { return c.Stamp })
		add("migration "+m.Name+" rewrote", own, "paced")
		rewritten = append(rewritten, own...)
		sent = append(sent, fact.Each(m.sent(), func(x exchange) fact.Stamp { return x.Stamp })...)
	}
	if several := fact.Where(out, func(w writer) bool { return len(w.writes) > 0 }); len(several) > 1 {
		add("migrations together rewrote", rewritten)
	}
	add("migrations together sent writes of", sent) // most of them may change nothing in etcd
	return out
}

// keepsPace holds writes against the declared rate, in each stretch of time of at least a
// length. Writes that the recorder told of late may have been made at any pace that their
// times allow.
func (w writer) keepsPace(bounds law.Bounds) law.Entry {
	if float64(len(w.writes)) < bounds.Number("measured") {
		return law.Entry{}
	}
	limit := w.Header.MigrationRate
	if limit == 0 {
		limit = bounds.Number("rate")
	}
	e := law.Of(w.does, w.writes[0])
	far := fastest(w.writes, limit, bounds.Of("measuredOver"), apart)
	near := fastest(w.writes, limit, bounds.Of("measuredOver"), adjacent)
	const sentence = "%s %d objects within %v, which are %.1f a second, and %v a second are declared"
	switch heldUp, told := bounds.Of("heldUp"), bounds.Of("toldWithin"); {
	case far.beyond(limit, heldUp) > 0:
		return e.Broken(sentence, w.does, far.count+1, far.took.Round(time.Millisecond), far.rate(), limit).Shown(far.first.Seq, far.last.Seq)
	case near.beyond(limit, heldUp+2*told) > 0:
		return e.Unclear("perhaps "+sentence, w.does, near.count+1, near.took.Round(time.Millisecond), near.rate(), limit)
	}
	return e.Met(w.tags...)
}

// servesOthers compares the slowest requests while migrations ran with those while none did.
func servesOthers(f *Facts, l *law.Ledger, bounds law.Bounds) {
	var with, without latencies
	busy, unexplained := fact.Or(fact.Each(f.Migrations, (*Migration).Running)...), int64(0)
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
		if during {
			with.add(took, r.Seq)
		} else {
			without.add(took, r.Seq)
		}
	}
	if unexplained > 0 {
		l.Doubt("%d requests were not served while migrations ran, by members that had ceased to be ready with nothing in their way", unexplained)
	}
	e, slowest, usual := law.Of("clients", f.Over()), with.slowest(), without.slowest()
	if slowest > bounds.Of("slowRequest") && float64(slowest) > bounds.Number("slowerThan")*float64(usual) && float64(len(without.took)) >= bounds.Number("measured") {
		l.Add(e.Shown(with.longestSeq).Broken("while migrations ran the slowest of a hundred requests took %v, and %v while none did", slowest.Round(time.Millisecond), usual.Round(time.Millisecond)))
	}
	l.Add(tally(e, int64(len(with.took)), "during"), tally(e, int64(len(without.took)), "before"))
}

// blamed is whether a request was not served by a member that was ready with nothing in
// its way, and stayed so; Unknown where the member ceased to be ready, with nothing in its
// way either.
func (f *Facts) blamed(r timedRequest, bounds law.Bounds) fact.Truth {
	until := r.At + int64(bounds.Of("endShows"))
	switch {
	case r.member < 0 || until > f.Now || f.calm(f.Header.Members[r.member].Name).Lasts(r.From, until, fact.Yes) < until-r.From:
		return fact.No
	case f.unready(f.Header.Members[r.member].Name).Lasts(r.From, until, fact.Yes) > 0:
		return fact.Unknown
	}
	return fact.Yes
}
