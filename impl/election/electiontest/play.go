package electiontest

import (
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// mostActions is the longest play. A fake client takes about a millisecond for each request.
const mostActions = 40

// Play does some of the actions, in an order that is drawn, and checks after each.
func Play(t *rapid.T, check func(*rapid.T), actions map[string]func(*rapid.T)) {
	names := rapid.SampledFrom(slices.Sorted(maps.Keys(actions)))
	for range rapid.IntRange(1, mostActions).Draw(t, "actions") {
		actions[names.Draw(t, "action")](t)
		check(t)
	}
}
