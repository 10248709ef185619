package discovery

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad14: the group-versions of an aggregated server that could never be reached are
// "published with an empty resource list and a Stale for Freshness" (KEP-3352), without
// harm to others.
var ad14 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-14", Sources: readiness, Needs: each("stale")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, d := range f.definitions {
			for _, c := range d.changes {
				for _, o := range f.outages {
					if u := f.unreached(c, o); u != nil {
						u.judge(l, b.Of("showsWithin"))
					}
				}
			}
		}
	},
}

// unreached is a stretch of time in which the server of an APIService cannot be reached,
// and could not since there was one.
type unreached struct {
	facts  *Facts
	change *change
	outage *outage
	// from and to are its beginning and end.
	from, to fact.Moment
}

// unreached is when a change and an outage meet; nil if they do not.
func (f *Facts) unreached(c *change, o *outage) *unreached {
	if !c.of.remote || c.of.group != o.group || !c.known || len(c.versions) == 0 || !o.takesNothing() || o.bitten == 0 || o.dead > c.begun {
		return nil
	}
	u := &unreached{facts: f, change: c, outage: o, from: fact.Exactly(max(c.at, o.bitten), c.seq), to: fact.Exactly(min(o.until, c.over()), 0)}
	if u.from.Latest >= u.to.Latest {
		return nil
	}
	return u
}

func (u *unreached) judge(l *law.Ledger, bound time.Duration) {
	for _, m := range u.facts.all() {
		for _, version := range u.change.versions {
			if e := u.listed(m, version, bound); e != nil {
				l.Add(*e)
			}
		}
		if e := u.others(m); e != nil {
			l.Add(*e)
		}
	}
}

// listed judges how a member lists a group-version.
func (u *unreached) listed(m *member, version string, bound time.Duration) *law.Entry {
	group, name := u.change.of.group, named(u.change.of.group, version)
	for _, k := range m.between(u.from.Latest, u.to.Latest) {
		wrong, found := "", k.told().version(group, version)
		switch {
		case k.told() == nil || !k.ready() || u.facts.changing(group, k.from, k.last):
			continue
		case found == nil:
			// Each process has the time of the bound until it has to list it.
			if m.serving().Lasts(max(u.from.Latest, k.process().Started.Latest), k.until, fact.Yes) <= int64(bound) {
				continue
			}
			wrong = "does not list it"
		case found.Freshness != history.FreshnessStale:
			wrong = "calls it " + quoted(found.Freshness)
		case len(u.facts.library.resources(found)) > 0:
			wrong = "lists resources in it"
		default:
			continue
		}
		return &law.Entry{Ending: law.Broken, About: name, Member: m.name, Began: u.from, Evidence: law.Evidence(u.outage.seq, u.change.seq, k.seq),
			Why: fmt.Sprintf("%s never reached the server of %s, and %s", m.name, name, wrong)}
	}
	e, _ := (&owed{
		Entry: law.Entry{About: name, Member: m.name, Began: u.from}, member: m, bound: bound,
		over: u.to, why: "the server could be reached, or its APIService was changed, before it had to show",
		fits: func(k *look) bool {
			found := k.told().version(group, version)
			return found != nil && found.Freshness == history.FreshnessStale && len(u.facts.library.resources(found)) == 0
		},
		breach: func(took time.Duration, last string) string {
			return fmt.Sprintf("%s never reached the server of %s, and does not list it after %s%s", m.name, name, took, lately(last))
		},
		tags: func(*look) []string { return []string{"stale"} },
	}).end(u.facts.Over())
	return &e
}

// others looks for harm to what the member hosts itself; nil if there is none.
func (u *unreached) others(m *member) *law.Entry {
	for _, k := range m.between(u.from.Latest, u.to.Latest) {
		harmed := ""
		k.told().each(func(group string, v *history.ListedVersion) {
			if v.Freshness != history.FreshnessCurrent && !u.facts.remote(group, v.Version, k.at) && !m.isForeign(group, v.Version, k.from) && !u.facts.changing(group, k.from, k.last) {
				harmed = named(group, v.Version) + " " + quoted(v.Freshness)
			}
		})
		if harmed != "" && k.ready() {
			return &law.Entry{Ending: law.Broken, About: harmed, Member: m.name, Began: k.moment(), Evidence: law.Evidence(u.outage.seq, k.seq),
				Why: fmt.Sprintf("while the server of %s cannot be reached, %s calls %s, which it hosts itself", u.outage.group, m.name, harmed)}
		}
	}
	return nil
}
