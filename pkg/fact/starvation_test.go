package fact_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// starve has the machine make processes wait for so many seconds of a stretch.
func starve(from, to, waited int64) *history.Event {
	return &history.Event{From: from * s, At: to * s, Kind: history.KindStarvation, Starvation: &history.Starvation{CPU: waited * s}}
}

func TestStarved_CountsMeasuredWaitingOnceAndNoMoreThanTheOverlap(t *testing.T) {
	var b fact.Builder
	b.Begin(fact.Yes)
	b.SetAt(30*s, fact.No)
	b.SetAt(35*s, fact.Unknown)
	for name, c := range map[string]struct {
		events   []*history.Event
		while    fact.Signal
		from, to int64
		want     int64
	}{
		"nothing was recorded":               {nil, fact.Constant(fact.Yes), 0, 100, 0},
		"within":                             {[]*history.Event{starve(10, 20, 4)}, fact.Constant(fact.Yes), 5, 50, 4},
		"before and after":                   {[]*history.Event{starve(10, 20, 4), starve(60, 70, 4)}, fact.Constant(fact.Yes), 20, 60, 0},
		"two stretches":                      {[]*history.Event{starve(10, 20, 4), starve(20, 30, 7)}, fact.Constant(fact.Yes), 5, 50, 11},
		"it began before":                    {[]*history.Event{starve(10, 20, 4)}, fact.Constant(fact.Yes), 18, 50, 2},
		"it went on afterwards":              {[]*history.Event{starve(10, 20, 4)}, fact.Constant(fact.Yes), 5, 13, 3},
		"stretches that overlap count once":  {[]*history.Event{starve(10, 20, 10), starve(10, 20, 10), starve(12, 22, 10)}, fact.Constant(fact.Yes), 5, 50, 12},
		"only while the signal is yes":       {[]*history.Event{starve(25, 45, 20)}, b.Signal(), 5, 50, 5},
		"a stretch that has no beginning":    {[]*history.Event{{At: 20 * s, Starvation: &history.Starvation{CPU: 4 * s}}}, fact.Constant(fact.Yes), 5, 50, 0},
		"the longest waiting stands for all": {[]*history.Event{{From: 10 * s, At: 20 * s, Starvation: &history.Starvation{CPU: 4 * s, Disk: 6 * s, Harness: s}}}, fact.Constant(fact.Yes), 5, 50, 6},
	} {
		h := fact.NewHistory(history.Header{})
		for i, ev := range c.events {
			ev.Seq = int64(i + 1)
			h.Observe(ev)
		}
		if got := h.Starved(c.while, c.from*s, c.to*s); got != time.Duration(c.want*s) {
			t.Errorf("%s: %s, want %d s", name, got, c.want)
		}
	}
}
