package check

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	election "github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// A coordinator that has stopped pinging candidates, for instance after failed writes,
// elects again when the Lease is deleted. Such an election proves nothing.
func TestElectionAfterDeletionIsNoEvidence(t *testing.T) {
	for id, base := range map[requirement.ID]struct {
		build func(map[string]func(*election.Builder)) []history.Event
		point string
	}{
		"CLE-11": {election.Upgrade, "crashed"},
		"CLE-24": {election.Impaired, "can write"},
	} {
		for name, tc := range map[string]struct {
			seconds int
			erased  bool
			want    Verdict
		}{
			"in time by itself":   {10, false, Pass},
			"in time by deletion": {10, true, Inconclusive},
			"too late by itself":  {50, false, Fail},
			"and by deletion":     {50, true, Fail},
		} {
			t.Run(string(id)+" "+name, func(t *testing.T) {
				events := base.build(map[string]func(*election.Builder){base.point: func(h *election.Builder) {
					h.RenewFor(tc.seconds, election.ManagersLease)
					if tc.erased {
						h.DeleteLease(h.Members[0], election.ManagersLease)
					}
				}})
				if got := judgeEvents(t, story.NewHeader(), events, id)[id]; got.Verdict != tc.want {
					t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
				}
			})
		}
	}
}
