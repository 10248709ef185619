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
	silent := func(member string, after, still, behind time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(after)
		b.ready(member, 0).wait(16*second-after).elect(managersLease, "b_1").act(managersLease, "b_1")
		return b.wait(still).ready(member, 200).wait(behind).act(managersLease, "a_1").act(managersLease, "b_1").wait(second)
	}
	// A process holds nothing that was sent before it was ready, and nothing after it has ended.
	boots := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").endServer("a", 1).wait(second).startServer("a", 2).
		wait(15*second).elect(managersLease, "b_1").act(managersLease, "b_1").ready("a", 200).wait(second).act(managersLease, "a_1").act(managersLease, "b_1").wait(second)
	ends := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").ready("a", 0).
		wait(16*second).elect(managersLease, "b_1").act(managersLease, "b_1").wait(second).endServer("a", 1).wait(second).act(managersLease, "a_1").act(managersLease, "b_1").wait(second)
	// What a server that is silent passes on comes before the first answer that tells that it goes on;
	// what comes between two questions that it did not answer it did not hold.
	asked := func(then func(b *electionBuilder) *electionBuilder) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(second).ready("a", 0)
		b.wait(15*second).elect(managersLease, "b_1").act(managersLease, "b_1").wait(second).ready("a", 0)
		return then(b.wait(second/10)).ready("a", 200).wait(second).act(managersLease, "b_1").wait(second)
	}
	before := asked(func(b *electionBuilder) *electionBuilder { return b.act(managersLease, "a_1").wait(second / 10) })
	between := asked(func(b *electionBuilder) *electionBuilder {
		return b.act(managersLease, "a_1").wait(second/10).ready("a", 0).wait(second / 10)
	})
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
			"held by a server that was silent":      {silent("a", second, 8*second, second), nil},
			"sent after it answered again":          {silent("a", second, 8*second, 7*second), []string{breach}},
			"another one was silent":                {silent("b", second, 8*second, 7*second), []string{breach}},
			"just before it answered again":         {before, nil},
			"while it answered no question":         {between, []string{breach}},
			"its server was booting":                {boots, []string{breach}},
			"its server was silent and has ended":   {ends, []string{breach}},
		} {
			t.Run(string(id)+" "+name, func(t *testing.T) { tc.told.expectBreaches(t, id, tc.want...) })
		}
	}
	frozen("b", second, 8*second, second).expectBreaches(t, "CLE-10", "a_1 acted as the leader of "+managersLease)

	// Where the action says when it was sent there is no doubt: before its server stood still, or
	// after it went on, a moment before.
	sent := func(after time.Duration) *electionBuilder {
		b := frozen("a", second, 8*second, second)
		var lost int64
		for _, ev := range b.events {
			switch s := ev.Stored; {
			case s == nil:
			case lost == 0 && s.Lease != nil && s.Lease.Holder == "b_1":
				lost = ev.At
			case lost > 0 && s.LeaderAction != nil && s.LeaderAction.Holder == "a_1":
				s.LeaderAction.Sent = started.Add(time.Duration(lost) + after)
			}
		}
		return b
	}
	for _, id := range []requirement.ID{"CLE-10", "CLE-12", "CLE-18"} {
		for name, tc := range map[string]struct {
			after           time.Duration
			unclear, breach int64
		}{
			"sent while it led":             {-10 * second, 0, 0},
			"sent two seconds before":       {-2 * second, 0, 0},
			"sent when another one took it": {0, 1, 0},
			"sent two seconds after that":   {2 * second, 0, 1},
			"sent after the server went on": {9 * second, 0, 1},
		} {
			t.Run(string(id)+" "+name, func(t *testing.T) {
				if o := sent(tc.after).judge(t, id).Obligations; o.Unclear != tc.unclear || o.Broken != tc.breach {
					t.Errorf("%+v, want %d unclear and %d broken", o, tc.unclear, tc.breach)
				}
			})
		}
	}
}
