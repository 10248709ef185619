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
			if n := f.changesShown(member); n > 0 {
				l.Add(law.Entry{Ending: law.Met, About: member, Member: member, Began: f.Over(), Tags: []string{"changes"}, Times: n})
			}
		}
	},
}

// showsMigrations judges a hold.
func (f *Facts) showsMigrations(l *law.Ledger, bounds law.Bounds, h *fact.Hold, before int64) {
	stored := f.leftoversAt(h.Ended.Seq)
	whole, there := true, false
	for _, m := range stored {
		there = there || !m.gone
	}
	for _, member := range f.Members() {
		if f.Alive(member, history.ComponentAPIServer).During(*h.Ended) != fact.Yes {
			whole = false
			continue
		}
		whole = f.listsIn(l, h, member) && whole
		whole = f.viewsIn(l, int64(bounds.Of("showsWithin")), h, member, stored) && whole
	}
	if !whole || !there {
		return
	}
	releases := map[string]bool{}
	for _, r := range h.Releases {
		releases[r] = true
	}
	if len(releases) > 1 {
		l.Met(h.Name, *h.Ended, "mixed")
	}
	for _, s := range f.Steps {
		if s.Action == "rollback" && s.Ended != nil && s.Phase == history.PhaseEnd && s.Ended.Seq > before && s.Ended.Seq < h.Ended.Seq {
			l.Met(h.Name, *h.Ended, "rolledBack")
			return
		}
	}
}

// listsIn is whether a member answered a list in each version that it was asked in.
func (f *Facts) listsIn(l *law.Ledger, h *fact.Hold, member string) bool {
	answers := map[string]listRequest{}
	for _, r := range f.requests.lists {
		if r.member == member && r.Seq > h.Began.Seq && r.Seq < h.Ended.Seq {
			if a, asked := answers[r.version]; !asked || a.code == 0 || a.code >= 300 && r.code > 0 {
				answers[r.version] = r
			}
		}
	}
	all := len(answers) > 0
	for _, version := range law.SortedKeys(answers) {
		switch r := answers[version]; {
		case r.code >= 200 && r.code < 300:
			l.MetBy(member, version, f.When(r.Stamp), "lists")
			continue
		case r.code > 0:
			l.Broken(member, *h.Ended, law.Evidence(r.Seq, h.Ended.Seq), "in hold %q every list of migrations in %s was refused by %s, at last with %d", h.Name, version, member, r.code)
		}
		all = false
	}
	if !all {
		l.Unclear(member, *h.Ended, "in hold %q it is not known in which versions %s lists migrations", h.Name, member)
	}
	return all
}

// viewsIn is whether a member's clients were shown all migrations.
func (f *Facts) viewsIn(l *law.Ledger, showsWithin int64, h *fact.Hold, member string, stored map[string]leftover) bool {
	v := f.viewAt(member, h.Ended.Seq)
	if !v.open {
		if b := v.broken; b != nil && b.code > 0 && b.Seq < h.Began.Seq {
			l.Broken(member, *h.Ended, law.Evidence(b.Seq, h.Began.Seq, h.Ended.Seq), "all through hold %q clients of %s could not list and watch migrations: %s", h.Name, member, b.message)
		} else {
			l.Unclear(member, *h.Ended, "in hold %q it is not known which migrations clients of %s are shown", h.Name, member)
		}
		return false
	}
	whole := true
	for _, name := range law.SortedKeys(stored) {
		m := stored[name]
		revision, seen := v.byName[name]
		if m.gone && !seen || !m.gone && seen && revision >= m.last.Revision {
			if !m.gone {
				f.outlives(l, h, member, m)
			}
			continue
		}
		whole = false
		why := fmt.Sprintf("as it was before revision %d", m.last.Revision)
		switch {
		case m.gone:
			why = "though it was deleted"
		case !seen:
			why = "no more, and etcd has it" + f.past(member, m)
		}
		why = fmt.Sprintf("in hold %q clients of %s are shown migration %s %s", h.Name, member, name, why)
		least, _ := f.When(m.last).Until(*h.Ended)
		if int64(least) > showsWithin {
			l.Broken(member, *h.Ended, law.Evidence(m.last.Seq, h.Ended.Seq), "%s", why)
		} else {
			l.Excused(member, *h.Ended, "what changed just before the end of a hold may have been on its way")
		}
	}
	return whole
}

// outlives notes a migration that is shown by a member which was replaced by another
// release since it was created.
func (f *Facts) outlives(l *law.Ledger, h *fact.Hold, member string, m leftover) {
	p := f.LastProcess(member, history.ComponentAPIServer, h.Ended.Latest)
	if p == nil || p.Before == nil || p.Before.Release == p.Release || f.When(m.Created).Before(p.Started) != fact.Yes {
		return
	}
	tag := "going"
	if was(m.Ended) && m.Ended.Seq <= h.Ended.Seq {
		tag = map[string]string{history.MigrationSucceeded: "succeeded", history.MigrationFailed: "failed"}[m.Outcome]
	}
	l.MetBy(member, m.Name, *h.Ended, "outlived", tag)
}

// past says in words that a migration is from before a member was started, if so.
func (f *Facts) past(member string, m leftover) string {
	p := f.LastProcess(member, history.ComponentAPIServer, f.Now)
	if p == nil || f.When(m.Created).Before(p.Started) != fact.Yes {
		return ""
	}
	return ", since before that member was started at " + p.Release
}
