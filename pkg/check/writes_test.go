package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A write of which etcd tells only when there is one again was not lost, and one that
// it never tells of was.
func TestWritesWaitForTheRecorder(t *testing.T) {
	const second = int64(time.Second)
	for _, tc := range []struct {
		name string
		// away is for how long the recorder heard nothing before the write is told.
		away time.Duration
		late time.Duration
		want int64
	}{
		{"told at once", 0, time.Second, 0},
		{"told late", 0, writeUntold - time.Second, 0},
		{"told too late", 0, writeUntold + time.Second, 1},
		{"told late, by one who was away", 40 * time.Second, 46 * time.Second, 0},
		{"told too late, also for one who was away", 20 * time.Second, 46 * time.Second, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ws := newWrites()
			first := ws.of(writeID{"a", 1}, second)
			first.answer = &answer{accepted: true}
			now := second + int64(tc.late)
			var a aways
			if tc.away > 0 {
				a.take(&history.Event{From: now - int64(tc.away), At: now, Away: &history.Away{Source: string(SourceEtcd)}})
			}
			ws.expire(a, now)
			first.stored = &storedWrite{}
			ws.close(first)
			if ws.untold["a"] != tc.want {
				t.Errorf("%d writes were given up, want %d", ws.untold["a"], tc.want)
			}
		})
	}
}

func TestOpenWritesAreBounded(t *testing.T) {
	ws := newWrites()
	for n := range int64(maxOpenWrites + 10) {
		ws.of(writeID{"a", n}, 1).answer = &answer{accepted: true}
	}
	if len(ws.open) != maxOpenWrites || ws.untold["a"] != 10 {
		t.Errorf("%d writes wait, %d were given up", len(ws.open), ws.untold["a"])
	}
}
