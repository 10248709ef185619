package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// An API server that stands still holds requests that it has got already, and passes them on when
// it goes on: what a leader sent in time may come behind the actions of the next one. That is no
// breach, and no proof either. What comes later was sent later.
func TestCLE10_CLE12_CLE18_AFrozenAPIServerMayHaveHeldAnActionOfBefore(t *testing.T) {
	const second = time.Second
	frozen := func(member string, after, still, behind time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(after)
		b.server(member, history.ProcessPaused, 1).wait(16*second-after).elect(managersLease, "b_1").act(managersLease, "b_1")
		return b.wait(still).server(member, history.ProcessResumed, 1).wait(behind).act(managersLease, "a_1").act(managersLease, "b_1").wait(second)
	}
	for id, breach := range map[requirement.ID]string{
		"CLE-10": "a_1 acted as the leader of " + managersLease, "CLE-18": "a_1 acted as the leader of " + managersLease,
		"CLE-12": "a_1 acted as the leader of " + managersLease,
	} {
		for name, tc := range map[string]struct {
			told *electionBuilder
			want []string
		}{
			"held until the server went on":         {frozen("a", second, 8*second, second), nil},
			"sent after the server went on":         {frozen("a", second, 8*second, 7*second), []string{breach}},
			"the server of another one stood still": {frozen("b", second, 8*second, 7*second), []string{breach}},
		} {
			t.Run(string(id)+" "+name, func(t *testing.T) { tc.told.expectBreaches(t, id, tc.want...) })
		}
	}
	frozen("b", second, 8*second, second).expectBreaches(t, "CLE-10", "a_1 acted as the leader of "+managersLease)
}
