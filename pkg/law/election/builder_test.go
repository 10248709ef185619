package election_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	leasePrefix       = "/registry/leases/"
	candidatePrefix   = "/registry/leasecandidates/"
	coordinatorsLease = "kube-system/leader-election-controller"
	managersLease     = "kube-system/kube-controller-manager"
	probeLease        = "kube-system/evenkeel-rowers"
	fieldProbes       = "kube-system/evenkeel-fields-"

	oldestStrategy     = "OldestEmulationVersion"
	newestStrategy     = "NewestEmulationVersion"
	notCoordinated     = "NoCoordination"
	thirdPartyStrategy = "example.com/draft"

	killed = "signal: killed"
	failed = "exit status 1"
)

var started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// electionBuilder builds the history of a control plane of the members a, b and c event
// by event. Each event takes a millisecond; each change in etcd makes the revision that
// is the number of its event. All clocks of the control plane agree with the recorder's.
type electionBuilder struct {
	header history.Header
	events []history.Event
	now    int64
	// managers counts the processes of each member's controller manager.
	managers map[string]int
}

func newElection() *electionBuilder {
	b := &electionBuilder{header: history.Header{Started: started}, managers: map[string]int{}}
	for _, name := range []string{"a", "b", "c"} {
		b.header.Members = append(b.header.Members, history.MemberHeader{Name: name, ServerID: "id" + name, Release: "1"})
	}
	return b
}

// controlPlane has the coordinator at a, and the controller managers of a, b and c stand
// as the candidates a_1, b_1 and c_1 of the given versions.
func controlPlane(versions ...string) *electionBuilder {
	b := newElection()
	for _, member := range []string{"a", "b", "c"} {
		b.startServer(member, 1).ready(member, 200)
	}
	b.storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 3600})
	for i, version := range versions {
		member := []string{"a", "b", "c"}[i]
		b.manager(member, history.ProcessStarted, "").declare(member+"_1", managersLease, version)
	}
	return b.wait(3 * time.Second)
}

func (b *electionBuilder) add(ev history.Event) *electionBuilder {
	ev.Seq, ev.At = int64(len(b.events)+1), b.now
	b.events = append(b.events, ev)
	b.now += int64(time.Millisecond)
	return b
}

// wall is what the clocks of the control plane show.
func (b *electionBuilder) wall() time.Time { return started.Add(time.Duration(b.now)) }

// wait lets time pass in which no recorder tells of anything.
func (b *electionBuilder) wait(d time.Duration) *electionBuilder {
	b.now += int64(d)
	return b
}

// waitWithChanges lets time pass in which the recorder of etcd tells of other objects.
func (b *electionBuilder) waitWithChanges(d time.Duration) *electionBuilder {
	for until := b.now + int64(d); b.now < until; b.wait(2 * time.Second) {
		b.changeAnother()
	}
	return b
}

// waitWithoutEtcd lets time pass in which only the recorder of /readyz tells of anything.
func (b *electionBuilder) waitWithoutEtcd(d time.Duration) *electionBuilder {
	for until := b.now + int64(d); b.now < until; {
		b.wait(time.Second).ready("a", 200)
	}
	return b
}

// etcdDelayed tells that the recorder of etcd heard nothing for a time until now.
func (b *electionBuilder) etcdDelayed(d time.Duration) *electionBuilder {
	return b.add(history.Event{Kind: history.KindRecorderDelayed, From: b.now - int64(d), RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}})
}

// midway is what a run would have recorded that began right before an event.
func (b *electionBuilder) midway(t *testing.T, at int) *electionBuilder {
	t.Helper()
	header, events, ok := story.Midway(b.header, b.events, at)
	if !ok {
		t.Fatal("no run can begin there")
	}
	return &electionBuilder{header: header, events: events, now: events[len(events)-1].At + 1, managers: b.managers}
}

func (b *electionBuilder) store(s history.Stored) *electionBuilder {
	s.Revision = int64(len(b.events) + 1)
	s.Created = s.Revision
	for _, ev := range slices.Backward(b.events) {
		if ev.Stored != nil && ev.Stored.Key == s.Key {
			if ev.Stored.Type == history.StoredPut {
				s.Created = ev.Stored.Created
			}
			break
		}
	}
	return b.add(history.Event{Kind: history.KindStored, Stored: &s})
}

func (b *electionBuilder) changeAnother() *electionBuilder {
	return b.store(history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/default/other"})
}

func (b *electionBuilder) startServer(member string, instance int) *electionBuilder {
	return b.server(member, history.ProcessStarted, instance)
}

// endServer has the API server of a member end; the recorder of /readyz gets no answer
// from then on.
func (b *electionBuilder) endServer(member string, instance int) *electionBuilder {
	return b.server(member, history.ProcessExited, instance).ready(member, 0)
}

func (b *electionBuilder) server(member, change string, instance int, off ...string) *electionBuilder {
	return b.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: change, Instance: instance, DisabledFeatures: off}})
}

func (b *electionBuilder) ready(member string, code int) *electionBuilder {
	return b.add(history.Event{Kind: history.KindReady, Member: member, From: b.now, Ready: &history.Ready{Code: code}})
}

// manager changes the controller manager of a member; the harness ends it where it is
// killed.
func (b *electionBuilder) manager(member, change, exit string) *electionBuilder {
	return b.managerOf(member, change, exit, "")
}

func (b *electionBuilder) managerOf(member, change, exit, release string, off ...string) *electionBuilder {
	if change == history.ProcessStarted {
		b.managers[member]++
	}
	return b.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentControllerManager, Change: change, Exit: exit, Expected: exit == killed, Release: release,
		Instance: b.managers[member], DisabledFeatures: off,
	}})
}

// storeLease stores a Lease, renewed now and for 15 s where it does not say otherwise.
func (b *electionBuilder) storeLease(key string, l history.Lease) *electionBuilder {
	if l.Renewed.IsZero() {
		l.Renewed = b.wall()
	}
	if l.Duration == 0 {
		l.Duration = 15
	}
	return b.store(history.Stored{Type: history.StoredPut, Key: leasePrefix + key, Lease: &l})
}

// coordinate has the coordinator at a renew its Lease for so long.
func (b *electionBuilder) coordinate(d time.Duration) *electionBuilder {
	return b.storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: int(d / time.Second)})
}

// elect has the coordinator at a elect a leader, which renews the Lease.
func (b *electionBuilder) elect(key, leader string) *electionBuilder {
	return b.electSilent(key, leader).renew(key, leader)
}

// electSilent has the coordinator at a elect a leader that does not renew the Lease.
func (b *electionBuilder) electSilent(key, leader string) *electionBuilder {
	return b.storeLease(key, history.Lease{Holder: leader, Strategy: oldestStrategy, Coordinator: "a_c", Duration: 10})
}

func (b *electionBuilder) renew(key, leader string) *electionBuilder {
	return b.storeLease(key, history.Lease{Holder: leader, Strategy: oldestStrategy, Coordinator: "a_c"})
}

// renewFor has a leader renew its Lease every 5 s for a time.
func (b *electionBuilder) renewFor(key, leader string, d time.Duration) *electionBuilder {
	for until := b.now + int64(d); b.now < until; b.wait(5 * time.Second) {
		b.renew(key, leader)
	}
	return b
}

// mark has the coordinator tell the leader to give way to another candidate.
func (b *electionBuilder) mark(key, leader, preferred string) *electionBuilder {
	return b.storeLease(key, history.Lease{Holder: leader, Preferred: preferred, Strategy: oldestStrategy, Coordinator: "a_c"})
}

// claim has an instance without coordination take or renew a Lease.
func (b *electionBuilder) claim(key, holder string) *electionBuilder {
	return b.storeLease(key, history.Lease{Holder: holder})
}

// deleteLease deletes a Lease, which the harness did not ask for.
func (b *electionBuilder) deleteLease(key string) *electionBuilder {
	return b.store(history.Stored{Type: history.StoredDelete, Key: leasePrefix + key})
}

// deleteLeaseByHarness has the harness delete a Lease. It sends the request a moment
// before the recorder of etcd tells of the deletion.
func (b *electionBuilder) deleteLeaseByHarness(key string) *electionBuilder {
	from := b.now
	b.now += int64(time.Millisecond)
	return b.deleteLease(key).requestDeletion(key, from)
}

// requestDeletion adds a request of the harness to delete a Lease that was sent at a time
// and is answered now.
func (b *electionBuilder) requestDeletion(key string, from int64) *electionBuilder {
	return b.add(history.Event{Kind: history.KindRequest, Member: "a", From: from, Request: &history.Request{
		Class: history.ClassElection, Election: history.ElectionDelete, Verb: "delete", Resource: "leases", Name: key, Code: 200,
	}})
}

// declare stores a candidate of a version that renewed now.
func (b *electionBuilder) declare(name, lease, version string) *electionBuilder {
	return b.storeCandidate(name, lease, version, time.Time{}, b.wall())
}

// ping has the coordinator ping a candidate that renewed last at a time of the history.
func (b *electionBuilder) ping(name, lease, version string, renewed time.Duration) *electionBuilder {
	return b.storeCandidate(name, lease, version, b.wall(), started.Add(renewed))
}

func (b *electionBuilder) storeCandidate(name, lease, version string, pinged, renewed time.Time) *electionBuilder {
	return b.store(history.Stored{Type: history.StoredPut, Key: candidatePrefix + "kube-system/" + name, Candidate: &history.Candidate{
		Lease: nameOf(lease), Binary: version, Emulation: version, Strategy: oldestStrategy, Pinged: pinged, Renewed: renewed, Coordinator: "a_c",
	}})
}

// declareWith stores a candidate for the Lease of probes that wants a strategy.
func (b *electionBuilder) declareWith(name, strategy string) *electionBuilder {
	return b.store(history.Stored{Type: history.StoredPut, Key: candidatePrefix + "kube-system/" + name, Candidate: &history.Candidate{
		Lease: nameOf(probeLease), Binary: "1.2.0", Emulation: "1.2.0", Strategy: strategy, Renewed: b.wall()}})
}

func (b *electionBuilder) deleteCandidate(name string) *electionBuilder {
	return b.store(history.Stored{Type: history.StoredDelete, Key: candidatePrefix + "kube-system/" + name})
}

// act has an instance act as the leader of a Lease.
func (b *electionBuilder) act(key, holder string) *electionBuilder {
	return b.store(history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/kube-system/acting", LeaderAction: &history.LeaderAction{
		Lease: key, Holder: holder, Number: int64(len(b.events))}})
}

// fault has a fault at member b that is about the requests to a Lease go through phases.
func (b *electionBuilder) fault(kind, action, key string, phases ...history.Phase) *electionBuilder {
	for _, phase := range phases {
		b.add(history.Event{Kind: history.KindFault, Member: "b", Fault: &history.Fault{
			ID: "f", Type: kind, Action: action, Phase: phase, Proof: "p", Prefixes: []string{leasePrefix + key}}})
	}
	return b
}

// nameOf is the name of an object without its namespace.
func nameOf(key string) string { return key[strings.Index(key, "/")+1:] }

// judge judges the history, with an end in good order, by one requirement.
func (b *electionBuilder) judge(t testing.TB, id requirement.ID) check.Result {
	t.Helper()
	events := append(slices.Clone(b.events), history.Event{
		Seq: int64(len(b.events) + 1), At: b.now, Kind: history.KindEnd, End: &history.End{Complete: true}})
	return judgetest.Judge(t, &judgetest.Events{Head: b.header, Lines: events}, id)
}

// expectBreaches demands one breach of each message, in order; without messages, none. It
// gives the result.
func (b *electionBuilder) expectBreaches(t testing.TB, id requirement.ID, messages ...string) check.Result {
	t.Helper()
	r := b.judge(t, id)
	var got []string
	for _, v := range r.Violations {
		got = append(got, v.Message)
		for _, seq := range v.Evidence {
			if seq < 1 || int(seq) > len(b.events)+1 {
				t.Errorf("the evidence %d is no event", seq)
			}
		}
	}
	if !slices.EqualFunc(got, messages, strings.Contains) {
		t.Errorf("%s has the breaches %q, want %q\nreasons: %q\nobligations: %+v", id, got, messages, r.Reasons, r.Obligations)
	}
	if strings.Contains(strings.Join(r.Reasons, " "), "crashed") {
		t.Errorf("%s: %q", id, r.Reasons)
	}
	return r
}

// expectCount demands that so many observations of a kind were counted.
func expectCount(t testing.TB, r check.Result, what string, n int64) {
	t.Helper()
	for _, o := range r.Observations {
		if strings.Contains(o.What, what) {
			if o.Seen != n {
				t.Errorf("%s counts %d %s, want %d (%q, %+v)", r.ID, o.Seen, o.What, n, r.Reasons, r.Obligations)
			}
			return
		}
	}
	t.Errorf("%s counts no %q: %+v", r.ID, what, r.Observations)
}

// judgeEvents judges the events of a story by one requirement.
func judgeEvents(t testing.TB, header history.Header, events []history.Event, id requirement.ID) check.Result {
	t.Helper()
	var data bytes.Buffer
	if err := story.Write(&data, header, events); err != nil {
		t.Fatal(err)
	}
	return judgeFile(t, data.Bytes(), id)
}

// judgeFile judges a history file by one requirement.
func judgeFile(t testing.TB, data []byte, id requirement.ID) check.Result {
	t.Helper()
	reader, err := history.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := requirement.Lookup(id)
	if !ok {
		t.Fatalf("there is no requirement %s", id)
	}
	j, err := check.Judge(check.Read(reader), []requirement.Requirement{r})
	if err != nil {
		t.Fatal(err)
	}
	return j.Results[0]
}
