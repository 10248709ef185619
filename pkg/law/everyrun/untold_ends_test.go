package everyrun_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Where only the next start tells that a process has ended, the harness ended it if it was at a
// step that could have, and else the process owes its readiness all the same.
func TestReady_OfProcessesWhoseEndNothingTells(t *testing.T) {
	ready := requirement.MustBound("RO-02", "readyWithin")
	untold := func(b *stories.Builder, release string) {
		m := b.Members[2]
		b.Start(m, release)
		b.AnswerReady(m, 500, false)
		b.Advance(ready.Milliseconds() * 2 / 3)
		b.AnswerReady(m, 500, false)
	}
	for name, c := range map[string]struct {
		want check.Verdict
		do   func(b *stories.Builder)
	}{
		"in no step": {check.Fail, func(b *stories.Builder) { untold(b, "1.2") }},
		"in a hold": {check.Fail, func(b *stories.Builder) {
			b.Step(3, "hold", history.PhaseBegin, nil, "")
			untold(b, "1.2")
			b.Step(3, "hold", history.PhaseEnd, nil, "")
		}},
		"in a step of another member": {check.Fail, func(b *stories.Builder) {
			b.Step(3, "upgrade", history.PhaseBegin, b.Members[0], "1.3")
			untold(b, "1.2")
			b.Step(3, "upgrade", history.PhaseEnd, b.Members[0], "1.3")
		}},
		"in a step of the member": {check.Pass, func(b *stories.Builder) {
			b.Step(3, "upgrade", history.PhaseBegin, b.Members[2], "1.3")
			untold(b, "1.3")
			b.Step(3, "upgrade", history.PhaseEnd, b.Members[2], "1.3")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-02", replaced("at rest", func(b *stories.Builder) {
				untold(b, "1.2")
				c.do(b)
				b.Serve(b.Members[2], b.Members[2].Release)
			}), c.want)
		})
	}
}
