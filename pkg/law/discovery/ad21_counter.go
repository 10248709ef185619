package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad21: the counter of aggregations exists, and grows with changes, not with reads
// (KEP-3352, monitoring). What servers do by themselves may move it a little; each read
// must not. What peers host is no part of the document that the counter is about: published
// API servers count the unions with it elsewhere (KEP-4020), so that a union which changed
// while the local view did not may be counted or not.
var ad21 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-21", Takes: law.AnyRun, Sources: definitions, Needs: each("reads", "changes")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		last := map[*fact.Process]*counted{}
		for _, s := range fact.Where(f.quiet(), func(s *sweep) bool { return !withoutAggregation(s.by) }) {
			c := s.counted()
			if c == nil {
				l.Excused(s.member.name, s.moment(), "the metrics were not read twice in a thorough look")
				continue
			}
			l.Add(c.reads(b))
			if c.document != nil && c.last.Aggregations != nil {
				l.Add(c.grew(last[s.by]))
				last[s.by] = c
			}
		}
	},
}

// counted is a quiet look with the counter at its beginning and its end, and the document.
type counted struct {
	*sweep
	first, last, document *answer
}

func (s *sweep) counted() *counted {
	all := fact.Where(s.answers, func(a *answer) bool { return a.Path == history.MetricsPath && a.Code == http.StatusOK })
	if len(all) < 2 {
		return nil
	}
	return &counted{s, all[0], all[len(all)-1], s.steady(groupsPath)}
}

// reads judges whether the counter grew with the reads of a look.
func (c *counted) reads(b law.Bounds) law.Entry {
	e := law.Of("reads", c.moment()).By(c.member.name)
	if c.first.Aggregations == nil || c.last.Aggregations == nil {
		return e.Broken("%s has no counter of aggregations among its metrics", c.member.name).Shown(c.first.seq, c.last.seq)
	}
	if c.document == nil {
		return e.Excused("the document changed in the meantime")
	}
	reads := len(fact.Where(c.answers, func(a *answer) bool {
		return a.unconditional() && a.formed && a.form.aggregated() && a.Code == http.StatusOK
	}))
	grown := *c.last.Aggregations - *c.first.Aggregations
	switch tooMany := grown > 0 && float64(grown) >= float64(reads)*b.Number("countsReads"); {
	case tooMany && c.member.facts.trouble(c.from, c.to) != nil:
		return e.Excused("a foreign server came or went, which is a change each time")
	case tooMany:
		return e.Broken("%s counted %d aggregations while it was asked %d times and nothing changed", c.member.name, grown, reads).Shown(c.first.seq, c.last.seq)
	case reads >= int(b.Number("readsAtLeast")):
		return e.Met("reads")
	}
	return e.Met()
}

// grew judges whether the counter grew with a change since the quiet look before.
func (c *counted) grew(before *counted) law.Entry {
	if before == nil || before.document.Content == c.document.Content {
		return law.Entry{}
	}
	e := law.Of("changes", c.moment()).By(c.member.name)
	switch {
	case *c.last.Aggregations > *before.last.Aggregations:
		return e.Met("changes")
	case before.local != nil && c.local != nil && before.local.Content == c.local.Content:
		return e.Excused("only what peers host has changed")
	}
	return e.Broken("%s has another document than before and counted no aggregation", c.member.name).Shown(before.last.seq, c.last.seq)
}
