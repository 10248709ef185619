package leadership

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const managers = "kube-system/kube-controller-manager"

// tale feeds a tracker with events, and adds up what it says.
type tale struct {
	t     *Tracker
	spent map[string]Stretch
}

func newTale() *tale {
	return &tale{New(history.Header{Members: []history.MemberHeader{{Name: "cp1"}, {Name: "cp2"}}}), map[string]Stretch{}}
}

func (s *tale) take(second int, ev history.Event) {
	ev.At = int64(second) * int64(time.Second)
	for _, one := range s.t.Take(&ev) {
		sum := s.spent[one.Lease.Name]
		s.spent[one.Lease.Name] = Stretch{Led: sum.Led + one.Led, Absent: sum.Absent + one.Absent, Skewed: sum.Skewed + one.Skewed}
	}
}

func (s *tale) process(second int, member, component, change, release string, instance int) {
	s.take(second, history.Event{Member: member, Process: &history.Process{Component: component, Change: change, Release: release, Instance: instance}})
}

func (s *tale) lease(second int, name, holder string, l *history.Lease) {
	kind := history.StoredPut
	if l == nil {
		kind = history.StoredDelete
	} else {
		l.Holder, l.Duration = holder, 10
	}
	s.take(second, history.Event{Stored: &history.Stored{Type: kind, Key: leasePrefix + name, Lease: l}})
}

func (s *tale) want(t *testing.T, led, absent, skewed time.Duration) {
	t.Helper()
	got := s.spent[managers]
	if want := (Stretch{Led: led * time.Second, Absent: absent * time.Second, Skewed: skewed * time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTracker(t *testing.T) {
	s := newTale()
	s.process(0, "cp1", history.ComponentAPIServer, history.ProcessStarted, "v1.35.4", 1)
	s.process(0, "cp2", history.ComponentAPIServer, history.ProcessStarted, "v1.36.3", 1)
	s.process(0, "cp2", history.ComponentControllerManager, history.ProcessStarted, "v1.36.3", 1)
	s.lease(1, managers, "cp2_x", &history.Lease{})
	if l := s.t.Leases(); len(l) != 1 || l[0].Member != "cp2" || !s.t.Skewed(l[0]) {
		t.Fatalf("%+v", l)
	}
	// The Lease runs out at 11, and with it the leadership.
	s.take(15, history.Event{})
	s.want(t, 10, 4, 10)
	if s.t.Skewed(s.t.Leases()[0]) {
		t.Error("the leader counts as too new although the Lease has expired")
	}
	s.lease(16, managers, "cp2_x", &history.Lease{})
	// Without the old API server the leader is as old as can be.
	s.process(18, "cp1", history.ComponentAPIServer, history.ProcessExited, "", 1)
	s.process(19, "cp1", history.ComponentAPIServer, history.ProcessStarted, "v1.36.3", 2)
	// The end of the first one, told late, ends nothing.
	s.process(20, "cp1", history.ComponentAPIServer, history.ProcessExited, "", 1)
	if p := s.t.Process("cp1", history.ComponentAPIServer); !p.Alive || p.Release != "v1.36.3" {
		t.Errorf("%+v", p)
	}
	s.lease(21, managers, "", nil)
	s.lease(22, managers, "cp1_y", &history.Lease{})
	s.take(23, history.Event{})
	// Of cp1 no process is known that could lead.
	s.want(t, 15, 7, 12)
	if l := s.t.Leases()[0]; l.Changes != 1 || l.Holder != "cp1_y" {
		t.Errorf("%+v", l)
	}
}

func TestWhatIsNoLeadership(t *testing.T) {
	s := newTale()
	s.lease(1, "kube-node-lease/cp1", "cp1", &history.Lease{})
	s.lease(1, "kube-system/apiserver-x", "apiserver-x", &history.Lease{Identity: true})
	s.lease(1, "default/never-seen", "", nil)
	s.take(1, history.Event{Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/a/b"}})
	if l := s.t.Leases(); len(l) != 0 {
		t.Errorf("%+v", l)
	}
}

// A release that cannot be read is neither old nor new.
func TestUnknownReleases(t *testing.T) {
	s := newTale()
	s.process(0, "cp1", history.ComponentAPIServer, history.ProcessStarted, "mine", 1)
	s.process(0, "cp2", history.ComponentControllerManager, history.ProcessStarted, "v1.36.3", 1)
	s.lease(0, managers, "cp2_x", &history.Lease{})
	s.take(5, history.Event{})
	s.want(t, 5, 0, 0)
}

func TestLedBy(t *testing.T) {
	for lease, want := range map[string]string{
		managers: history.ComponentControllerManager, "kube-system/kube-scheduler": history.ComponentScheduler,
		"kube-system/leader-election-controller": history.ComponentAPIServer, "team/own": history.ComponentControllerManager,
	} {
		if got := LedBy(lease); got != want {
			t.Errorf("%s is led by the %s, want %s", lease, got, want)
		}
	}
}

// A leader is too new by what it behaves like, and not by its binaries.
func TestEmulatingLeaderIsNotTooNew(t *testing.T) {
	s := newTale()
	s.process(0, "cp1", history.ComponentAPIServer, history.ProcessStarted, "v1.36.3", 1)
	s.process(0, "cp2", history.ComponentControllerManager, history.ProcessStarted, "v1.37.1 emulating 1.36", 1)
	s.lease(1, managers, "cp2_x", &history.Lease{})
	if l := s.t.Leases(); len(l) != 1 || s.t.Skewed(l[0]) {
		t.Errorf("%+v", l)
	}
	s.process(2, "cp2", history.ComponentControllerManager, history.ProcessStarted, "v1.37.1", 2)
	if l := s.t.Leases(); len(l) != 1 || !s.t.Skewed(l[0]) {
		t.Errorf("raised it is %+v", l)
	}
}
