package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad08: a matching If-None-Match gives 304 without a body, any other the document
// (KEP-3352, caching).
type ad08 struct {
	findings
	unchanged, full pathTally
}

func (c *ad08) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || !s.settled {
		return
	}
	s.each(conditional, func(ev *history.Event) {
		d := ev.Document
		first, ok := s.steady(d.Path)
		if !ok || !singleTag(d.IfNoneMatch) || busy(d) {
			return
		}
		tag := first.Document.ETag
		switch {
		case tag == "":
		case d.Code == 200 && w.differsByForeign(s.member, first.Document.Content, d.Content, s.from):
			// The document was another one for a moment.
		case d.Code == 304 && w.differsByForeign(s.member, first.Document.Content, w.docs.hadTag(s.member, d.Path, d.IfNoneMatch), s.from):
			// It was the one that had this tag before.
		case d.IfNoneMatch == tag && (d.Code != 304 || d.Size > 0):
			c.infer(w, at(first.Seq, ev.Seq), "%s was told at %s that the client has %s, which is the document's tag, and answered %d with %d bytes", s.member, d.Path, tag, d.Code, d.Size)
		case d.IfNoneMatch == tag:
			c.unchanged.add(w, ev)
		case d.Code != 200 || d.Digest != first.Document.Digest:
			c.infer(w, at(first.Seq, ev.Seq), "%s was told at %s that the client has %s, which is not the document's tag, and answered %d with %d bytes in the place of the document", s.member, d.Path, d.IfNoneMatch, d.Code, d.Size)
		default:
			c.full.add(w, ev)
		}
	})
}

// conditional are the conditional requests for the two documents.
func conditional(d *history.Document) bool {
	return (d.Path == corePath || d.Path == groupsPath) && d.IfNoneMatch != "" && d.Accept == askedJSON
}

// singleTag is whether a condition is one strong tag.
func singleTag(condition string) bool {
	return strings.HasPrefix(condition, `"`) && strings.HasSuffix(condition, `"`) && strings.Count(condition, `"`) == 2
}

func (c *ad08) Finish(*World) {}

func (c *ad08) Observations() []Observation {
	return []Observation{
		{What: "matching conditions at the member with the fewest", Seen: c.unchanged.least(), Need: needForms},
		{What: "conditions that do not match at the member with the fewest", Seen: c.full.least(), Need: needForms},
	}
}
