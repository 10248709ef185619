package discovery

import (
	"fmt"
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
	Row: law.Row{ID: "AD-21", Sources: definitions, Needs: each("reads", "changes")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		last := map[*fact.Process]counted{}
		for _, s := range f.sweeps() {
			if !s.wasReady || !s.settled {
				continue
			}
			c := s.counted()
			if c.first == nil || c.last == nil {
				l.Excused(s.member.name, s.moment(), "the metrics were not read twice in a thorough look")
				continue
			}
			before, known := last[s.process]
			s.counter(l, c, b)
			if known && c.document != nil && c.last.counted {
				s.growth(l, before, c)
			}
			if c.document != nil && c.last.counted {
				last[s.process] = c
			}
		}
	},
}

// counted is the counter at the beginning and the end of a quiet look, with the document
// and the local view then.
type counted struct{ first, last, document, local *answer }

func (s *sweep) counted() counted {
	c := counted{document: s.steady(groupsPath), local: s.local}
	for i := range s.answers {
		if a := &s.answers[i]; a.path == history.MetricsPath && a.code == http.StatusOK {
			if c.first == nil {
				c.first = a
			} else {
				c.last = a
			}
		}
	}
	return c
}

// counter judges whether the counter grew with the reads of a look.
func (s *sweep) counter(l *law.Ledger, c counted, b law.Bounds) {
	e := law.Entry{Ending: law.Met, About: "reads", Member: s.member.name, Began: s.moment(), Evidence: law.Evidence(c.first.seq, c.last.seq)}
	reads := int64(0)
	for _, a := range s.documents() {
		if a.formed && a.form.aggregated() && a.code == http.StatusOK {
			reads++
		}
	}
	grown := c.last.count - c.first.count
	switch {
	case !c.first.counted || !c.last.counted:
		e.Ending, e.Why = law.Broken, fmt.Sprintf("%s has no counter of aggregations among its metrics", s.member.name)
	case c.document == nil:
		e.Ending, e.Why = law.Excused, "the document changed in the meantime"
	case grown > int64(float64(reads)*b.Number("countsReads")) && s.member.facts.trouble(s.from, s.to) != nil:
		// Each time that a foreign server comes or goes is a change.
		e.Ending, e.Why = law.Excused, "a foreign server was in trouble"
	case grown > int64(float64(reads)*b.Number("countsReads")):
		e.Ending, e.Why = law.Broken, fmt.Sprintf("%s counted %d aggregations while it was asked %d times and nothing changed", s.member.name, grown, reads)
	case reads >= int64(b.Number("readsAtLeast")):
		e.Tags = []string{"reads"}
	}
	l.Add(e)
}

// growth judges whether the counter grew with a change since the quiet look before.
func (s *sweep) growth(l *law.Ledger, before, now counted) {
	if before.document.content == now.document.content {
		return
	}
	e := law.Entry{Ending: law.Met, About: "changes", Member: s.member.name, Began: s.moment(), Tags: []string{"changes"}}
	switch {
	case now.last.count > before.last.count:
	case before.local != nil && now.local != nil && before.local.content == now.local.content:
		e.Ending, e.Tags, e.Why = law.Excused, nil, "only what peers host has changed"
	default:
		e.Ending, e.Evidence = law.Broken, law.Evidence(before.last.seq, now.last.seq)
		e.Why = fmt.Sprintf("%s has another document than before and counted no aggregation", s.member.name)
	}
	l.Add(e)
}
