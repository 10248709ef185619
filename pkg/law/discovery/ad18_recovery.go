package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad18: when an aggregated server answers, its group-version is current within a bound: from its
// registration on, and again when it is back (KEP-3352: aggregated servers are contacted "on a set
// interval"). The server is not back where it goes over to another misbehavior.
var ad18 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-18", Takes: []string{history.LackBackends}, Sources: readiness, Needs: each("back")},
	Parts: []law.Law[*Facts]{
		dutyLaw(law.Row{ID: "AD-18"}, "recoversWithin", (*member).able, (*Facts).recoveries),
		dutyLaw(law.Row{ID: "AD-18"}, "recoversWithin", (*member).asks, (*Facts).firstFetches),
	},
}

func (f *Facts) recoveries() (out []duty) {
	for _, s := range f.spells(func(o *outage, c *change) bool { return o.until < fact.Forever && c == c.of.latest(o.until) }) {
		over := s.change.over()
		if next := f.next(s.outage); next != nil && s.turns(next) {
			continue
		} else if next != nil {
			over = min(over, next.since)
		}
		out = append(out, s.recoveries(over)...)
	}
	return out
}

// recoveries are what the processes of the member owe since the server answered again: each asks it
// by itself. The first one that has shown it stands for those that follow, which have to show it
// as well.
func (s spell) recoveries(over int64) (out []duty) {
	for _, p := range s.facts.Processes(s.member.name, history.ComponentAPIServer) {
		if p.Exited != nil && p.Exited.Latest <= s.until || p.Started.Earliest >= over {
			continue
		}
		d := s.duty(fact.Exactly(s.until, s.facts.Evidence(s.until)), over, "the server misbehaved again, or the APIService was changed")
		if p.Started.Latest > s.until {
			d.began = p.Started
		}
		d.since, d.wrong, d.tags = "the server of "+s.String()+" answered again", s.notBack, s.back
		ended := p.Exited != nil && p.Exited.Latest < over
		if ended && !slices.ContainsFunc(d.between(d.began.Latest, p.Exited.Earliest), d.shows) {
			d.until, d.why = *p.Exited, "the process ended, and the next one has to ask anew"
			out = append(out, d)
			continue
		}
		return append(out, d)
	}
	return out
}

func (s spell) notBack(k *answer) string {
	if k.from < s.until || !k.listing.current(s.groupVersion) {
		return "does not call it current"
	}
	return ""
}

// back are the tags of a recovery of what the member had listed as stale.
func (s spell) back(fact.Moment) []string {
	return tagsOf(slices.ContainsFunc(s.between(s.since, s.until), func(k *answer) bool { return k.told().stale(s.groupVersion) }), "back")
}
