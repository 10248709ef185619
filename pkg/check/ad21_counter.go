package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad21: the counter of aggregations exists, and grows with changes, not with
// reads (KEP-3352, monitoring). What servers do by themselves may move it a
// little; each read must not.
type ad21 struct {
	findings
	reads, changes tally
	last           perInstance[counted]
}

// counted is a counter at the end of a quiet look, with the document then.
type counted struct {
	count, seq int64
	document   string
}

func (c *ad21) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || s.in == nil || !s.settled || s.in != w.servers[s.member].current() {
		return
	}
	first, last := s.measured()
	if first == nil || last == nil {
		return
	}
	if first.Document.Aggregations == nil || last.Document.Aggregations == nil {
		c.infer(w, at(first.Seq, last.Seq), "%s has no counter of aggregations among its metrics", s.member)
		return
	}
	document, ok := s.steady(groupsPath)
	if !ok {
		return
	}
	var reads int64
	s.each(negotiated, func(ev *history.Event) {
		if f, ok := formOf(ev.Document); ok && f.aggregated() && ev.Document.Code == 200 {
			reads++
		}
	})
	before, after := *first.Document.Aggregations, *last.Document.Aggregations
	// What a foreign server does may be counted: each time that it comes or goes is a change.
	if foreign := w.foreignTrouble(s.from, s.to); 2*(after-before) > reads && foreign != nil {
		return
	} else if 2*(after-before) > reads {
		c.infer(w, at(first.Seq, last.Seq), "%s counted %d aggregations while it was asked %d times and nothing changed", s.member, after-before, reads)
	} else if reads >= needReads {
		c.reads.add(w, s.member)
	}
	known := c.last.of(s.in)
	if known.seq > 0 && known.document != document.Document.Content {
		if after <= known.count {
			c.infer(w, at(known.seq, last.Seq), "%s has another document than before and counted no aggregation", s.member)
		} else {
			c.changes.add(w, s.member)
		}
	}
	*known = counted{after, last.Seq, document.Document.Content}
}

// measured are the first and last readings of the counter that were answered.
func (s *sweep) measured() (first, last *history.Event) {
	for _, ev := range s.answers {
		if ev.Document.Path != history.MetricsPath || ev.Document.Code != 200 {
			continue
		}
		if first == nil {
			first = ev
			continue
		}
		last = ev
	}
	return first, last
}

func (c *ad21) Finish(*World) {}

func (c *ad21) Observations() []Observation {
	return []Observation{
		{What: "looks at the member with the fewest in which many read and nothing was counted for it", Seen: c.reads.least(), Need: needSweeps},
		{What: "changes that the counter of the member with the fewest grew with", Seen: c.changes.least(), Need: needShown},
	}
}
