package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/leadership"
)

// notAMember is the label of leaders that run on no member.
const notAMember = "other"

// leaders counts for each Lease that is held who its leader is, for how long
// there was no leader, and for how long the leader was newer than an API server.
type leaders struct {
	leader  *prometheus.GaugeVec
	changes *prometheus.CounterVec
	led     *prometheus.CounterVec
	without *prometheus.CounterVec
	tooNew  *prometheus.CounterVec

	tracker *leadership.Tracker
	told    map[string]said
}

// said is what was told of a Lease last.
type said struct {
	holder, member string
	changes        int
}

func newLeaders(f *factory, t *leadership.Tracker) *leaders {
	return &leaders{
		leader:  f.gauge("leader", "1 for the member whose process holds the Lease; member=\""+notAMember+"\" if it runs on none.", "lease", "member"),
		changes: f.counter("leader_changes_total", "How often a Lease went to another holder than it had before, the first one aside.", "lease"),
		led:     f.counter("leader_seconds_total", "Time for which the Lease was held, in force, by a process that could act.", "lease", "member"),
		without: f.counter("leader_absent_seconds_total", "Time for which it was not, since it was seen first.", "lease"),
		tooNew: f.counter("leader_skew_seconds_total",
			"Time for which the leader was of a newer release than the oldest API server that ran, which the version skew policy forbids.", "lease"),
		tracker: t, told: map[string]said{},
	}
}

func (l *leaders) take(ev *history.Event) {
	for _, s := range l.tracker.Take(ev) {
		if s.Led > 0 {
			l.led.WithLabelValues(s.Lease.Name, label(l.told[s.Lease.Name].member)).Add(s.Led.Seconds())
		}
		l.without.WithLabelValues(s.Lease.Name).Add(s.Absent.Seconds())
		l.tooNew.WithLabelValues(s.Lease.Name).Add(s.Skewed.Seconds())
	}
	if ev.Stored == nil {
		return
	}
	for _, lease := range l.tracker.Leases() {
		before, known := l.told[lease.Name]
		now := said{lease.Holder, lease.Member, lease.Changes}
		if known && now == before {
			continue
		}
		l.told[lease.Name] = now
		l.changes.WithLabelValues(lease.Name).Add(float64(now.changes - before.changes))
		l.leader.DeletePartialMatch(prometheus.Labels{"lease": lease.Name})
		if now.holder != "" {
			l.leader.WithLabelValues(lease.Name, label(now.member)).Set(1)
		}
	}
}

func label(member string) string {
	if member == "" {
		return notAMember
	}
	return member
}
