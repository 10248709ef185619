package discovery

import (
	"fmt"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad14: the group-versions of an aggregated server that could never be reached are
// "published with an empty resource list and a Stale for Freshness" (KEP-3352), without
// harm to others.
var ad14 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-14", Sources: readiness, Needs: each("stale")},
	Parts: []law.Law[*Facts]{
		law.Deadline[*Facts, unreached]{
			Row: law.Row{ID: "AD-14"}, Bound: "showsWithin", Over: (*Facts).unreached,
			Begin:   law.Once(func(u unreached) fact.Moment { return u.begins }),
			Running: func(u unreached) fact.Signal { return u.member.able() },
			Looks: func(u unreached) []law.Look {
				return u.member.shown(u.begins.Latest, func(k *answer) bool { return u.wrong(k) == "" })
			},
			Void: func(u unreached) []law.Void {
				return law.Voids("the server could be reached, or its APIService was changed, before it had to show", u.ends)
			},
			Lacking: func(u unreached) string {
				wrong := "gave no document"
				for _, k := range u.member.between(u.begins.Latest, u.ends.Latest) {
					if k.told() != nil {
						wrong = u.wrong(k)
					}
				}
				return fmt.Sprintf("%s never reached the server of %s, and %s", u.member.name, u.groupVersion, wrong)
			},
			Breaks: unreached.breaks,
			Tag:    func(unreached, fact.Moment, fact.Moment) []string { return []string{"stale"} },
		},
		law.Each[*Facts, unreached]{Row: law.Row{ID: "AD-14"}, Over: (*Facts).unreached, End: unreached.others},
	},
}

// unreached is a group-version at a member while its server cannot be reached, and could not
// since there was an APIService.
type unreached struct {
	groupVersion
	member       *member
	change       *change
	outage       *outage
	begins, ends fact.Moment
}

// Entry is the obligation.
func (u unreached) Entry() law.Entry {
	return law.Of(u.groupVersion.String(), u.begins).By(u.member.name)
}

func (f *Facts) unreached() (out []unreached) {
	for _, o := range fact.Where(f.outages, func(o *outage) bool { return o.takesNothing() && o.bitten > 0 }) {
		for _, d := range fact.Where(f.definitionsOf(o.group), func(d *definition) bool { return d.remote }) {
			for _, c := range fact.Where(d.changes, func(c *change) bool { return c.known && o.dead <= c.begun }) {
				begins, ends := fact.Exactly(max(c.at, o.bitten), c.seq), fact.Exactly(min(o.until, c.over()), 0)
				for _, version := range c.versions {
					for _, m := range f.all() {
						if begins.Latest < ends.Latest {
							out = append(out, unreached{groupVersion{o.group, version}, m, c, o, begins, ends})
						}
					}
				}
			}
		}
	}
	return out
}

func (u unreached) wrong(k *answer) string {
	found := k.told().version(u.groupVersion)
	switch {
	case found == nil:
		return "does not list it"
	case found.Freshness != history.FreshnessStale:
		return "calls it " + strconv.Quote(found.Freshness)
	case len(k.listing.resources(u.groupVersion)) > 0:
		return "lists resources in it"
	}
	return ""
}

// breaks looks for a document that lists it otherwise. Each process has the time of the
// bound until it has to list it.
func (u unreached) breaks() (string, []int64) {
	for _, k := range u.member.between(u.begins.Latest, u.ends.Latest) {
		p := k.by()
		if k.told() == nil || p == nil || u.member.facts.changing(u.group, k.from, k.at) {
			continue
		}
		due := u.member.able().Lasts(max(u.begins.Latest, p.Started.Latest), k.from, fact.Yes) > int64(showsWithin())
		if wrong := u.wrong(k); wrong != "" && (due || k.listing.version(u.groupVersion) != nil) {
			return fmt.Sprintf("%s never reached the server of %s, and %s", u.member.name, u.groupVersion, wrong), []int64{u.outage.seq, u.change.seq, k.seq}
		}
	}
	return "", nil
}

// others looks for harm to what the member hosts itself; it is owed nothing where there is
// none.
func (u unreached) others(law.Bounds) law.Entry {
	f, m := u.member.facts, u.member
	for _, k := range m.between(u.begins.Latest, u.ends.Latest) {
		if k.told() == nil || k.by() == nil {
			continue
		}
		for _, of := range k.listing.names {
			if v := k.listing.versions[of]; v.Freshness != history.FreshnessCurrent && !f.remote(of, k.at) && !m.isForeign(of, k.from) && !f.changing(of.group, k.from, k.at) {
				return k.entry(of.String()).Broken("while the server of %s cannot be reached, %s calls %s %q, which it hosts itself", u.outage.group, m.name, of, v.Freshness).Shown(u.outage.seq, k.seq)
			}
		}
	}
	return law.Entry{}
}
