package everyrun_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// unsure is the time between two questions of a recorder.
const unsure = time.Second / 2

func replaced(point string, do func(*stories.Builder)) []history.Event {
	return stories.Replaced(map[string]func(*stories.Builder){point: do})
}

func readyAt(b *stories.Builder, code int) {
	b.Emit(history.Event{Kind: history.KindReady, Member: "cp3", Ready: &history.Ready{Code: code}})
}

func TestReadyWithin_Bracket(t *testing.T) {
	judgetest.Bracket(t, "RO-02", "readyWithin", readyLate)
	judgetest.StarvedBracket(t, "RO-02", "readyWithin", between(func(ev *history.Event) bool { return ev.Ready != nil && ev.Ready.Code == 500 }), readyLate)
}

// between gives when the first and the last event came that fit.
func between(fits func(*history.Event) bool) func(events []history.Event) (from, to int64) {
	return func(events []history.Event) (from, to int64) {
		for i := range events {
			if fits(&events[i]) {
				if from == 0 {
					from = events[i].At
				}
				to = events[i].At
			}
		}
		return from, to
	}
}

func readyLate(took time.Duration) []history.Event {
	return replaced("at rest", func(b *stories.Builder) {
		// The last good answer, the first and the last bad one, and the first good one.
		begin := b.Now
		readyAt(b, 200)
		b.Now = begin + int64(unsure)
		readyAt(b, 500)
		b.Now = begin + int64(took-unsure)
		readyAt(b, 500)
		b.Now = begin + int64(took)
		readyAt(b, 200)
	})
}

func TestWithoutAnswer_Bracket(t *testing.T) {
	judgetest.Bracket(t, "RO-11", "withoutAnswer", unanswered)
	judgetest.StarvedBracket(t, "RO-11", "withoutAnswer", between(func(ev *history.Event) bool { return ev.LoadBalancer != nil && ev.LoadBalancer.Code == 0 }), unanswered)
}

func unanswered(took time.Duration) []history.Event {
	return replaced("replaced", func(b *stories.Builder) {
		begin := b.Now
		balance := func(code int, from, at time.Duration) {
			b.Now = begin + int64(at)
			b.Emit(history.Event{Kind: history.KindLoadBalancer, From: begin + int64(from), LoadBalancer: &history.LoadBalancer{Code: code}})
		}
		balance(0, 1, unsure)
		for at := time.Second; at < took-unsure; at += time.Second {
			balance(0, at, at)
		}
		balance(200, took-unsure, took)
	})
}

func TestShowsWithin_Bracket(t *testing.T) {
	bound := requirement.MustBound("RO-06", "showsWithin")
	for _, c := range []struct {
		name string
		took time.Duration
		want check.Verdict
	}{{"inside", bound - time.Second, check.Pass}, {"outside", bound + time.Second, check.Fail}} {
		t.Run(c.name, func(t *testing.T) {
			judgetest.Expect(t, "RO-06", replaced("at rest", func(b *stories.Builder) {
				b.Write(b.Members[0], "configmaps")
				b.Show(b.Members[1], b.Members[0], c.took)
			}), c.want)
		})
	}
	late := func(took time.Duration) []history.Event {
		return replaced("at rest", func(b *stories.Builder) {
			b.Write(b.Members[0], "configmaps")
			b.Show(b.Members[1], b.Members[0], took)
		})
	}
	judgetest.StarvedBracket(t, "RO-06", "showsWithin", func(events []history.Event) (from, to int64) {
		shown := last(events, func(ev *history.Event) bool { return ev.Visibility != nil })
		return shown.From, shown.Visibility.Watch.At
	}, late)
	t.Run("given up before", func(t *testing.T) {
		events := replaced("at rest", func(b *stories.Builder) {
			b.Write(b.Members[0], "configmaps")
			b.Show(b.Members[1], b.Members[0], bound-time.Second)
		})
		last(events, func(ev *history.Event) bool { return ev.Visibility != nil }).Visibility.Watch.At = 0
		judgetest.Expect(t, "RO-06", events, check.Inconclusive)
	})
}

// last is the last event that fits.
func last(events []history.Event, fits func(*history.Event) bool) *history.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if fits(&events[i]) {
			return &events[i]
		}
	}
	panic("no event fits")
}
