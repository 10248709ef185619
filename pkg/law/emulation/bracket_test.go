package emulation_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/emulation/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// unsure is the time between two writes of a client.
const unsure = 700 * time.Millisecond

// refusing builds a run in which cp1 takes no write of ballasts at a point of it, for a time
// since it was ready.
func refusing(point string) func(took time.Duration) []history.Event {
	return func(took time.Duration) []history.Event {
		return stories.Window(map[string]func(*stories.Builder){point: func(b *stories.Builder) {
			begin := b.Now
			for _, at := range []time.Duration{0, took - unsure} {
				b.Now = begin + int64(at)
				b.Refuse(b.Members[0], story.BallastGroup, "ballasts")
			}
			// The first write that it takes, after one of another resource.
			b.Now = begin + int64(took) - 100*story.Millisecond
		}})
	}
}

func TestTakesWritesWithin_Bracket(t *testing.T) {
	for point, id := range map[string]requirement.ID{"cp1 rolled back": "EV-03", "cp1 raised": "EV-04"} {
		judgetest.Bracket(t, id, "takesWritesWithin", refusing(point))
		judgetest.StarvedBracket(t, id, "takesWritesWithin", refusals, refusing(point))
	}
}

// refusals are when the first and the last write was refused.
func refusals(events []history.Event) (from, to int64) {
	for _, ev := range events {
		if ev.Request != nil && ev.Request.Code == 500 {
			if from == 0 {
				from = ev.At
			}
			to = ev.At
		}
	}
	return from, to
}
