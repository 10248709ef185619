package e2eframework

import "testing"

func TestStateOf(t *testing.T) {
	for _, tc := range []struct {
		name string
		seen []activity
		want string
	}{
		{"all run", []activity{active, active}, NodeRunning},
		{"none runs", []activity{down, down}, NodeStopped},
		{"one is down", []activity{active, down}, NodeImpaired},
		{"one is paused", []activity{active, frozen}, NodeImpaired},
		{"paused and down", []activity{frozen, down}, NodeImpaired},
		{"nothing to run", nil, NodeStopped},
	} {
		if got := stateOf(tc.seen); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
