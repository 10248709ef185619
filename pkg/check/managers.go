package check

import (
	"github.com/evenkeel/evenkeel/pkg/history"
)

// managers is what is known of the controller managers. The one that leads has
// the collector of KEP-2339 in it, which cleans StorageVersions up.
type managers struct {
	// running are the processes that live, by member; a paused one lives too.
	running map[string]int
	paused  map[string]bool
	// leader is the member whose controller manager holds the Lease; empty if
	// none does, or none that is known.
	leader string
	// ableSince is since when the collector could do its work without anything
	// in its way; able is whether it can now.
	ableSince int64
	able      bool
	// seen is whether a controller manager was seen to run.
	seen bool
}

// leaderLease is where the leader of the controller managers is elected.
const leaderLease = identityLeasePrefix + "kube-controller-manager"

func newManagers() *managers {
	return &managers{running: map[string]int{}, paused: map[string]bool{}}
}

// take brings what is known of the controller managers up to date. It comes last,
// because it goes by what the World knows of servers and faults.
func (m *managers) take(w *World, ev *history.Event) {
	disturbed := false
	switch {
	case ev.Process != nil:
		if ev.Process.Component == history.ComponentControllerManager {
			m.takeProcess(ev)
		}
		// Without a majority of etcd nobody gets anything done.
		// A scheduler is in nobody's way.
		disturbed = ev.Member == m.leader && ev.Process.Component != history.ComponentScheduler || ev.Process.Component == history.ComponentEtcd
	case ev.Fault != nil:
		disturbed = ev.Member == m.leader
	case ev.Stored != nil && ev.Stored.Key == leaderLease:
		before := m.leader
		m.leader = ""
		if ev.Stored.Lease != nil {
			m.leader = w.memberOfHost(ev.Stored.Lease.Holder)
		}
		disturbed = m.leader != before
	default:
		return
	}
	able := m.running[m.leader] > 0 && !m.paused[m.leader] && w.serves(m.leader) && !w.faulty(m.leader)
	if able && (disturbed || !m.able) {
		m.ableSince = ev.At
	}
	m.able = able
}

func (m *managers) takeProcess(ev *history.Event) {
	switch p := ev.Process; p.Change {
	case history.ProcessStarted:
		m.seen = true
		m.running[ev.Member] = p.Instance
		delete(m.paused, ev.Member)
	case history.ProcessExited:
		if m.running[ev.Member] == p.Instance {
			delete(m.running, ev.Member)
			delete(m.paused, ev.Member)
		}
	case history.ProcessPaused:
		m.paused[ev.Member] = true
	case history.ProcessResumed:
		delete(m.paused, ev.Member)
	}
}

// memberOfHost names the member on whose host the holder of a Lease runs; it is
// empty where that is none.
func (w *World) memberOfHost(holder string) string {
	if i := w.Header.MemberOf(holder); i >= 0 {
		return w.Header.Members[i].Name
	}
	return ""
}

// serves is whether an API server of the member lives.
func (w *World) serves(member string) bool {
	in := w.servers[member].current()
	return in != nil && in.exitedAt == 0
}

// answers is whether the member's API server has come as far as to serve requests: its
// process lives, and was ready once.
func (w *World) answers(member string) bool {
	return w.serves(member) && w.servers[member].current().ready != nil
}

// faulty is whether a fault is at the member that was not healed so far.
func (w *World) faulty(member string) bool {
	for _, f := range w.faults {
		if f.Member == member && !f.Healed {
			return true
		}
	}
	return false
}

// hadTime is whether the collector has had nothing in its way for a bound, since
// there was something for it to do.
func (m *managers) hadTime(a aways, now, since int64, bound int64) bool {
	since = max(since, m.ableSince)
	return m.able && now-since > bound+int64(a.between(since, now))
}
