package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Where only the next start tells that an API server has ended, it ended by itself unless the harness
// was at a step that may have ended it, and at any time since its last answer.
func TestCLE14_CLE23_OfAPIServersWhoseEndNothingTells(t *testing.T) {
	const s = time.Second
	step := func(action, member string) func(*electionBuilder) {
		return func(b *electionBuilder) {
			b.add(history.Event{Kind: history.KindStep, Member: member, Step: &history.Step{Action: action, Phase: history.PhaseBegin}})
		}
	}
	answers := func(code int) func(*electionBuilder) {
		return func(b *electionBuilder) { b.ready("a", code) }
	}
	silent := answers(0)
	waits := func(b *electionBuilder) { b.wait(time.Minute) }
	const broken, unclear = 1, 2
	for id, of := range map[requirement.ID]struct {
		happens func(*electionBuilder)
		breach  string
	}{
		"CLE-14": {func(b *electionBuilder) { b.storeLease(coordinatorsLease, history.Lease{Holder: history.AbsentHolder}) }, "the API server of a ended (only the next start tells of it) after its coordinator had lost its Lease"},
		"CLE-23": {func(b *electionBuilder) { b.storeOdd(probeLease) }, "the API server of a ended (only the next start tells of it) within"},
	} {
		for name, c := range map[string]struct {
			before, after, later func(*electionBuilder)
			want                 int
		}{
			"in no step":                    {answers(200), answers(200), answers(200), broken},
			"in a hold":                     {answers(200), answers(200), step("hold", ""), broken},
			"in a step of another member":   {answers(200), answers(200), step("crash", "b"), broken},
			"in a step of the member":       {answers(200), answers(200), step("crash", "a"), unclear},
			"in a step of all members":      {answers(200), answers(200), step("restart", ""), unclear},
			"it had given no answer before": {silent, silent, silent, unclear},
			"it gives no answer since":      {answers(200), silent, waits, unclear},
			"it gives answers much longer":  {answers(200), answers(200), func(b *electionBuilder) { waits(b); answers(200)(b) }, 0},
		} {
			b := controlPlane("1.2.0").wait(s)
			c.before(b)
			of.happens(b.wait(s))
			c.after(b.wait(s))
			c.later(b)
			b.wait(s).startServer("a", 2).ready("a", 500)
			var want []string
			if c.want == broken {
				want = []string{of.breach}
			}
			t.Run(string(id)+" "+name, func(t *testing.T) {
				if r := b.expectBreaches(t, id, want...); (r.Obligations.Unclear > 0) != (c.want == unclear) {
					t.Errorf("the obligations are %+v: %q", r.Obligations, r.Reasons)
				}
			})
		}
	}
}
