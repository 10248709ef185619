package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestLag(t *testing.T) {
	var a aways
	for _, s := range []struct {
		from, to time.Duration
		source   Source
	}{{2, 4, SourceEtcd}, {5, 5, SourceEtcd}, {6, 7, SourceReady}, {10, 20, SourceEtcd}} {
		a.take(&history.Event{From: int64(s.from * time.Second), At: int64(s.to * time.Second), Away: &history.Away{Source: string(s.source)}})
	}
	for _, tc := range []struct{ from, to, want time.Duration }{
		{0, 1, 0}, {0, 3, 1}, {3, 9, 1}, {0, 9, 2}, {6, 9, 0}, {0, 30, 12}, {12, 15, 3}, {12, 30, 8}, {25, 30, 0},
	} {
		if got := a.lag(int64(tc.from*time.Second), int64(tc.to*time.Second)); got != recorderLag+tc.want*time.Second {
			t.Errorf("from %d s to %d s: %s, want %d s more than %s", tc.from, tc.to, got, tc.want, recorderLag)
		}
	}
}
