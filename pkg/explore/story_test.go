package explore

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func header() history.Header {
	return history.Header{Members: []history.MemberHeader{{Name: "cp1", Release: "1.2", Host: "host-a"}, {Name: "cp2", Release: "1.2"}, {Name: "cp3", Release: "1.2"}}}
}

// follow gives the states of some events.
func follow(events ...history.Event) *states {
	s := newStates(header())
	for i := range events {
		events[i].Seq, events[i].At = int64(i+1), int64(time.Duration(i+1)*time.Second)
		s.take(&events[i])
	}
	return s
}

func started(member, release string) history.Event {
	return history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{Component: history.ComponentAPIServer, Change: history.ProcessStarted, Release: release}}
}

func led(holder string) history.Event {
	return history.Event{Kind: history.KindStored, Stored: &history.Stored{Key: leaderKey, Lease: &history.Lease{Holder: holder}}}
}

func faulted(id, member string, phase history.Phase) history.Event {
	return history.Event{Kind: history.KindFault, Member: member, Fault: &history.Fault{ID: id, Type: "PodChaos", Action: "pod-failure", Component: "apiserver", Phase: phase}}
}

func migrated(kind string) history.Event {
	m := &history.Migration{Resource: "crates"}
	if kind != "" {
		m.Conditions = []history.Condition{{Type: kind, Status: "True"}}
	}
	return history.Event{Kind: history.KindStored, Stored: &history.Stored{Key: "/registry/x", Migration: m}}
}

func TestStates_FollowSkewLeaderMigrationAndFaults(t *testing.T) {
	s := follow(
		led("host-a_1"), started("cp1", "1.3"), led(""), led("cp2_9"), migrated(""), migrated(history.MigrationRunning),
		faulted("f", "cp2", history.PhaseInject), faulted("f", "cp2", history.PhaseHeal), started("cp1", "1.2"),
	)
	want := []string{
		"skew 0:3 | leader none | migration none | faults ",
		"skew 0:3 | leader one | migration none | faults ",
		"skew 0:2 1:1 | leader newest | migration none | faults ",
		"skew 0:2 1:1 | leader none | migration none | faults ",
		"skew 0:2 1:1 | leader older | migration none | faults ",
		"skew 0:2 1:1 | leader older | migration created | faults ",
		"skew 0:2 1:1 | leader older | migration Running | faults ",
		"skew 0:2 1:1 | leader older | migration Running | faults PodChaos/pod-failure apiserver at leader",
		"skew 0:2 1:1 | leader older | migration Running | faults ",
		"skew 0:3 back | leader one | migration Running | faults ",
	}
	var got []string
	for _, m := range s.marks {
		got = append(got, m.state)
	}
	if !slices.Equal(got, want) {
		t.Errorf("states\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	features := s.features(map[requirement.ID][]law.Entry{"SV-01": {law.Of("a", fact.Exactly(0, 8)).Met(), law.Of("b", fact.Exactly(0, 7)).Met(), law.Of("c", fact.Exactly(0, 7)).Met()}})
	added := slices.DeleteFunc(slices.Clone(features), func(f string) bool { return !strings.HasSuffix(f, "SV-01") })
	if len(added) != 2 || len(features) != 9+2 {
		t.Errorf("%d features, of obligations %q", len(features), added)
	}
}

func TestFingerprint_LeavesOutWhatDiffersFromRunToRun(t *testing.T) {
	s := follow(faulted("f", "cp2", history.PhaseInject))
	of := func(why, member string, seq int64) Fingerprint {
		entry := law.Of("x", fact.Exactly(0, seq)).By(member).Broken("%s", why)
		result := check.Result{ID: "SV-06", Violations: []law.Violation{{Message: why}}}
		return findsOf(&result, []law.Entry{entry}, s)[0].Fingerprint
	}
	one := of(`cp2 wrote core.configmaps in "v1beta1" 3.2s after event 412`, "cp2", 1)
	same := of(`cp3 wrote apps.deployments in "v1" 17ms after event 9`, "cp3", 0)
	if one.Kind != same.Kind || one.Role != "struck member" || same.Role != "bystander" {
		t.Errorf("%+v, %+v", one, same)
	}
	if other := of("cp2 refused a write for 4s", "cp2", 1); other.Kind == one.Kind {
		t.Errorf("another kind of breach has the same kind %q", other.Kind)
	}
	if one.Folder() == same.Folder() || !strings.HasPrefix(one.Folder(), "sv-06-") {
		t.Errorf("folders %s and %s", one.Folder(), same.Folder())
	}
}

func TestFingerprint_IsOneWhateverMembersAreCalled(t *testing.T) {
	kind := func(names ...string) string {
		var h history.Header
		for _, name := range names {
			h.Members = append(h.Members, history.MemberHeader{Name: name})
		}
		return kindOfBreach("broken", "", names[0]+" and "+names[2]+" served what "+names[1]+" had deleted: its cpu was idle", newStates(h))
	}
	want := kind("cp1", "cp2", "cp3")
	for _, names := range [][]string{{"cp1", "cp1-a", "cp11"}, {"cp1-1", "cp", "cp1"}, {"member-1", "member-2", "member-3"}} {
		if got := kind(names...); got != want {
			t.Errorf("of members %q it is %q, and else %q", names, got, want)
		}
	}
}

// A breach while a fault lasts is of the member that it is at, however long it lasts: made shorter,
// it has the same fingerprint.
func TestFingerprint_OfAMemberUnderALongFault(t *testing.T) {
	events := []history.Event{faulted("f", "cp2", history.PhaseInject), faulted("f", "cp2", history.PhaseWitness)}
	for range 40 {
		events = append(events, led("cp1_1"))
	}
	events = append(events, faulted("f", "cp2", history.PhaseHeal), history.Event{Kind: history.KindStep, Member: "cp3", Step: &history.Step{Index: 3, Phase: history.PhaseBegin}})
	for range 40 {
		events = append(events, led("cp1_1"))
	}
	s := follow(events...)
	for _, tc := range []struct {
		member string
		seq    int64
		want   string
	}{
		{"cp2", 1, "struck member"}, {"cp2", 30, "struck member"}, {"cp2", 50, "struck member"}, {"cp2", 60, "bystander"},
		{"cp3", 30, "bystander"}, {"cp3", 84, "struck member"}, {"cp1", 30, "bystander"},
	} {
		if got := s.roleAt(tc.member, tc.seq); got != tc.want {
			t.Errorf("at event %d %s is a %s, want %s", tc.seq, tc.member, got, tc.want)
		}
	}
}

// told are events of a history in memory.
type told struct {
	header history.Header
	events []history.Event
}

func (e *told) Header() history.Header { return e.header }
func (e *told) Damage() []string       { return nil }
func (e *told) Next() (*history.Event, error) {
	if len(e.events) == 0 {
		return nil, io.EOF
	}
	next := e.events[0]
	e.events = e.events[1:]
	return &next, nil
}

func TestTell_HistoryWithoutEndIsDoubtful(t *testing.T) {
	story, err := Tell(&told{header: header()})
	if err != nil {
		t.Fatal(err)
	}
	if len(story.Doubts) == 0 || len(story.Finds) != 0 || len(story.Passed) != 0 {
		t.Errorf("%+v", story)
	}
}
