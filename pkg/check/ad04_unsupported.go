package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad04: who asks for a version that is not served gets the only form that it names
// beside and that is, and with none 406 with a Status (KEP-3352, version skew).
type ad04 struct {
	findings
	fallbacks, refusals pathTally
}

func (c *ad04) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || s.in == nil {
		return
	}
	offered := s.offered()
	s.each(negotiated, func(ev *history.Event) {
		d := ev.Document
		supported := supportedIn(d.Accept, offered)
		if len(optionsOf(d.Accept)) == len(supported) || len(supported) > 1 || busy(d) {
			return
		}
		f, ok := formOf(d)
		switch {
		case len(supported) == 0 && (d.Code != 406 || d.Status == ""):
			c.infer(w, at(ev.Seq), "%s was asked at %s for nothing that it has (Accept: %q), and was to answer 406 with a Status, but answered %d with the content type %q",
				ev.Member, d.Path, d.Accept, d.Code, d.ContentType)
		case len(supported) == 0:
			c.refusals.add(w, ev)
		case d.Code != 200 || !ok || !supported[0].fits(f):
			c.infer(w, at(ev.Seq), "%s was asked at %s for one thing that it has, %s, and others that it has not (Accept: %q), but answered %d with the content type %q",
				ev.Member, d.Path, supported[0], d.Accept, d.Code, d.ContentType)
		default:
			c.fallbacks.add(w, ev)
		}
	})
}

func (c *ad04) Finish(*World) {}

func (c *ad04) Observations() []Observation {
	return []Observation{
		{What: "answers in the form that was left, from the member with the fewest", Seen: c.fallbacks.least(), Need: needForms},
		{What: "refusals of what is not served, by the member with the fewest", Seen: c.refusals.least(), Need: needForms},
	}
}
