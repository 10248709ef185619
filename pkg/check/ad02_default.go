package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad02: who does not ask for the aggregated document gets the one that is not, and
// the endpoints of single group-versions stay (KEP-3352, "the default").
type ad02 struct {
	findings
	defaults pathTally
	versions tally
	// silent are the group-versions whose endpoints gave no answer when a member was looked
	// at last, by member and path of the document that lists them.
	silent map[[2]string][]string
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
		c.defaults.add(w, ev)
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
		var silent []string
		for _, group := range listing.Groups {
			for _, version := range group.Versions {
				name := named(group.Name, version.Version)
				ev := answers[name]
				listed, told := s.listsPlainly(w, group.Name, version.Version)
				switch {
				case w.isForeign(s.member, group.Name, version.Version, s.from):
				case w.docs.remote(group.Name, version.Version) || ev != nil && w.docs.untold(ev.Document):
				case ev != nil && busy(ev.Document) || ev == nil && (listed || !told):
					// It need not answer for a server that is dead, whoever's that is.
					if version.Freshness == history.FreshnessCurrent {
						silent = append(silent, name)
					}
				case ev == nil:
					w.unlessForeign(s.member, group.Name, version.Version, func() {
						c.infer(w, at(document.Seq), "%s lists %s, but not in the documents that are not aggregated, so that nobody finds its endpoint", s.member, name)
					})
				case ev.Document.Code != 200 || versionIn(w.docs.listing(ev.Document), group.Name, version.Version) == nil:
					w.unlessForeign(s.member, group.Name, version.Version, func() {
						c.infer(w, at(document.Seq, ev.Seq), "%s lists %s, but %s does not tell of its resources: it answered %d", s.member, name, ev.Document.Path, ev.Document.Code)
					})
				default:
					c.versions.add(w, s.member)
				}
			}
		}
		if c.silent == nil {
			c.silent = map[[2]string][]string{}
		}
		c.silent[[2]string{s.member, path}] = silent
	}
}

// doubts are endpoints of which nobody knows whether they stayed.
func (c *ad02) doubts() (out []string) {
	for key, names := range c.silent {
		if len(names) > 0 {
			out = append(out, fmt.Sprintf("%s was not seen to have an endpoint for %s when it was looked at last", key[0], strings.Join(names, ", ")))
		}
	}
	slices.Sort(out)
	return out
}

// listsPlainly is whether the documents that are not aggregated have a group-version, and
// whether any of them was given.
func (s *sweep) listsPlainly(w *World, group, version string) (listed, told bool) {
	path, kind := groupsPath, "APIGroupList"
	if group == "" {
		path, kind = corePath, "APIVersions"
	}
	for _, ev := range s.answers {
		if listing := w.docs.listing(ev.Document); ev.Document.Path == path && listing != nil && listing.Kind == kind {
			listed, told = listed || versionIn(listing, group, version) != nil, true
		}
	}
	return listed, told
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
		{What: "answers without a word of aggregation from the member with the fewest", Seen: c.defaults.least(), Need: needForms},
		{What: "endpoints of group-versions at the member with the fewest", Seen: c.versions.least(), Need: needForms},
	}
}
