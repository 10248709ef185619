package election_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	election "github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// A coordinator that has stopped pinging candidates, for instance after failed writes,
// elects again when the Lease is deleted. Such an election proves nothing.
func TestCLE11_CLE24_AnElectionAfterADeletionByTheHarnessProvesNothing(t *testing.T) {
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
			want    check.Verdict
		}{
			"in time by itself":   {10, false, check.Pass},
			"in time by deletion": {10, true, check.Inconclusive},
			"too late by itself":  {50, false, check.Fail},
			"and by deletion":     {50, true, check.Fail},
		} {
			t.Run(string(id)+" "+name, func(t *testing.T) {
				events := base.build(map[string]func(*election.Builder){base.point: func(h *election.Builder) {
					h.RenewFor(tc.seconds, election.ManagersLease)
					if tc.erased {
						h.DeleteLease(h.Members[0], election.ManagersLease)
					}
				}})
				if got := judgeEvents(t, story.NewHeader(), events, id); got.Verdict != tc.want {
					t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
				}
			})
		}
	}
}
