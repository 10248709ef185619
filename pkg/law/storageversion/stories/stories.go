// Package stories has the stories of KEP-2339, storage versions.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/story"
)

// All gives the stories of all requirements of KEP-2339: one that passes, one that
// fails and one that is inconclusive for each.
func All() []story.Story {
	return slices.Concat(
		story.Base{Name: "rollout", Build: rolloutStory}.Stories(rolloutCases),
		story.Base{Name: "registration", NewHeader: registrationHeader, Build: registrationStory}.Stories(registrationCases),
		story.Base{Name: "gates", Build: gatesStory}.Stories(gatesCases),
		story.Base{Name: "collection", Build: collectionStory}.Stories(collectionCases),
	)
}
