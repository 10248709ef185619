package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	foreignGroup = "weather.example.com"
	// troubledPolls is how often every member is looked at while the foreign server fails.
	troubledPolls = 20
)

// foreignStory is a run in which a user of the cluster creates an APIService whose server
// flaps, beside an aggregated server of the harness and a custom resource.
func foreignStory() []history.Event {
	h := &builder{
		ControlPlane: story.NewControlPlane(), sweeps: map[string]int64{}, ids: map[string]int{},
		own: []hostedVersion{
			{group: "coordination.k8s.io", version: "v1", resource: "leases"},
			{group: story.BallastGroup, version: "v1", resource: "ballasts"},
		},
	}
	for _, m := range h.Members {
		h.Start(m, m.Release)
		h.becomeReady(m)
	}
	h.define(h.Members[0], false, customGroup, "lights", "v1")
	h.define(h.Members[1], true, sharedGroup, "tides", "v1")
	h.Advance(12_000)
	h.pollAll()
	h.defined = append(h.defined, hostedVersion{group: foreignGroup, version: "v1", resource: "tides", remote: true, stale: true})
	h.tellForeign(history.ThirdPartyAppeared, "False")
	for i := range troubledPolls {
		if i == troubledPolls/2 {
			h.setFreshness(foreignGroup, false)
			h.tellForeign(history.ThirdPartyChanged, "True")
		}
		h.pollAll()
	}
	h.defined = slices.DeleteFunc(h.defined, func(v hostedVersion) bool { return v.group == foreignGroup })
	h.tellForeign(history.ThirdPartyDeleted, "")
	h.pollAll()
	h.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return h.Events
}

// tellForeign is what the recorder of what is foreign tells, which looks each second.
func (h *builder) tellForeign(change, available string) {
	from := h.Now
	h.Advance(1000)
	h.Emit(history.Event{Kind: history.KindThirdPartyObject, From: from, ThirdPartyObject: &history.ThirdPartyObject{
		Type: history.ThirdPartyAPIService, Name: "v1." + foreignGroup, Change: change, Group: foreignGroup, Version: "v1", Available: available,
	}})
}

func foreign(ev *history.Event) bool { return ev.ThirdPartyObject != nil }

// foreignCases are how the story of a foreign server is changed.
var foreignCases = []story.Case{
	{
		Requirement: "AD-26", Reads: story.AnyOf(story.Lifecycle, definitions, polls, foreign),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(2, story.AllOf(polls, story.OfMember("cp1"), e.After(foreign))), func(l *history.Listing) {
				l.Groups = slices.DeleteFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == sharedGroup })
			})
		},
		Weak: func(e *story.Edit) { e.Drop(foreign) },
	},
}
