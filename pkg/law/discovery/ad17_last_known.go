package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad17: after an outage of an aggregated server its last known resources stay listed,
// marked stale (KEP-3352: "stale data may be returned because the latest data was not able
// to be fetched"). A server that goes over to another misbehavior without an answer is lost all
// the time.
var ad17 = dutyLaw(law.Row{ID: "AD-17", Takes: []string{history.LackBackends}, Sources: readiness, Needs: each("kept")}, "marksWithin", (*member).able, func(f *Facts) (out []duty) {
	for _, s := range f.spells(func(o *outage, c *change) bool { return o.takesNothing() && c == c.of.latest(o.since) }) {
		known, met := s.lastCurrent(), f.metFirst(s.outage)
		if next := f.next(s.outage); known == nil || next != nil && next.dead < next.since && next.since < s.change.over() {
			continue
		}
		d := s.duty(fact.Exactly(max(met, s.dead), s.outage.seq), min(s.until, s.change.over()), "the server answered again, or the APIService was changed, before it had to show")
		if met == 0 {
			d.until, d.why = fact.Exactly(s.since, 0), "no request met the outage"
		}
		if e := known.by().Exited; e != nil && e.Latest < d.until.Latest {
			d.until, d.why = *e, "the process ended, and the next one has to learn it anew"
		}
		same := func(k *answer) bool {
			return k.listing.version(s.groupVersion).Inventory == known.listing.version(s.groupVersion).Inventory
		}
		d.since, d.shown, d.tags = "the server of "+s.String()+" was lost ("+s.action+")", append(d.shown, known.seq), always("kept")
		d.never = func(k *answer) string {
			switch {
			case k.listing.version(s.groupVersion) == nil:
				return "does not list it any more"
			case k.listing.stale(s.groupVersion) && !same(k):
				return "has lost what it knew of its resources"
			}
			return ""
		}
		d.wrong = func(k *answer) string {
			if !k.listing.stale(s.groupVersion) || !same(k) {
				return "does not mark it stale with its resources"
			}
			return ""
		}
		out = append(out, d)
	}
	return out
})

// lastCurrent is the last look before the outage that showed what the group-version has; nil
// if the member did not know it, or may have believed something else since.
func (s spell) lastCurrent() *answer {
	if slices.ContainsFunc(s.facts.updating(s.since, s.since), func(u *update) bool { return u.group == s.outage.group }) {
		return nil
	}
	for _, k := range slices.Backward(s.between(s.change.at, s.since-1)) {
		if k.told() == nil || k.by() == nil {
			continue
		}
		switch other := s.facts.misbehaves(s.outage.group, k.at); {
		case other != nil && other.takesNothing():
		case other != nil:
			return nil
		case k.listing.current(s.groupVersion):
			return k
		case k.listing.version(s.groupVersion) != nil:
			return nil // it is not back yet
		}
	}
	return nil
}
