package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad06: all encodings hold the same document under one tag (KEP-3352 calculates
// the tag from the data, not from its bytes).
type ad06 struct {
	findings
	compared map[string]*pathTally
}

func newAD06() *ad06 {
	c := &ad06{compared: map[string]*pathTally{}}
	for _, encoding := range encodings[1:] {
		c.compared[encoding] = &pathTally{}
	}
	return c
}

func (c *ad06) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || !s.settled {
		return
	}
	s.each(negotiated, func(ev *history.Event) {
		d := ev.Document
		options := optionsOf(d.Accept)
		first, ok := s.steady(d.Path)
		if !ok || d.Code != 200 || len(options) != 1 || options[0].version != currentVersion || d.Content == "" {
			return
		}
		compared := c.compared[options[0].mediaType]
		switch {
		case compared == nil, w.differsByForeign(s.member, first.Document.Content, d.Content, s.from):
		case d.ETag != first.Document.ETag:
			c.infer(w, at(first.Seq, ev.Seq), "%s has the tag %s for %s in JSON and %s in %s", s.member, first.Document.ETag, d.Path, d.ETag, options[0].mediaType)
		case d.Content != first.Document.Content:
			c.infer(w, at(first.Seq, ev.Seq), "%s tells something else at %s in %s than in JSON", s.member, d.Path, options[0].mediaType)
		default:
			compared.add(w, ev)
		}
	})
}

func (c *ad06) Finish(*World) {}

func (c *ad06) Observations() (out []Observation) {
	for _, encoding := range encodings[1:] {
		out = append(out, Observation{What: "documents in " + encoding + " compared with JSON at the member with the fewest", Seen: c.compared[encoding].least(), Need: needForms})
	}
	return out
}
