package migration

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm25: migrations that exist when members are replaced by another release, and by the one
// before again, can be listed and watched through every member, whichever release has
// written them (KEP-4192, "Upgrade / Downgrade Strategy"). It is judged at the end of each
// hold, by what clients of each member were shown and by lists in each version, and for each
// change that a watch showed, by when.
var svm25 = written{
	Row: law.Row{ID: "SVM-25", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests, fact.Watches, fact.Discovery}, Needs: []law.Need{
		{Name: "outlived", Tag: "outlived", Each: true}, {Name: "succeeded", Tag: "succeeded"}, {Name: "failed", Tag: "failed"}, {Name: "going", Tag: "going"},
		{Name: "changes", Tag: "changes", Each: true}, {Name: "lists", Tag: "lists", Each: true}, {Name: "mixed", Tag: "mixed"}, {Name: "rolledBack", Tag: "rolledBack"},
	}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		before := int64(0)
		for _, h := range f.Holds {
			if h.Ended != nil {
				l.Add(f.showsMigrations(bounds, h, before)...)
				before = h.Ended.Seq
			}
		}
		for _, member := range f.Members() {
			l.Add(tally(law.Of(member, f.Over()).By(member), f.changesShown(member), "changes"))
			l.Add(f.watchDelays(member, bounds)...)
		}
	},
}

// showsMigrations judges a hold, after the one that ended before. One in which every member
// lists and shows all migrations is told apart by what was done before.
func (f *Facts) showsMigrations(bounds law.Bounds, h *fact.Hold, before int64) []law.Entry {
	stored, whole, releases := f.leftovers(h.Ended.Seq), true, map[string]bool{}
	var out []law.Entry
	for _, member := range f.Members() {
		releases[h.Releases[member]] = true
		v := viewer{f, member, h, law.Of(member, *h.Ended).By(member)}
		switch {
		case f.Alive(member, history.ComponentAPIServer).During(*h.Ended) != fact.Yes:
			whole = false
		case v.able().During(fact.Moment{Earliest: h.Began.Earliest, Latest: h.Ended.Latest}) != fact.Yes:
			out = append(out, v.owes.Excused("the harness kept the member or its etcd from working, or etcd had no majority"))
		default:
			out = append(append(out, v.lists()...), v.views(stored, bounds)...)
		}
	}
	existing := fact.Where(stored, func(m leftover) bool { return !m.gone })
	wrong := fact.Where(out, func(e law.Entry) bool { return e.Ending != law.Met })
	if !whole || len(wrong) > 0 || len(existing) == 0 {
		return out
	}
	e := law.Of(h.Name, *h.Ended).Met()
	if len(releases) > 1 {
		e = e.Met("mixed")
	}
	if len(fact.Where(f.Steps, func(s *fact.Step) bool {
		return s.Action == "rollback" && s.Ended != nil && s.Phase == history.PhaseEnd && s.Ended.Seq > before && s.Ended.Seq < h.Ended.Seq
	})) > 0 {
		e = e.Met("rolledBack")
	}
	return append(out, e)
}

// viewer is a member in a hold, and what it owes in it.
type viewer struct {
	*Facts
	member string
	hold   *fact.Hold
	owes   law.Entry
}

// able is while nothing keeps the member from what it owes.
func (v viewer) able() fact.Signal { return fact.And(v.Up(v.member), v.EtcdQuorum()) }

// lists judges the answers to lists, in each version that the member was asked in.
func (v viewer) lists() []law.Entry {
	answers := map[string]request{}
	for _, r := range v.requests.lists {
		if r.Member == v.member && r.Seq > v.hold.Began.Seq && r.Seq < v.hold.Ended.Seq {
			if a, asked := answers[r.Version]; !asked || a.Code == 0 || !accepted(a.Request) && r.Code > 0 {
				answers[r.Version] = r
			}
		}
	}
	unknown := v.owes.Unclear("in hold %q it is not known in which versions %s lists migrations", v.hold.Name, v.member)
	if len(answers) == 0 {
		return []law.Entry{unknown}
	}
	var out []law.Entry
	for _, version := range law.SortedKeys(answers) {
		switch r := answers[version]; {
		case accepted(r.Request):
			out = append(out, v.owes.Met("lists"))
		case r.Code > 0:
			out = append(out, v.owes.Broken("in hold %q every list of migrations in %s was refused by %s, at last with %d",
				v.hold.Name, version, v.member, r.Code).Shown(r.Seq, v.hold.Ended.Seq))
		default:
			out = append(out, unknown)
		}
	}
	return out
}

// views judges whether the member's clients were shown all migrations as they are.
func (v viewer) views(stored []leftover, bounds law.Bounds) []law.Entry {
	shown := v.viewAt(v.member, v.hold.Ended.Seq)
	if b := shown.broken; !shown.open && b != nil && b.Code > 0 && b.seq < v.hold.Began.Seq {
		return []law.Entry{v.owes.Broken("all through hold %q clients of %s could not list and watch migrations: %s", v.hold.Name, v.member, b.Message).
			Shown(b.seq, v.hold.Began.Seq, v.hold.Ended.Seq)}
	}
	if !shown.open {
		return []law.Entry{v.owes.Unclear("in hold %q it is not known which migrations clients of %s are shown", v.hold.Name, v.member)}
	}
	return fact.Each(stored, func(m leftover) law.Entry {
		revision, seen := shown.byName[m.Name]
		why := ""
		switch {
		case m.gone && seen:
			why = "though it was deleted"
		case m.gone:
			return v.owes.Met()
		case !seen:
			why = "no more, and etcd has it"
		case revision < m.last.Revision:
			why = fmt.Sprintf("as it was before revision %d", m.last.Revision)
		default:
			return v.owes.Met(v.outlives(m)...)
		}
		if able := v.able().Lasts(v.When(m.last).Latest, v.hold.Ended.Earliest, fact.Yes); time.Duration(able) <= bounds.Of("showsWithin") {
			return v.owes.Excused("what changed just before the end of a hold may have been on its way")
		}
		return v.owes.Broken("in hold %q clients of %s are shown migration %s %s", v.hold.Name, v.member, m.Name, why).Shown(m.last.Seq, v.hold.Ended.Seq)
	})
}

// outlives tells how far a migration was that the member shows, which was replaced by
// another release since the migration was created.
func (v viewer) outlives(m leftover) []string {
	p := v.LastProcess(v.member, history.ComponentAPIServer, v.hold.Ended.Latest)
	switch {
	case p == nil || p.Before == nil || p.Before.Release == p.Release || v.When(m.Created).Before(p.Started) != fact.Yes:
		return nil
	case !was(m.Ended) || m.Ended.Seq > v.hold.Ended.Seq:
		return []string{"outlived", "going"}
	case m.Outcome == history.MigrationFailed:
		return []string{"outlived", "failed"}
	}
	return []string{"outlived", "succeeded"}
}
