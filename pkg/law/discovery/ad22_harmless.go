package discovery

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad22: a misbehaving aggregated server can neither crash the server nor touch other
// groups: each ready member gives its document, with all that it has to list.
var ad22 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-22", Takes: []string{history.LackBackends}, Sources: readiness, Needs: []law.Need{{Name: "kinds", Tag: "kind"}}},
	Parts: []law.Law[*Facts]{
		law.Each[*Facts, crash]{Row: law.Row{ID: "AD-22"}, Over: (*Facts).crashes, End: crash.ended},
		givesLaw("AD-22", func(f *Facts, at int64) bool {
			return slices.ContainsFunc(f.active(at, at), func(o *outage) bool { return o.bitten > 0 })
		}),
		law.Written[*Facts]{Row: law.Row{ID: "AD-22"}, Judge: judgeTrials},
	},
}

// crash is the end of an API server that ended by itself when a server may have misbehaved.
type crash struct {
	*fact.Process
	f   *Facts
	end fact.Moment
}

func (f *Facts) crashes() (out []crash) {
	for _, p := range f.AllProcesses() {
		if p.Component != history.ComponentAPIServer || p.Exited == nil || f.Blameless(p) == fact.Yes || f.Powerless(p.Member).During(*p.Exited) != fact.No {
			continue
		}
		if end := f.WhenEnded(p); len(f.active(end.Earliest, end.Latest)) > 0 {
			out = append(out, crash{p, f, end})
		}
	}
	return out
}

// ended is unclear where the harness may have ended it, and where the server may not have misbehaved
// for all of the time in which it may have ended.
func (c crash) ended(law.Bounds) law.Entry {
	e := law.Of(c.Member, c.end).By(c.Member)
	throughout := slices.ContainsFunc(c.f.active(c.end.Earliest, c.end.Latest), func(o *outage) bool { return o.since <= c.end.Earliest && c.end.Latest < o.until })
	if !throughout || c.f.Blameless(c.Process) == fact.Unknown {
		return e.Unclear("whether the API server of %s ended by itself while an aggregated server was misbehaving is not certain", c.Member)
	}
	return e.Broken("the API server of %s ended by itself (%s) while an aggregated server was misbehaving", c.Member, c.HowEnded()).Alone()
}

// judgeTrials judges each outage at each member. A kind of misbehavior counts when every
// member was seen to bear it, each time that it was asked during one.
func judgeTrials(f *Facts, l *law.Ledger, _ law.Bounds) {
	kinds, unproven := map[string]*outage{}, map[string]bool{}
	for _, o := range f.outages {
		bore := 0
		for _, m := range f.all() {
			e := m.bears(o)
			l.Add(e)
			if e.Ending == law.Met {
				bore++
			}
			unproven[o.action] = unproven[o.action] || e.Ending == law.Unclear
		}
		if bore == len(f.all()) {
			kinds[o.action] = o
		}
	}
	for _, action := range law.SortedKeys(kinds) {
		if !unproven[action] {
			l.Met(action, fact.Exactly(kinds[action].since, kinds[action].seq), "kind")
		}
	}
}

// bears judges an outage at the member by the looks beside it. Only those show that it was borne
// in which it certainly had an effect all the time.
func (m *member) bears(o *outage) law.Entry {
	beside := fmt.Sprintf("the server of %s is misbehaving (%s)", o.group, o.action)
	e := law.Of(fmt.Sprintf("%s of %s since event %d", o.action, o.group, o.seq), fact.Exactly(o.since, o.seq)).By(m.name)
	borne := false
	for _, c := range m.facts.comparisons() {
		if c.member != m || !slices.Contains(c.outages, o) {
			continue
		}
		// The first one that had an effect is blamed, also for what came before that was shown.
		first := slices.IndexFunc(c.outages, func(o *outage) bool { return o.bitten > 0 })
		if len(c.harms) > 0 && first >= 0 && c.outages[first] == o {
			return c.breach(c.harms[0], beside, o.seq)
		}
		certain := !slices.ContainsFunc(c.outages, func(o *outage) bool { return o.bitten == 0 || c.from < o.bitten || c.at >= o.until })
		borne = borne || certain && c.base != nil && c.told() != nil && len(c.harms) == 0
	}
	switch {
	case borne:
		return e.Met()
	case m.askedDuring(o):
		return e.Unclear("%s gave no document that shows that the server of %s did no harm when it was misbehaving (%s)", m.name, o.group, o.action)
	}
	return e.Excused("the member was not asked for the document during the misbehavior")
}

// askedDuring is whether the member was asked for the document while the outage had an
// effect and nothing else was in the way. That it is not ready may be the harm that was done. An answer that was on its way at the end says
// nothing of it unless it took more than half of that time: a member that gives the
// document only when it is over did not bear it.
func (m *member) askedDuring(o *outage) bool {
	if o.bitten == 0 {
		return false
	}
	free := fact.And(m.serves(), m.aggregates(), m.facts.unhindered(m.name))
	for i, k := range m.looks {
		end := k.at
		if k.lasting() {
			end = m.facts.Now
			if i+1 < len(m.looks) {
				end = m.looks[i+1].from
			}
		}
		from, until := max(k.from, o.bitten), min(end, o.until)
		if from > until || k.from >= o.until || free.Lasts(from, until+1, fact.Yes) == 0 {
			continue
		}
		if k.busy() || k.at < o.until || 2*(o.until-from) > o.until-o.bitten {
			return true
		}
	}
	return false
}
