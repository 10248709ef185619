// Package stories has the stories of what every run owes, whatever the KEP. Those of
// requirements about Leases are with the stories of KEP-4355.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package stories

import "github.com/evenkeel/evenkeel/pkg/story"

// All gives the stories of all requirements of every run but those about Leases: one that
// passes, one that fails and one that is inconclusive for each.
func All() []story.Story {
	return story.Base{Name: "replaced", Build: replacedStory}.Stories(replacedCases)
}
