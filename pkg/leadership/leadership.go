// Package leadership derives from a history which process leads by which Lease at any
// moment, and whether the leader is newer than an API server, which the version skew policy
// forbids. It only counts; package check gives verdicts.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package leadership

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// Process is the last process of a component.
type Process struct {
	Release  string
	Instance int
	// Alive is whether it has not ended, and Paused whether it is frozen.
	Alive, Paused bool
}

// able returns whether the process could act: it lives and is not paused.
func (p *Process) able() bool { return p != nil && p.Alive && !p.Paused }

// Lease is a Lease of a leader election.
type Lease struct {
	// Name is <namespace>/<name>.
	Name string
	// Holder is the holderIdentity of the Lease; empty if the Lease has no holder.
	Holder string
	// Member is the member that the holder runs on; empty if it runs on none.
	Member string
	// Changes counts how often the Lease got another holder than before.
	Changes int

	// before is the last holder if the Lease has none now, and until is when the Lease
	// expires unless its holder renews it.
	before string
	until  int64
}

// Stretch is a time during which the state of one Lease did not change.
type Stretch struct {
	Lease *Lease
	// Led is for how long a process that could act held the unexpired Lease, and Absent
	// for how long none did. The harness does not see whether a holder outside of the
	// members lives: it counts as one that can act.
	Led, Absent time.Duration
	// Skewed is for how long of Led the leader was of a newer release than the oldest
	// API server that ran.
	Skewed time.Duration
}

// Tracker tracks the Leases and processes of a history.
type Tracker struct {
	header    history.Header
	now       int64
	processes map[key]*Process
	leases    map[string]*Lease
}

type key struct{ member, component string }

// New returns a Tracker for the history with this header.
func New(header history.Header) *Tracker {
	return &Tracker{header: header, processes: map[key]*Process{}, leases: map[string]*Lease{}}
}

// Take processes the next event; events must come in their order. It returns the Stretch of
// each Lease since the event before, in the order of their names.
func (t *Tracker) Take(ev *history.Event) []Stretch {
	out := t.advance(ev.At)
	switch {
	case ev.Process != nil:
		t.takeProcess(ev.Member, ev.Process)
	case ev.Stored != nil:
		t.takeStored(ev)
	}
	return out
}

// Process returns the last process of a component; nil if none was started.
func (t *Tracker) Process(member, component string) *Process {
	return t.processes[key{member, component}]
}

// Leases that were seen, in the order of their names.
func (t *Tracker) Leases() []*Lease {
	var out []*Lease
	for _, name := range slices.Sorted(maps.Keys(t.leases)) {
		out = append(out, t.leases[name])
	}
	return out
}

// Skewed is whether the leader by a Lease can act, and is of a newer release than
// the oldest API server that runs.
func (t *Tracker) Skewed(l *Lease) bool {
	p := t.leader(l)
	return p.able() && t.now <= l.until && newer(p, t.oldestServer())
}

// leader is the process that holds a Lease; nil if it is none of a member.
func (t *Tracker) leader(l *Lease) *Process {
	return t.Process(l.Member, LedBy(l.Name))
}

func (t *Tracker) advance(now int64) []Stretch {
	oldest := t.oldestServer()
	var out []Stretch
	for _, l := range t.Leases() {
		s, p := Stretch{Lease: l}, t.leader(l)
		if l.Holder != "" && (l.Member == "" || p.able()) {
			s.Led = time.Duration(max(min(now, l.until)-t.now, 0))
		}
		s.Absent = time.Duration(now-t.now) - s.Led
		if newer(p, oldest) {
			s.Skewed = s.Led
		}
		out = append(out, s)
	}
	t.now = now
	return out
}

// newer is whether a process behaves like a newer release than the oldest API server.
func newer(p *Process, oldest string) bool {
	if p == nil || oldest == "" {
		return false
	}
	return release.Compare(oldest, release.Parse(p.Release).Behaves()) < 0
}

// oldestServer is the oldest release that an API server which runs behaves like; empty if none does
// whose release is known.
func (t *Tracker) oldestServer() string {
	oldest := ""
	for k, p := range t.processes {
		if k.component != history.ComponentAPIServer || !p.Alive {
			continue
		}
		behaves := release.Parse(p.Release).Behaves()
		if release.Valid(behaves) && (oldest == "" || release.Compare(behaves, oldest) < 0) {
			oldest = behaves
		}
	}
	return oldest
}

func (t *Tracker) takeProcess(member string, p *history.Process) {
	k := key{member, p.Component}
	known := t.processes[k]
	if known == nil {
		known = &Process{}
		t.processes[k] = known
	}
	switch p.Change {
	case history.ProcessStarted:
		*known = Process{Release: p.Release, Instance: p.Instance, Alive: true}
	case history.ProcessExited:
		// The end of a process may be recorded after the start of the next one.
		if p.Instance == known.Instance {
			known.Alive, known.Paused = false, false
		}
	case history.ProcessPaused:
		known.Paused = true
	case history.ProcessResumed:
		known.Paused = false
	}
}

// leasePrefix is the prefix of the keys of Leases in etcd.
const leasePrefix = "/registry/leases/"

func (t *Tracker) takeStored(ev *history.Event) {
	s := ev.Stored
	if !strings.HasPrefix(s.Key, leasePrefix) || strings.HasPrefix(s.Key, leasePrefix+corev1.NamespaceNodeLease+"/") {
		return
	}
	name := strings.TrimPrefix(s.Key, leasePrefix)
	l := t.leases[name]
	switch {
	case s.Type == history.StoredDelete:
		if l != nil {
			t.give(l, "")
		}
		return
	case s.Lease == nil || s.Lease.Identity:
		return
	case l == nil:
		l = &Lease{Name: name}
		t.leases[name] = l
	}
	if s.Lease.Holder != l.Holder {
		t.give(l, s.Lease.Holder)
	}
	l.until = ev.At + int64(time.Duration(s.Lease.Duration)*time.Second)
}

// give sets the holder of a Lease.
func (t *Tracker) give(l *Lease, holder string) {
	if l.before != "" && holder != "" && holder != l.before {
		l.Changes++
	}
	l.Holder, l.Member = holder, ""
	if holder == "" {
		return
	}
	l.before = holder
	if i := t.header.MemberOf(holder); i >= 0 {
		l.Member = t.header.Members[i].Name
	}
}

// Leases of other components than the controller managers.
const (
	leaseScheduler   = "kube-system/kube-scheduler"
	leaseCoordinator = "kube-system/leader-election-controller"
)

// LedBy returns the component whose processes lead by a Lease, which is given as
// <namespace>/<name>.
func LedBy(lease string) string {
	switch lease {
	case leaseScheduler:
		return history.ComponentScheduler
	case leaseCoordinator:
		return history.ComponentAPIServer
	default:
		return history.ComponentControllerManager
	}
}
