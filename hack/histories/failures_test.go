package main

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A coordinator that asks nobody any more, after its writes have failed for instance,
// elects again when the Lease is deleted, which it must not be credited with.
func TestAnElectionThatADeletionBroughtAboutProvesNothing(t *testing.T) {
	for id, story := range map[requirement.ID]struct {
		tell  func(map[string]func(*helm)) []history.Event
		point string
	}{
		"CLE-11": {tellElection, "crashed"},
		"CLE-24": {tellStranded, "can write"},
	} {
		for name, tc := range map[string]struct {
			seconds int
			erased  bool
			want    check.Verdict
		}{
			"in time by itself":   {10, false, check.Pass},
			"in time by deletion": {10, true, check.Inconclusive},
			"too late by itself":  {50, false, check.Fail},
			"and by deletion":     {50, true, check.Fail},
		} {
			t.Run(string(id)+" "+name, func(t *testing.T) {
				e := &edit{story.tell(map[string]func(*helm){story.point: func(h *helm) {
					h.sail(tc.seconds, managersLease)
					if tc.erased {
						h.erase(h.members[0], managersLease)
					}
				}})}
				if got := judge(t, caseOf(t, id), e.events)[id]; got.Verdict != tc.want {
					t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
				}
			})
		}
	}
}
