// Package stories has the stories of KEP-4355, coordinated leader election.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/story"
)

// All gives the stories of all requirements of KEP-4355: one that passes, one that
// fails and one that is inconclusive for each.
func All() []story.Story {
	return slices.Concat(
		story.Base{Name: "upgrade", Build: upgradeStory}.Stories(slices.Concat(upgradeCases, everyRunCases)),
		story.Base{Name: "impaired", Build: impairedStory}.Stories(impairedCases),
		story.Base{Name: "seized", Build: seizedStory}.Stories(seizedCases),
		story.Base{Name: "extra elections", Build: extraElectionsStory}.Stories(extraElectionsCases),
		story.Base{Name: "steady", Build: steadyStory}.Stories(steadyCases),
		story.Base{Name: "uncoordinated", Build: uncoordinatedStory}.Stories(uncoordinatedCases),
		story.Base{Name: "processes", Build: processesStory}.Stories(processesCases),
		story.Base{Name: "strategy", Build: strategyStory}.Stories(strategyCases),
		story.Base{Name: "fallback", Build: fallbackStory}.Stories(fallbackCases),
		story.Base{Name: "released", NewHeader: releasedHeader, Build: releasedStory}.Stories(releasedCases),
		story.Base{Name: "emulated", Build: emulatedStory}.Stories(emulatedCases),
		story.Base{Name: "mixed", Build: mixedStory}.Stories(mixedCases),
	)
}
