package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad18: when the aggregated server is back its group-version is current again within a
// bound (KEP-3352: aggregated servers are contacted "on a set interval"). The server is not
// back where it goes over to another misbehavior.
var ad18 = dutyLaw(law.Row{ID: "AD-18", Takes: []string{history.LackBackends}, Sources: readiness, Needs: each("back")}, "recoversWithin", (*member).able, func(f *Facts) (out []duty) {
	for _, s := range f.spells(func(o *outage, c *change) bool { return o.until < fact.Forever && c == c.of.latest(o.until) }) {
		over := s.change.over()
		if next := f.next(s.outage); next != nil && s.turns(next) {
			continue
		} else if next != nil {
			over = min(over, next.since)
		}
		d := s.duty(fact.Exactly(s.until, f.Evidence(s.until)), over, "the server misbehaved again, or the APIService was changed")
		d.since = "the server of " + s.String() + " answered again"
		d.wrong = func(k *answer) string {
			if k.from < s.until || !k.listing.current(s.groupVersion) {
				return "does not call it current"
			}
			return ""
		}
		d.tags = func(fact.Moment) []string {
			if slices.ContainsFunc(s.between(s.since, s.until), func(k *answer) bool { return k.told().stale(s.groupVersion) }) {
				return []string{"back"}
			}
			return nil
		}
		out = append(out, d)
	}
	return out
})
