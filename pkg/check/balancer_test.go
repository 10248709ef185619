package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestBalancerSeen(t *testing.T) {
	const second = int64(time.Second)
	for _, tc := range []struct {
		name                    string
		codes                   []int // one a second, from 1 s on
		asked, answered, outage int
	}{
		{"never asked", nil, 0, 0, 0},
		{"booting does not count", []int{0, 503, 200, 200}, 2, 2, 0},
		{"a refusal is no answer", []int{200, 401, 403, 404, 302, 200}, 6, 2, 5000},
		{"an outage", []int{200, 0, 503, 200, 200}, 5, 3, 3000},
		{"the longest of two", []int{200, 0, 200, 500, 429, 200}, 6, 3, 3000},
		{"one without an end", []int{200, 0, 0}, 3, 1, 2000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b BalancerSeen
			now := int64(0)
			for i, code := range tc.codes {
				now = int64(i+1) * second
				b.take(&history.Event{At: now, LoadBalancer: &history.LoadBalancer{Code: code}})
			}
			got := b.end(now)
			if tc.asked == 0 {
				if got != nil {
					t.Errorf("%+v", got)
				}
				return
			}
			if got.Asked != tc.asked || got.Answered != tc.answered || got.LongestOutageMillis != int64(tc.outage) {
				t.Errorf("%+v", got)
			}
		})
	}
}
