package everyrun_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
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

// outage replaces a member while clients get no answer for longer than they may.
func outage(b *stories.Builder) {
	codes := make([]int, int(requirement.MustBound("RO-11", "withoutAnswer").Seconds())+2)
	replace(b, b.Members[0], codes...)
	b.Balance(200)
}

// While the harness keeps all other members from serving, no client is owed an answer. What a
// control plane does to itself keeps it from nothing.
func TestBalancer_NothingIsOwedWhileTheHarnessKeepsTheOthersFromServing(t *testing.T) {
	change := func(b *stories.Builder, member int, component, what string, expected bool) {
		instance := 1
		if component == history.ComponentAPIServer {
			instance = b.Members[member].Instance
		}
		b.Emit(history.Event{Kind: history.KindProcess, Member: b.Members[member].Name, Process: &history.Process{
			Component: component, Change: what, Instance: instance, Expected: expected,
		}})
	}
	const server, etcd = history.ComponentAPIServer, history.ComponentEtcd
	for name, c := range map[string]struct {
		before func(b *stories.Builder)
		want   check.Verdict
	}{
		"the others serve": {func(*stories.Builder) {}, check.Fail},
		"their API servers are ended": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessExited, true)
			change(b, 2, server, history.ProcessExited, true)
		}, check.Pass},
		"one ends by itself": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessExited, true)
			change(b, 2, server, history.ProcessExited, false)
		}, check.Fail},
		"one goes on": {func(b *stories.Builder) { change(b, 1, server, history.ProcessExited, true) }, check.Fail},
		"one is told to end and one is paused": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessStopping, false)
			change(b, 2, server, history.ProcessPaused, false)
		}, check.Pass},
		"one goes on again": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessPaused, false)
			change(b, 2, server, history.ProcessPaused, false)
			change(b, 2, server, history.ProcessResumed, false)
			b.AnswerReady(b.Members[2], 200, false)
		}, check.Fail},
		"one starts again, and is not ready": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessPaused, false)
			b.Exit(b.Members[2], "exit status 0", true)
			b.Start(b.Members[2], "1.2")
			b.AnswerReady(b.Members[2], 500, false)
		}, check.Pass},
		"they start again at once, and are not ready": {func(b *stories.Builder) {
			for i, m := range b.Members[1:] {
				change(b, i+1, server, history.ProcessExited, true)
				b.Start(m, "1.2")
				b.AnswerReady(m, 500, false)
			}
		}, check.Pass},
		"they start again at once, and are ready": {func(b *stories.Builder) {
			for i, m := range b.Members[1:] {
				change(b, i+1, server, history.ProcessExited, true)
				b.Serve(m, "1.2")
			}
		}, check.Fail},
		"one starts again, and is ready": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessPaused, false)
			b.Exit(b.Members[2], "exit status 0", true)
			b.Serve(b.Members[2], "1.2")
		}, check.Fail},
		"their etcd is ended": {func(b *stories.Builder) {
			change(b, 1, etcd, history.ProcessExited, true)
			change(b, 2, etcd, history.ProcessExited, true)
		}, check.Pass},
		"the etcd of one runs again, and it is not ready": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessExited, true)
			change(b, 2, etcd, history.ProcessExited, true)
			b.AnswerReady(b.Members[2], 500, false)
			b.Advance(1000)
			change(b, 2, etcd, history.ProcessStarted, false)
		}, check.Pass},
		"the etcd of one runs again, and it is ready": {func(b *stories.Builder) {
			change(b, 1, server, history.ProcessExited, true)
			change(b, 2, etcd, history.ProcessExited, true)
			b.AnswerReady(b.Members[2], 500, false)
			b.Advance(1000)
			change(b, 2, etcd, history.ProcessStarted, false)
			b.AnswerReady(b.Members[2], 200, false)
		}, check.Fail},
		"etcd has no majority": {func(b *stories.Builder) {
			change(b, 0, etcd, history.ProcessExited, true)
			change(b, 1, etcd, history.ProcessPaused, false)
		}, check.Pass},
		"their etcd ends by itself": {func(b *stories.Builder) {
			change(b, 1, etcd, history.ProcessExited, false)
			change(b, 2, etcd, history.ProcessExited, false)
		}, check.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-11", replaced("at rest", func(b *stories.Builder) {
				replace(b, b.Members[2], 200)
				before := len(b.Events)
				c.before(b)
				outage(b)
				for _, ev := range b.Events[before:] {
					if p := ev.Process; p != nil && p.Change == history.ProcessPaused {
						b.Emit(history.Event{Kind: history.KindProcess, Member: ev.Member, Process: &history.Process{
							Component: p.Component, Change: history.ProcessResumed, Instance: p.Instance,
						}})
					}
				}
			}), c.want)
		})
	}
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
