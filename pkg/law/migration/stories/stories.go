// Package stories has the stories of KEP-25, storage version migration.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/story"
)

// All gives the stories of all requirements of KEP-25: one that passes, one that fails
// and one that is inconclusive for each.
func All() []story.Story {
	return slices.Concat(
		story.Base{Name: "migrations", Build: migrationStory}.Stories(migrationCases),
		story.Base{Name: "leftovers", Build: leftoverStory}.Stories(leftoverCases),
		story.Base{Name: "resume", Build: resumeStory}.Stories(resumeCases),
		story.Base{Name: "large", Build: largeStory}.Stories(largeCases),
		story.Base{Name: "automatic", NewHeader: automaticHeader, Build: automaticStory}.Stories(automaticCases),
		story.Base{Name: "aggregated", NewHeader: aggregatedHeader, Build: aggregatedStory}.Stories(aggregatedCases),
	)
}
