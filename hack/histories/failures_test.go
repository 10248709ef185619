package main

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// A coordinator that asks nobody any more after its writes have failed elects again
// when the Lease is deleted, which it must not be credited with.
func TestAnElectionThatADeletionBroughtAboutIsNoRecovery(t *testing.T) {
	for name, tc := range map[string]struct {
		seconds int
		erased  bool
		want    check.Verdict
	}{
		"in time by itself":   {10, false, check.Pass},
		"in time by deletion": {10, true, check.Inconclusive},
		"too late by itself":  {40, false, check.Fail},
		"and by deletion":     {40, true, check.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			e := &edit{tellStranded(map[string]func(*helm){"can write": func(h *helm) {
				h.sail(tc.seconds, managersLease)
				if tc.erased {
					h.erase(h.members[0], managersLease)
				}
			}})}
			got := judge(t, caseOf(t, "CLE-24"), e.events)["CLE-24"]
			if got.Verdict != tc.want {
				t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
			}
		})
	}
}
