// Package stories has the stories of KEP-4330, emulated versions. That of who leads (EV-05)
// is with the stories of KEP-4355.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/story"
)

// All gives the stories of emulated versions: one that passes, one that fails and one that is
// inconclusive for each requirement.
func All() []story.Story {
	return slices.Concat(
		story.Base{Name: "window", Build: windowStory}.Stories(windowCases),
		story.Base{Name: "skip", Build: skipStory}.Stories(skipCases),
		story.Base{Name: "refused", Build: refusedStory}.Stories(refusedCases),
	)
}
