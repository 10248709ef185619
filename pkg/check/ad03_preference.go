package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad03: of several forms that are supported, the client's first is given
// (KEP-3352: "the server will return the first option that is supported";
// weights come before the order, as RFC 9110 has it).
type ad03 struct {
	findings
	versions, plain pathTally
}

func (c *ad03) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || s.in == nil {
		return
	}
	offered := s.offered()
	s.each(negotiated, func(ev *history.Event) {
		d := ev.Document
		supported := supportedIn(d.Accept, offered)
		if len(supported) < 2 || busy(d) {
			return
		}
		first := supported[0]
		f, ok := formOf(d)
		if d.Code != 200 || !ok || !first.fits(f) {
			c.infer(w, at(ev.Seq), "%s was asked at %s for any of %d forms that it has, and was to give the first, %s, but answered %d with the content type %q (Accept: %q)",
				ev.Member, d.Path, len(supported), first, d.Code, d.ContentType, d.Accept)
			return
		}
		if first.aggregated() {
			c.versions.add(w, ev)
		} else {
			c.plain.add(w, ev)
		}
	})
}

// supportedIn are the options of an Accept header that can be served, the dearest
// first.
func supportedIn(accept string, offered []string) (out []option) {
	for _, o := range optionsOf(accept) {
		if o.supported(offered) {
			out = append(out, o)
		}
	}
	return out
}

func (c *ad03) Finish(*World) {}

func (c *ad03) Observations() []Observation {
	return []Observation{
		{What: "choices of an aggregated form at the member with the fewest", Seen: c.versions.least(), Need: needForms},
		{What: "choices of the form that is not aggregated at the member with the fewest", Seen: c.plain.least(), Need: needForms},
	}
}
