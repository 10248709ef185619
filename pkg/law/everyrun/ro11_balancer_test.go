package everyrun_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// replace restarts a member and has the client of the load balancer get an answer each second
// meanwhile.
func replace(b *stories.Builder, m *story.Member, codes ...int) {
	b.Step(8, "restart", history.PhaseBegin, m, "")
	b.Exit(m, "exit status 0", true)
	for _, code := range codes {
		b.Balance(code)
		b.Advance(1000)
	}
	b.Serve(m, m.Release)
	b.Step(8, "restart", history.PhaseEnd, m, "")
}

// A replacement of three seconds cannot keep clients without an answer for too long. It counts
// only if a client got an answer.
func TestBalancer_AShortReplacementProvesNothingWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		during []int
		want   check.Verdict
	}{
		"no answer":       {[]int{503, 503, 503}, check.Inconclusive},
		"an answer in it": {[]int{503, 200, 503}, check.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-11", replaced("at rest", func(b *stories.Builder) {
				b.Balance(503)
				replace(b, b.Members[2], c.during...)
				b.Balance(503)
				b.Step(9, "stop", history.PhaseBegin, b.Members[0], "")
				b.Balance(200)
			}), c.want)
		})
	}
}
