package migration

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm25: migrations that exist when members are replaced by another release, and by the one
// before again, can be listed and watched through every member, whichever release has
// written them (KEP-4192, "Upgrade / Downgrade Strategy"). It is judged at the end of each
// hold, by what clients of each member were shown and by lists in each version.
var svm25 = written{
	Row: law.Row{ID: "SVM-25", Sources: []fact.Source{fact.Etcd, fact.Requests, fact.Watches, fact.Discovery}, Needs: []law.Need{
		{Name: "outlived", Tag: "outlived", Each: true}, {Name: "succeeded", Tag: "succeeded"}, {Name: "failed", Tag: "failed"}, {Name: "going", Tag: "going"},
		{Name: "changes", Tag: "changes", Each: true}, {Name: "lists", Tag: "lists", Each: true}, {Name: "mixed", Tag: "mixed"}, {Name: "rolledBack", Tag: "rolledBack"},
	}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		before := int64(0)
		for _, h := range f.Holds {
			if h.Ended != nil {
				f.showsMigrations(l, bounds, h, before)
				before = h.Ended.Seq
			}
		}
		for _, member := range f.Members() {
			l.Add(tally(law.Of(member, f.Over()).By(member), f.changesShown(member), "changes"))
		}
	},
}

// showsMigrations judges a hold, after the one that ended before.
func (f *Facts) showsMigrations(l *law.Ledger, bounds law.Bounds, h *fact.Hold, before int64) {
	stored := f.leftovers(h.Ended.Seq)
	whole := len(fact.Where(stored, func(m leftover) bool { return !m.gone })) > 0
	for _, member := range f.Members() {
		if f.Alive(member, history.ComponentAPIServer).During(*h.Ended) != fact.Yes {
			whole = false
			continue
		}
		whole = f.listsIn(l, h, member) && whole
		whole = f.viewsIn(l, bounds, h, member, stored) && whole
	}
	releases := map[string]bool{}
	for _, r := range h.Releases {
		releases[r] = true
	}
	rolledBack := fact.Where(f.Steps, func(s *fact.Step) bool {
		return s.Action == "rollback" && s.Ended != nil && s.Phase == history.PhaseEnd && s.Ended.Seq > before && s.Ended.Seq < h.Ended.Seq
	})
	e := law.Of(h.Name, *h.Ended)
	if whole && len(releases) > 1 {
		l.Add(e.Met("mixed"))
	}
	if whole && len(rolledBack) > 0 {
		l.Add(e.Met("rolledBack"))
	}
}

// listsIn is whether a member answered a list in each version that it was asked in.
func (f *Facts) listsIn(l *law.Ledger, h *fact.Hold, member string) bool {
	answers := map[string]request{}
	for _, r := range f.requests.lists {
		if r.Member == member && r.Seq > h.Began.Seq && r.Seq < h.Ended.Seq {
			if a, asked := answers[r.Version]; !asked || a.Code == 0 || a.Code >= 300 && r.Code > 0 {
				answers[r.Version] = r
			}
		}
	}
	whole := len(answers) > 0
	e := law.Of(member, *h.Ended).By(member)
	for _, version := range law.SortedKeys(answers) {
		switch r := answers[version]; {
		case accepted(r.Request):
			l.Add(law.Of(version, r.Moment).By(member).Met("lists"))
			continue
		case r.Code > 0:
			l.Add(e.Broken("in hold %q every list of migrations in %s was refused by %s, at last with %d", h.Name, version, member, r.Code).Shown(r.Seq, h.Ended.Seq))
		}
		whole = false
	}
	if !whole {
		l.Add(e.Unclear("in hold %q it is not known in which versions %s lists migrations", h.Name, member))
	}
	return whole
}

// viewsIn is whether a member's clients were shown all migrations.
func (f *Facts) viewsIn(l *law.Ledger, bounds law.Bounds, h *fact.Hold, member string, stored []leftover) bool {
	v, e := f.viewAt(member, h.Ended.Seq), law.Of(member, *h.Ended).By(member)
	if !v.open {
		if b := v.broken; b != nil && b.Code > 0 && b.seq < h.Began.Seq {
			l.Add(e.Broken("all through hold %q clients of %s could not list and watch migrations: %s", h.Name, member, b.Message).Shown(b.seq, h.Began.Seq, h.Ended.Seq))
		} else {
			l.Add(e.Unclear("in hold %q it is not known which migrations clients of %s are shown", h.Name, member))
		}
		return false
	}
	whole := true
	for _, m := range stored {
		revision, seen := v.byName[m.Name]
		why := ""
		switch {
		case m.gone && seen:
			why = "though it was deleted"
		case m.gone:
			continue
		case !seen:
			why = "no more, and etcd has it"
		case revision < m.last.Revision:
			why = fmt.Sprintf("as it was before revision %d", m.last.Revision)
		default:
			l.Add(f.outlives(h, member, m))
			continue
		}
		whole = false
		if least, _ := f.When(m.last).Until(*h.Ended); least > bounds.Of("showsWithin") {
			l.Add(e.Broken("in hold %q clients of %s are shown migration %s %s", h.Name, member, m.Name, why).Shown(m.last.Seq, h.Ended.Seq))
		} else {
			l.Add(e.Excused("what changed just before the end of a hold may have been on its way"))
		}
	}
	return whole
}

// outlives is a migration that is shown by a member which was replaced by another release
// since it was created.
func (f *Facts) outlives(h *fact.Hold, member string, m leftover) law.Entry {
	p := f.LastProcess(member, history.ComponentAPIServer, h.Ended.Latest)
	if p == nil || p.Before == nil || p.Before.Release == p.Release || f.When(m.Created).Before(p.Started) != fact.Yes {
		return law.Entry{}
	}
	tag := "going"
	if was(m.Ended) && m.Ended.Seq <= h.Ended.Seq {
		tag = map[string]string{history.MigrationSucceeded: "succeeded", history.MigrationFailed: "failed"}[m.Outcome]
	}
	return law.Of(m.Name, *h.Ended).By(member).Met("outlived", tag)
}
