package discovery

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// asks is while nothing keeps the member from fetching from aggregated servers.
func (m *member) asks() fact.Signal { return fact.And(m.able(), m.alone()) }

// firstFetches are what processes owe since they know of an APIService whose server answers: to
// call it current once. What is stale for good, because of the way in which the server answers,
// keeps every namespace from being deleted (kubernetes/kubernetes#119662). That it stays current
// while nothing happens to it is AD-25's.
func (f *Facts) firstFetches() (out []duty) {
	for _, d := range fact.Where(f.definitions, func(d *definition) bool { return d.remote }) {
		for _, c := range fact.Where(d.changes, func(c *change) bool { return c.known }) {
			for _, version := range c.versions {
				for _, m := range f.all() {
					for _, p := range f.Processes(m.name, history.ComponentAPIServer) {
						one := c.firstFetch(m, p, groupVersion{d.group, version})
						if one.began.Latest < one.until.Earliest && !withoutAggregation(p) {
							out = append(out, one)
						}
					}
				}
			}
		}
	}
	return out
}

// firstFetch is that of one process. It is over before it begins where the server misbehaves then:
// when it is back the process owes a recovery.
func (c *change) firstFetch(m *member, p *fact.Process, of groupVersion) duty {
	d := duty{
		member: m, about: fmt.Sprintf("%s since event %d", of, c.seq), since: "it had the server of " + of.String() + " to ask",
		began: c.moment(), shown: []int64{c.seq}, until: fact.Exactly(c.over(), 0), why: "the APIService was changed",
		tags: func(fact.Moment) []string { return nil },
	}
	if p.Started.Latest > d.began.Latest {
		d.began = p.Started
	}
	if p.Exited != nil && p.Exited.Earliest < d.until.Earliest {
		d.until, d.why = *p.Exited, "the process ended, and the next one has to ask anew"
	}
	for _, o := range m.facts.active(d.began.Earliest, d.until.Earliest) {
		if o.group == of.group && o.since < d.until.Earliest {
			d.until, d.why = fact.Exactly(o.since, o.seq), "the server misbehaved"
		}
	}
	current := int64(fact.Forever) // the first look that shows it
	for _, k := range m.between(d.began.Latest, d.until.Earliest) {
		if k.told().current(of) {
			current = k.seq
			break
		}
	}
	d.wrong = func(k *answer) string {
		if k.seq >= current {
			return ""
		}
		return "does not call it current"
	}
	return d
}
