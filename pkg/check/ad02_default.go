package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad02: who does not ask for the aggregated document gets the one that is not, and
// the endpoints of single group-versions stay (KEP-3352, "the default").
type ad02 struct {
	findings
	defaults, versions tally
}

func (c *ad02) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || s.in == nil {
		return
	}
	kinds := map[string]string{corePath: "APIVersions", groupsPath: "APIGroupList"}
	s.each(negotiated, func(ev *history.Event) {
		d := ev.Document
		options := optionsOf(d.Accept)
		if len(options) != 1 || options[0].aggregated() || !options[0].supported(nil) || busy(d) || w.docs.untold(d) {
			return
		}
		f, ok := formOf(d)
		listing := w.docs.listing(d)
		if d.Code != 200 || !ok || !options[0].fits(f) || listing == nil || listing.Kind != kinds[d.Path] {
			c.violate(at(ev.Seq), "%s was asked at %s without a word of aggregation (Accept: %q) and answered %d with the content type %q, not with the %s that it was always asked for so",
				ev.Member, d.Path, d.Accept, d.Code, d.ContentType, kinds[d.Path])
			return
		}
		c.defaults.add(w, ev.Member)
	})
	c.compareVersions(w, s)
}

// compareVersions looks for the endpoint of each group-version that the server
// hosts itself.
func (c *ad02) compareVersions(w *World, s *sweep) {
	answers := s.versionAnswers()
	for _, path := range []string{corePath, groupsPath} {
		document, ok := s.steady(path)
		if !ok || !s.settled {
			continue
		}
		listing := w.docs.listing(document.Document)
		if listing == nil {
			continue
		}
		for _, group := range listing.Groups {
			for _, version := range group.Versions {
				ev := answers[named(group.Name, version.Version)]
				switch {
				case w.docs.remote(group.Name, version.Version) || ev != nil && (busy(ev.Document) || w.docs.untold(ev.Document)):
				case ev == nil:
					c.infer(w, at(document.Seq), "%s lists %s, but not in the documents that are not aggregated, so that nobody finds its endpoint", s.member, named(group.Name, version.Version))
				case ev.Document.Code != 200 || versionIn(w.docs.listing(ev.Document), group.Name, version.Version) == nil:
					c.infer(w, at(document.Seq, ev.Seq), "%s lists %s, but %s does not tell of its resources: it answered %d", s.member, named(group.Name, version.Version), ev.Document.Path, ev.Document.Code)
				default:
					c.versions.add(w, s.member)
				}
			}
		}
	}
}

// versionAnswers are the answers of the endpoints of single group-versions.
func (s *sweep) versionAnswers() map[string]*history.Event {
	out := map[string]*history.Event{}
	for _, ev := range s.answers {
		if group, version, ok := versionOfPath(ev.Document.Path); ok {
			out[named(group, version)] = ev
		}
	}
	return out
}

func (c *ad02) Finish(*World) {}

func (c *ad02) Observations() []Observation {
	return []Observation{
		{"answers without a word of aggregation from the member with the fewest", c.defaults.least(), needForms},
		{"endpoints of group-versions at the member with the fewest", c.versions.least(), needForms},
	}
}
