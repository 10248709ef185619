package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// BalancerSeen is how clients fared that read through the load balancer. It
// belongs to no requirement: it is what an upgrade costs those who only use the
// control plane.
type BalancerSeen struct {
	// Asked is the number of reads.
	Asked int `json:"asked"`
	// Answered is the number of reads that were served.
	Answered int `json:"answered"`
	// LongestOutageMillis is the longest time in which no read was served, from
	// the last good answer before to the first one after, in milliseconds. Time
	// before the first good answer does not count: the control plane was booting.
	LongestOutageMillis int64 `json:"longestOutageMillis"`

	good   int64 // when the last good answer came
	failed bool  // whether a read failed since
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

// end counts an outage that nobody saw the end of.
func (b *BalancerSeen) end(now int64) *BalancerSeen {
	if b.Asked == 0 {
		return nil
	}
	if b.failed {
		b.LongestOutageMillis = max(b.LongestOutageMillis, (now-b.good)/int64(time.Millisecond))
	}
	return b
}
