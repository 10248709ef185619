package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// notAMember is the label of leaders that run on no member.
const notAMember = "other"

// leaders counts for each Lease by which somebody leads who that is, for how long
// nobody did, and for how long the leader was newer than an API server.
type leaders struct {
	leader   *prometheus.GaugeVec
	changes  *prometheus.CounterVec
	led      *prometheus.CounterVec
	without  *prometheus.CounterVec
	tooNew   *prometheus.CounterVec
	header   history.Header
	members  *members
	versions map[string]*version.Version
	now      int64
	leases   map[string]*lead
}

// lead is what a Lease says.
type lead struct {
	holder string
	// before is who held it last, if nobody does now.
	before string
	// member of the holder; empty if it is none's.
	member string
	// until is when the Lease runs out unless it is renewed.
	until int64
}

func newLeaders(f *factory, h history.Header, m *members) *leaders {
	return &leaders{
		leader:  f.gauge("leader", "1 for the member whose process holds the Lease; member=\""+notAMember+"\" if it runs on none.", "lease", "member"),
		changes: f.counter("leader_changes_total", "How often a Lease went to another holder than it had before, the first one aside.", "lease"),
		led:     f.counter("leader_seconds_total", "Time for which the Lease was held, in force, by a process that could act.", "lease", "member"),
		without: f.counter("leader_absent_seconds_total", "Time for which it was not, since it was seen first.", "lease"),
		tooNew: f.counter("leader_skew_seconds_total",
			"Time for which the leader was of a newer release than the oldest API server that ran, which the version skew policy forbids.", "lease"),
		header: h, members: m, versions: map[string]*version.Version{}, leases: map[string]*lead{},
	}
}

// advance counts what has been so since the last event.
func (l *leaders) advance(now int64) {
	oldest := l.oldestServer()
	for name, one := range l.leases {
		var led int64
		p := l.members.processes[processKey{one.member, history.LedBy(name)}]
		// Of who runs on no member it is not known whether it lives.
		if one.holder != "" && (one.member == "" || p.leads()) {
			led = max(min(now, one.until)-l.now, 0)
		}
		if led > 0 {
			l.led.WithLabelValues(name, label(one.member)).Add(seconds(led))
		}
		l.without.WithLabelValues(name).Add(seconds(now - l.now - led))
		if p != nil && oldest != nil && led > 0 {
			if leader := l.version(p.release); leader != nil && oldest.LessThan(leader) {
				l.tooNew.WithLabelValues(name).Add(seconds(led))
			}
		}
	}
	l.now = now
}

// oldestServer is the oldest release of an API server that runs; nil if none does
// whose release is known.
func (l *leaders) oldestServer() *version.Version {
	var oldest *version.Version
	for key, p := range l.members.processes {
		if key.component != history.ComponentAPIServer || !p.alive {
			continue
		}
		if v := l.version(p.release); v != nil && (oldest == nil || v.LessThan(oldest)) {
			oldest = v
		}
	}
	return oldest
}

// version reads a release; nil if it is none.
func (l *leaders) version(release string) *version.Version {
	v, known := l.versions[release]
	if !known {
		v, _ = version.ParseGeneric(release) // nil where it cannot be read
		l.versions[release] = v
	}
	return v
}

func (l *leaders) take(ev *history.Event) {
	s := ev.Stored
	if s == nil || !strings.Contains(s.Key, "/leases/") || strings.HasPrefix(s.Name, corev1.NamespaceNodeLease+"/") {
		return
	}
	one := l.leases[s.Name]
	switch {
	case s.Type == history.StoredDelete:
		if one != nil {
			l.give(s.Name, one, "")
		}
		return
	case s.Lease == nil || s.Lease.Identity:
		return
	case one == nil:
		one = &lead{}
		l.leases[s.Name] = one
		l.changes.WithLabelValues(s.Name)
		l.without.WithLabelValues(s.Name)
		l.tooNew.WithLabelValues(s.Name)
	}
	if s.Lease.Holder != one.holder {
		l.give(s.Name, one, s.Lease.Holder)
	}
	one.until = ev.At + int64(time.Duration(s.Lease.Duration)*time.Second)
}

// give notes who holds a Lease now.
func (l *leaders) give(name string, one *lead, holder string) {
	l.leader.DeletePartialMatch(prometheus.Labels{"lease": name})
	if one.before != "" && holder != "" && holder != one.before {
		l.changes.WithLabelValues(name).Inc()
	}
	one.holder, one.member = holder, ""
	if holder == "" {
		return
	}
	one.before = holder
	if i := l.header.MemberOf(holder); i >= 0 {
		one.member = l.header.Members[i].Name
	}
	l.leader.WithLabelValues(name, label(one.member)).Set(1)
}

func label(member string) string {
	if member == "" {
		return notAMember
	}
	return member
}
