package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// BalancerSeen counts the reads through the load balancer and their outcome. It belongs
// to no requirement: it shows what an upgrade costs the users of the control plane.
type BalancerSeen struct {
	// Asked is the number of reads.
	Asked int `json:"asked"`
	// Answered is the number of reads that were served.
	Answered int `json:"answered"`
	// LongestOutageMillis is the longest time in which no read was served, from
	// the last good answer before to the first one after, in milliseconds. Time
	// before the first good answer does not count: the control plane was booting.
	LongestOutageMillis int64 `json:"longestOutageMillis"`

	good   int64 // when the last read was served
	failed bool  // whether a read failed since then
}

func (b *BalancerSeen) take(ev *history.Event) {
	if !ev.LoadBalancer.Answered() {
		if b.good > 0 {
			b.Asked++
			b.failed = true
		}
		return
	}
	b.Asked++
	b.Answered++
	if b.failed {
		b.LongestOutageMillis = max(b.LongestOutageMillis, (ev.At-b.good)/int64(time.Millisecond))
	}
	b.good, b.failed = ev.At, false
}

// end also counts an outage that lasts until the end of the history.
func (b *BalancerSeen) end(now int64) *BalancerSeen {
	if b.Asked == 0 {
		return nil
	}
	if b.failed {
		b.LongestOutageMillis = max(b.LongestOutageMillis, (now-b.good)/int64(time.Millisecond))
	}
	return b
}
