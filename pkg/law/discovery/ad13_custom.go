package discovery

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad13: a custom resource that is created, changed or deleted shows on every server within
// a bound, and leaves no ghost (KEP-3352, risks: "caching"). Groups that aggregated servers
// have a part in are AD-19's.
var ad13 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-13", Takes: law.AnyRun, Sources: readiness, Needs: each("created", "changed", "deleted")},
	Parts: []law.Law[*Facts]{
		customShows,
		law.Each[*Facts, removedService]{Row: law.Row{ID: "AD-13"}, Over: (*Facts).removedServices, End: removedService.ended},
	},
}

var customShows = showLaw(law.Row{ID: "AD-13"},
	func(d *definition) bool { return !d.remote && !d.of.shared(d.group) },
	func(k *answer, c *change) string { return c.lacks(k, k.at) },
	func(m *member, c *change, done fact.Moment) []string {
		switch {
		case !c.seenBy(m, done.Latest):
			return nil
		case len(c.versions) == 0:
			return []string{"deleted"}
		case len(c.before) == 0:
			return []string{"created"}
		}
		return []string{"changed"}
	})

// seenBy is whether documents of a member have shown by an instant that there was a change: one
// shows it, and the last one that was asked for before did not. A later change is enough for the promise, and tests
// little: a document that never changed shows a custom resource again that went and came back.
func (c *change) seenBy(m *member, at int64) bool {
	otherwise := c.index == 0
	for _, k := range m.looks {
		if k.told() == nil || k.at > at {
			continue
		}
		shows := c.lacks(k, k.at) == ""
		if shows && otherwise && k.at >= c.from {
			return true
		}
		if k.from <= c.at {
			otherwise = !shows
		}
	}
	return false
}

// showLaw is a law by which members show each change of what the harness has defined, or a
// later one, and do not go back behind it. A change whose outcome is not known owes nothing,
// nor one of what waits to be removed; one of what was never there changes nothing.
func showLaw(row law.Row, of func(*definition) bool, wrong func(*answer, *change) string, tags func(*member, *change, fact.Moment) []string) law.Law[*Facts] {
	return dutyLaw(row, "showsWithin", (*member).able, func(f *Facts) (out []duty) {
		for _, d := range fact.Where(f.definitions, of) {
			for _, c := range fact.Where(d.changes, func(c *change) bool { return c.known && len(c.ever) > 0 && !(len(c.versions) > 0 && d.removing(c.at)) }) {
				until := endless
				if next := c.overtaken(); next != nil {
					until = fact.Exactly(next.from, 0)
				}
				for _, m := range f.all() {
					out = append(out, duty{
						member: m, about: d.String(), since: "a change of " + d.String(), began: c.moment(), shown: []int64{c.seq}, until: until,
						wrong: func(k *answer) string { return c.wrongOrLater(k, wrong) },
						tags:  func(done fact.Moment) []string { return tags(m, c, done) },
					})
				}
			}
		}
		return out
	})
}

// wrongOrLater says how a document shows neither the change nor any that may have been made
// since, in words of the last one; empty if it shows one.
func (c *change) wrongOrLater(k *answer, of func(*answer, *change) string) (wrong string) {
	wrong = of(k, c)
	for later := c.next(); wrong != "" && later != nil; later = later.next() {
		if later.from <= k.at {
			wrong = of(k, later)
		}
	}
	return wrong
}
