package stories

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// isAggregated is whether a client accepts an aggregated document and no other one.
func isAggregated(accept string) bool {
	return accept != "" && !strings.Contains(accept, ",") && strings.HasSuffix(accept, "as=APIGroupDiscoveryList")
}

// gatesStory is a run in which one member is without aggregated discovery for a while.
func gatesStory() []history.Event {
	h := &builder{
		ControlPlane: story.NewControlPlane(), sweeps: map[string]int64{}, ids: map[string]int{},
		own: []hostedVersion{{group: "coordination.k8s.io", version: "v1", resource: "leases"}},
	}
	for _, m := range h.Members {
		h.Start(m, m.Release)
		h.becomeReady(m)
	}
	h.settleAndSweep()
	last := h.Members[2]
	for _, off := range [][]string{{history.FeatureAggregatedDiscovery}, nil} {
		h.Advance(1000)
		last.DisabledFeatures = off
		h.restart(last)
		h.settleAndSweep()
	}
	h.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return h.Events
}

// gatesCases are how the story of the feature gate is changed.
var gatesCases = []story.Case{
	{
		Requirement: "AD-27", Reads: story.AnyOf(story.Lifecycle, asked(v2JSON), asked(v2YAML), asked(v2Proto), asked(v2JSON+","+plainJSON), clients, lastOfSweep),
		Fail: func(e *story.Edit) {
			d := e.Document(1, story.AllOf(swept(v2JSON+","+plainJSON), story.OfMember("cp3"), ofSweep(2)))
			d.ContentType = v2JSON
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.OfMember("cp3"), ofSweep(2), func(ev *history.Event) bool { return ev.DiscoveryDocument.Code == 406 }))
		},
	},
}
