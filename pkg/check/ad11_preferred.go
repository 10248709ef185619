package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad11: the first version of a group is the preferred one (KEP-3352: "with the
// first version being the preferred entry").
type ad11 struct {
	findings
	several tally
}

func (c *ad11) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || !s.settled {
		return
	}
	document, ok := s.steady(groupsPath)
	plain := s.plainGroups(w)
	if !ok || plain == nil {
		return
	}
	listing := w.docs.listing(document.Document)
	if listing == nil {
		return
	}
	preferred := map[string]string{}
	for _, group := range w.docs.listing(plain.Document).Groups {
		preferred[group.Name] = group.Preferred
	}
	for _, group := range listing.Groups {
		want, known := preferred[group.Name]
		switch {
		case len(group.Versions) < 2 || !known || w.groupHasForeign(s.member, group.Name, s.from):
		case group.Versions[0].Version != want:
			seen := s.from
			w.whenForeignTold(func() {
				if !w.groupHasForeign(s.member, group.Name, seen) {
					c.infer(w, at(plain.Seq, document.Seq), "%s prefers %s, but the aggregated document has %s first",
						s.member, named(group.Name, want), named(group.Name, group.Versions[0].Version))
				}
			})
		default:
			c.several.add(w, s.member)
		}
	}
}

// plainGroups is the last list of groups that is not aggregated; nil if there is
// none.
func (s *sweep) plainGroups(w *World) (found *history.Event) {
	for _, ev := range s.answers {
		if listing := w.docs.listing(ev.Document); ev.Document.Path == groupsPath && listing != nil && listing.Kind == "APIGroupList" {
			found = ev
		}
	}
	return found
}

func (c *ad11) Finish(*World) {}

func (c *ad11) Observations() []Observation {
	return []Observation{{What: "groups of several versions at the member with the fewest", Seen: c.several.least(), Need: needForms}}
}
