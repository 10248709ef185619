package check

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad20: the list has no resourceVersion, for servers have no common order of
// changes, and a group's metadata has only its name (KEP-3352, API).
type ad20 struct {
	findings
	documents  tally
	complained once
}

func (c *ad20) Observe(w *World, ev *history.Event) {
	d := ev.Document
	if d == nil || d.Code != 200 || d.Accept != askedJSON || d.IfNoneMatch != "" {
		return
	}
	listing := w.docs.listing(d)
	if listing == nil || listing.Kind != listKind {
		return
	}
	if slices.Contains(listing.Metadata, "resourceVersion") && c.complained.first("list"+ev.Member+d.Path) {
		c.infer(w, at(ev.Seq), "%s gives the list at %s a resourceVersion", ev.Member, d.Path)
	}
	for _, group := range listing.Groups {
		if len(group.Metadata) > 0 && c.complained.first("group"+ev.Member+d.Path) {
			c.infer(w, at(ev.Seq), "%s gives the group %q at %s metadata beside its name: %s", ev.Member, group.Name, d.Path, strings.Join(group.Metadata, ", "))
		}
	}
	c.documents.add(w, ev.Member)
}

func (c *ad20) Finish(*World) {}

func (c *ad20) Observations() []Observation {
	return []Observation{{What: "documents of the member with the fewest", Seen: c.documents.least(), Need: needForms}}
}
