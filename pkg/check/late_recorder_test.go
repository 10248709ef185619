package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// toldLater has the recorder of etcd know of each change only that it was made up to so much earlier.
func toldLater(events []history.Event, by time.Duration) []history.Event {
	out := slices.Clone(events)
	for i := range out {
		if ev := &out[i]; ev.Stored != nil && !ev.Given {
			from := ev.At
			if ev.From > 0 {
				from = ev.From
			}
			ev.From = max(1, from-int64(by))
		}
	}
	return out
}

// silent has the recorder of etcd hear nothing between two shares of the events, in tenths.
func silent(events []history.Event, from, to int) []history.Event {
	begin, end := len(events)*from/10, min(len(events)*to/10, len(events)-2)
	ev := history.Event{Kind: history.KindRecorderDelayed, From: max(1, events[begin].At), At: events[end].At, RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}}
	return numbered(slices.Insert(slices.Clone(events), end+1, ev))
}

// movesLeases are the requirements that a silence of etcd itself excuses: no leader can renew then.
var movesLeases = []requirement.ID{"CLE-15", "CLE-17"}

// A recorder that is late makes nothing better: a breach stays one, or the ledger says that it is
// unclear. What is owed for certain no more must not leave the ledger, and a pass behind.
func TestJudge_ALateRecorderHidesNoBreach(t *testing.T) {
	for _, s := range tellings() {
		if s.Want == story.Pass {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			events := s.Events()
			before := resultOf(s, events)
			late := map[string][]history.Event{}
			for _, by := range []time.Duration{3 * time.Second, 10 * time.Second, 30 * time.Second, 2 * time.Minute, 1000 * time.Hour} {
				late["told up to "+by.String()+" later"] = toldLater(events, by)
			}
			if !slices.Contains(movesLeases, s.Requirement) {
				late["silent at first"], late["silent in between"], late["silent at last"] = silent(events, 0, 4), silent(events, 3, 7), silent(events, 6, 10)
			}
			for how, events := range late {
				switch after := resultOf(s, events); {
				case after.Verdict == Pass:
					t.Errorf("%s: passes: %s", how, after.Obligations.Words())
				case s.Want == story.Fail && after.Verdict != Fail && !saysUnclear(before, after):
					t.Errorf("%s: the breach ended without a word: %s, and before %s", how, after.Obligations.Words(), before.Obligations.Words())
				}
			}
		})
	}
}

// saysUnclear is whether a result has more that is unclear than another one, or a doubt that is not
// about how much was seen.
func saysUnclear(before, after Result) bool {
	return after.Obligations.Unclear > before.Obligations.Unclear || slices.ContainsFunc(after.Reasons, func(why string) bool {
		return !strings.HasPrefix(why, "saw ") && !slices.Contains(before.Reasons, why)
	})
}
