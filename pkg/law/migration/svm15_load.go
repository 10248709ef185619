package migration

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm15: migrations write no more objects a second than is declared, at any time, and other
// clients are served as quickly as before (KEP-25, "Goals": fewer than ten a second where
// nothing else is declared). A client that is not served at all is not served quickly.
var svm15 = together{
	Row: law.Row{ID: "SVM-15", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests, fact.Readyz}, Needs: needs("paced", "during", "before")},
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
	e, length, heldUp := law.Of(w.does, w.writes[0]), bounds.Of("measuredOver"), bounds.Of("heldUp")
	surely := fastest(w.writes, limit, length, apart)
	perhaps := fastest(w.writes, limit, length, closeIfLate(bounds.Of("toldWithin")))
	const sentence = "%s %d objects within %v, which are %.1f a second, and %v a second are declared"
	switch {
	case surely.beyond(limit, heldUp) > 0:
		e = e.Broken(sentence, w.does, surely.count+1, surely.took.Round(time.Millisecond), surely.rate(), limit).Shown(surely.first.Seq, surely.last.Seq)
		// The machine may have held up the first one, and not the others.
		starved := w.Starved(fact.Constant(fact.Yes), surely.first.Earliest-int64(length), surely.first.Latest)
		if surely.beyond(limit, heldUp+starved) <= 0 {
			return e.Starved(starved)
		}
		return e
	case perhaps.beyond(limit, heldUp) > 0:
		return e.Unclear("perhaps "+sentence, w.does, perhaps.count+1, perhaps.took.Round(time.Millisecond), perhaps.rate(), limit)
	}
	return e.Met(w.tags...)
}

// answer is how long a request took, and between which instants.
type answer struct {
	took     time.Duration
	from, to int64
	seq      int64
}

// servesOthers compares the slowest requests while migrations ran, also for a part of their
// time, with those while none did. One that was served counts if nothing hindered the members
// meanwhile. One that was not served counts if its member was ready with nothing in its way, and
// stayed so; where it ceased to be ready with nothing in its way, that is doubted. A write of
// a custom resource may be held until its definition has been announced.
func servesOthers(f *Facts, l *law.Ledger, bounds law.Bounds) {
	var with, without []answer
	busy, unexplained := fact.Or(fact.Each(f.Migrations, (*Migration).Running)...), 0
	for _, r := range f.requests.timed {
		one := answer{time.Duration(r.At - r.From), r.From, r.At, r.Seq}
		during := busy.Lasts(r.From, r.At+1, fact.Yes) > 0
		if r.served && f.hindered().Lasts(r.From, r.At, fact.Unknown) > 0 {
			continue
		}
		if !r.served {
			until := r.At + int64(bounds.Of("endShows"))
			if r.defined > 0 && r.From-r.defined < int64(bounds.Of("announcedWithin")) {
				continue
			}
			if r.member < 0 || until > f.Now || f.calm(r.member).Lasts(r.From, until, fact.Yes) < until-r.From {
				continue
			}
			if f.unready(r.member).Lasts(r.From, until, fact.Yes) > 0 {
				if during {
					unexplained++
				}
				continue
			}
			one.took = max(one.took, bounds.Of("unservedTakes"))
		}
		if during {
			with = append(with, one)
		} else if busy.Lasts(r.From, r.At+1, fact.Unknown) == 0 {
			without = append(without, one)
		}
	}
	if unexplained > 0 {
		l.Doubt("%d requests were not served while migrations ran, by members that had ceased to be ready with nothing in their way", unexplained)
	}
	e, slowest, usual := law.Of("clients", f.Over()), slowestOf(with), slowestOf(without)
	slower := func(a answer) bool {
		return a.took > bounds.Of("slowRequest") && float64(a.took) > bounds.Number("slowerThan")*float64(usual.took)
	}
	if float64(len(without)) >= bounds.Number("measured") && slower(slowest) {
		slow := e.Shown(slowest.seq).Broken("while migrations ran the slowest of a hundred requests took %v, and %v while none did",
			slowest.took.Round(time.Millisecond), usual.took.Round(time.Millisecond))
		if !slower(slowestOf(fact.Each(with, f.lessStarvation))) {
			slow = slow.Starved(slices.Max(fact.Each(with, f.starvedDuring)))
		}
		l.Add(slow)
	}
	l.Add(tally(e, int64(len(with)), "during"), tally(e, int64(len(without)), "before"))
}

// lessStarvation is how long a request would have taken at least if the machine had not held it
// up.
func (f *Facts) lessStarvation(a answer) answer {
	a.took -= f.starvedDuring(a)
	return a
}

func (f *Facts) starvedDuring(a answer) time.Duration {
	return f.Starved(fact.Constant(fact.Yes), a.from, a.to)
}

// slowestOf is what one of a hundred takes or exceeds.
func slowestOf(all []answer) answer {
	if len(all) == 0 {
		return answer{}
	}
	slices.SortFunc(all, func(a, b answer) int { return cmp.Compare(a.took, b.took) })
	return all[len(all)-1-len(all)/100]
}
