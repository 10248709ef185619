// Package stories has the stories of KEP-3352, aggregated discovery.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/story"
)

// All gives the stories of all requirements of KEP-3352: one that passes, one that
// fails and one that is inconclusive for each.
func All() []story.Story {
	return slices.Concat(
		story.Base{Name: "discovery", Build: discoveryStory}.Stories(discoveryCases),
		story.Base{Name: "peers", Build: peersStory}.Stories(peersCases),
		story.Base{Name: "discoveryGates", Build: gatesStory}.Stories(gatesCases),
		story.Base{Name: "foreign", Build: foreignStory}.Stories(foreignCases),
	)
}
