package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad09: lists of tags, the asterisk and weak tags are understood (RFC 9110, 13.1.2).
type ad09 struct {
	findings
	weak, lists, asterisks pathTally
}

func (c *ad09) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || !s.settled {
		return
	}
	s.each(conditional, func(ev *history.Event) {
		d := ev.Document
		first, ok := s.steady(d.Path)
		if !ok || busy(d) || first.Document.ETag == "" {
			return
		}
		if d.IfNoneMatch != "*" && d.Code == 200 && w.differsByForeign(s.member, first.Document.Content, d.Content, s.from) {
			return // the document was another one for a moment
		}
		var count *pathTally
		switch {
		case d.IfNoneMatch == "*":
			count = &c.asterisks
		case d.IfNoneMatch == "W/"+first.Document.ETag:
			count = &c.weak
		case strings.Contains(d.IfNoneMatch, ",") && strings.Contains(d.IfNoneMatch, first.Document.ETag):
			count = &c.lists
		default:
			return
		}
		if d.Code != 304 {
			c.infer(w, at(first.Seq, ev.Seq), "%s was asked at %s with If-None-Match: %s, which the tag %s matches, and answered %d", s.member, d.Path, d.IfNoneMatch, first.Document.ETag, d.Code)
			return
		}
		count.add(w, ev)
	})
}

func (c *ad09) Finish(*World) {}

func (c *ad09) Observations() []Observation {
	return []Observation{
		{What: "weak tags at the member with the fewest", Seen: c.weak.least(), Need: needForms},
		{What: "lists of tags at the member with the fewest", Seen: c.lists.least(), Need: needForms},
		{What: "asterisks at the member with the fewest", Seen: c.asterisks.least(), Need: needForms},
	}
}
