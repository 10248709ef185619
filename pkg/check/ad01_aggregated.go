package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad01: /api and /apis give the aggregated document to whoever asks for it by
// group, version and kind, in every encoding (KEP-3352, API).
type ad01 struct {
	findings
	byEncoding map[string]*pathTally
}

func newAD01() *ad01 {
	c := &ad01{byEncoding: map[string]*pathTally{}}
	for _, encoding := range encodings {
		c.byEncoding[encoding] = &pathTally{}
	}
	return c
}

func (c *ad01) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || s.in == nil {
		return
	}
	s.each(negotiated, func(ev *history.Event) {
		d := ev.Document
		options := optionsOf(d.Accept)
		if len(options) != 1 || options[0].version != currentVersion || c.byEncoding[options[0].mediaType] == nil || busy(d) || w.docs.untold(d) {
			return
		}
		if wrong := notAggregated(w.docs.listing(d), d, options[0]); wrong != "" {
			c.violate(at(ev.Seq), "%s was asked at %s for %s and %s", ev.Member, d.Path, options[0], wrong)
			return
		}
		c.byEncoding[options[0].mediaType].add(w, ev)
	})
}

// busy is whether an answer says no more than that the server cannot answer now.
func busy(d *history.Document) bool { return d.Code == 0 || d.Code == 429 || d.Code == 503 }

// notAggregated says in words what keeps an answer from being the aggregated
// document in a form; empty if nothing does.
func notAggregated(listing *history.Listing, d *history.Document, wanted option) string {
	f, ok := formOf(d)
	switch {
	case d.Code != 200:
		return fmt.Sprintf("answered %d", d.Code)
	case !ok || !wanted.fits(f):
		return fmt.Sprintf("answered with the content type %q", d.ContentType)
	case d.Unreadable != "":
		return "answered with a body that cannot be read: " + d.Unreadable
	case listing == nil:
		return "answered with no document"
	case listing.Kind != listKind || listing.APIVersion != discoveryGroup+"/"+wanted.version:
		return fmt.Sprintf("answered with a %s of %q", listing.Kind, listing.APIVersion)
	case len(listing.Groups) == 0:
		return "answered with a document without groups"
	}
	return ""
}

func (c *ad01) Finish(*World) {}

func (c *ad01) Observations() (out []Observation) {
	for _, encoding := range encodings {
		out = append(out, Observation{What: "aggregated documents in " + encoding + " from the member with the fewest", Seen: c.byEncoding[encoding].least(), Need: needForms})
	}
	return out
}
