package check

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad10: whatever unaggregated discovery says about a resource, the aggregated
// document says too (KEP-3352: it has all that clients get from the others).
// What an aggregated server says may be out of date where it is marked so.
type ad10 struct {
	findings
	own, remote tally
}

func (c *ad10) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil || !s.settled {
		return
	}
	answers := s.versionAnswers()
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		ev := answers[name]
		group, version, _ := versionOfPath(ev.Document.Path)
		told := versionIn(w.docs.listing(ev.Document), group, version)
		if ev.Document.Code != 200 || told == nil {
			continue
		}
		path := groupsPath
		if group == "" {
			path = corePath
		}
		document, ok := s.steady(path)
		if !ok {
			continue
		}
		aggregated := versionIn(w.docs.listing(document.Document), group, version)
		if w.isForeign(s.member, group, version, s.from) {
			continue
		}
		if aggregated == nil {
			w.unlessForeign(s.member, group, version, func() {
				c.infer(w, at(ev.Seq, document.Seq), "%s serves %s, but the aggregated document at %s does not have it", s.member, name, path)
			})
			continue
		}
		if w.docs.remote(group, version) && (aggregated.Freshness == history.FreshnessStale || w.docs.behind(group, s.from)) {
			continue
		}
		if lost := lostFrom(w.docs.inventories[aggregated.Inventory], w.docs.inventories[told.Inventory]); lost != "" {
			w.unlessForeign(s.member, group, version, func() {
				c.infer(w, at(ev.Seq, document.Seq), "%s tells of %s at %s otherwise than in the aggregated document: %s", s.member, name, ev.Document.Path, lost)
			})
			continue
		}
		if w.docs.remote(group, version) {
			c.remote.add(w, s.member)
		} else {
			c.own.add(w, s.member)
		}
	}
}

// lostFrom says what of the resources told is missing or another; empty if
// nothing is.
func lostFrom(aggregated, told []history.ListedResource) string {
	for _, resource := range told {
		i := slices.IndexFunc(aggregated, func(r history.ListedResource) bool { return r.Name == resource.Name })
		if i < 0 {
			return fmt.Sprintf("%s is missing there", resource.Name)
		}
		if got := aggregated[i]; !reflect.DeepEqual(got, resource) {
			return fmt.Sprintf("%s is %+v, and there %+v", resource.Name, resource, got)
		}
	}
	return ""
}

func (c *ad10) Finish(*World) {}

func (c *ad10) Observations() []Observation {
	return []Observation{
		{What: "group-versions of its own compared at the member with the fewest", Seen: c.own.least(), Need: needForms},
		{What: "group-versions of aggregated servers compared at the member with the fewest", Seen: c.remote.least(), Need: needSweeps},
	}
}
