package storageversion_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// historyBuilder is a history that a test builds line by line. Members are a, b and c,
// whose servers are ida, idb and idc; times are in milliseconds.
type historyBuilder struct {
	header history.Header
	events []history.Event
	now    int64
	next   int // of the events to read
	// heard is when the recorder of etcd heard of it last, while it tells late; 0 otherwise.
	heard  int64
	broken []string
}

// epoch is when the first event is, by the clock of the history.
const epoch = time.Minute

const (
	group  = "g.io"
	things = "g.io.things"
	v1     = "g.io/v1"
	v2     = "g.io/v2"
)

var started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newHistory() *historyBuilder {
	h := history.Header{Started: started, Writes: []history.WrittenResource{
		{Group: group, Resource: "things", Kind: "Thing"}, {Resource: "configmaps", Kind: "ConfigMap"}, {Group: "custom.io", Resource: "soundings", Kind: "Sounding"},
	}}
	for _, name := range []string{"a", "b", "c"} {
		h.Members = append(h.Members, history.MemberHeader{Name: name, ServerID: "id" + name, Release: "1"})
	}
	// The first event is later than the beginning, as in any history.
	return &historyBuilder{header: h, now: int64(epoch)}
}

func (t *historyBuilder) Header() history.Header { return t.header }
func (t *historyBuilder) Damage() []string       { return t.broken }

func (t *historyBuilder) Next() (*history.Event, error) {
	if t.next == len(t.events) {
		return nil, io.EOF
	}
	t.next++
	ev := t.events[t.next-1]
	return &ev, nil
}

func (t *historyBuilder) add(ev history.Event) *historyBuilder {
	ev.Seq, ev.At = int64(len(t.events)+1), t.now
	if ev.RecorderDelayed != nil {
		t.heard = ev.From
	}
	if ev.From == 0 {
		// What changed was recorded at once, unless a test says otherwise.
		ev.From = t.now
		if ev.Stored != nil && t.heard > 0 {
			ev.From = t.heard
		}
	}
	t.events = append(t.events, ev)
	t.now += int64(time.Millisecond)
	return t
}

func (t *historyBuilder) pass(d time.Duration) *historyBuilder {
	t.now, t.heard = t.now+int64(d), 0
	return t
}

func (t *historyBuilder) starts(member string, instance int) *historyBuilder {
	return t.server(member, instance, history.ProcessStarted)
}

func (t *historyBuilder) exits(member string, instance int) *historyBuilder {
	return t.server(member, instance, history.ProcessExited)
}

// server is a change in the life of a member's API server.
func (t *historyBuilder) server(member string, instance int, change string) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: change, Instance: instance}})
}

func (t *historyBuilder) ready(member string, code int, revision int64) *historyBuilder {
	return t.add(history.Event{Kind: history.KindReady, Member: member, From: t.now, Ready: &history.Ready{Code: code, Revision: revision}})
}

func (t *historyBuilder) stored(s history.Stored) *historyBuilder {
	return t.add(history.Event{Kind: history.KindStored, Stored: &s})
}

func (t *historyBuilder) joins(member string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "id" + member, Revision: revision, Created: revision, Lease: &history.Lease{Identity: true}})
}

// renews has the identity Lease that was made at the created revision renewed,
// so long after the beginning; it lasts 10 s.
func (t *historyBuilder) renews(member string, revision, created int64, after time.Duration) *historyBuilder {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return t.stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "id" + member, Revision: revision, Created: created,
		Lease: &history.Lease{Identity: true, Duration: 10, Renewed: begin.Add(epoch + after)}})
}

func (t *historyBuilder) leaves(member string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: identityLeasePrefix + "id" + member, Revision: revision})
}

// says has a StorageVersion with entries such as "a=g.io/v1", which decode and
// serve both versions; the agreed version is what they all say, or none.
func (t *historyBuilder) says(name string, revision int64, entries ...string) *historyBuilder {
	sv := content(entries...)
	if value, equal := fact.Agreed(sv.Entries); equal {
		sv.Common = &value
	}
	sv.Conditions[0].Status = "False"
	if sv.Common != nil {
		sv.Conditions[0].Status = "True"
	}
	return t.put(name, revision, sv)
}

// disagrees is says without an agreed version, whatever the entries.
func (t *historyBuilder) disagrees(name string, revision int64, entries ...string) *historyBuilder {
	return t.put(name, revision, content(entries...))
}

func content(entries ...string) *history.StorageVersion {
	sv := &history.StorageVersion{Conditions: []history.Condition{{Type: conditionType, Status: "False", Reason: "r", Message: "m"}}}
	for _, e := range entries {
		member, version, _ := strings.Cut(e, "=")
		both := []string{v1, v2}
		if version != v1 && version != v2 {
			both = []string{version}
		}
		sv.Entries = append(sv.Entries, history.Entry{ServerID: "id" + member, Encoding: version, Decodable: both, Served: both})
	}
	return sv
}

func (t *historyBuilder) put(name string, revision int64, sv *history.StorageVersion) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: storageVersionPrefix + name, Name: name, Revision: revision, StorageVersion: sv})
}

func (t *historyBuilder) deletes(name string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: storageVersionPrefix + name, Name: name, Revision: revision})
}

// writes stores a tagged thing.
func (t *historyBuilder) writes(member, version string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/g.io/things/x", Name: "x", Revision: revision,
		APIVersion: version, ObjectKind: "Thing", Writer: member, Write: revision})
}

// asks is a guarded update of a thing; it took 2 ms.
func (t *historyBuilder) asks(member string, code int, revision int64, changes ...func(*history.Event)) *historyBuilder {
	ev := history.Event{Kind: history.KindRequest, Member: member, From: t.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "update", Group: group, Version: "v1", Resource: "things", Name: "x",
		Code: code, ResourceVersion: revision, Barrier: code == 503,
	}}
	for _, change := range changes {
		change(&ev)
	}
	t.now += 2 * int64(time.Millisecond)
	return t.add(ev)
}

func says(message string) func(*history.Event) {
	return func(ev *history.Event) { ev.Request.Message = message }
}

func verb(verb string) func(*history.Event) {
	return func(ev *history.Event) { ev.Request.Verb = verb }
}

// sentBefore moves the start of a request.
func sentBefore(d time.Duration) func(*history.Event) {
	return func(ev *history.Event) { ev.From -= int64(d) }
}

func tampering(name string) func(*history.Event) {
	return func(ev *history.Event) {
		ev.Request.Verb, ev.Request.Group, ev.Request.Resource, ev.Request.Name = "delete", storageVersionGroup, "storageversions", name
	}
}

// unleasing makes a request one of the harness to delete a server's identity Lease.
func unleasing(member string) func(*history.Event) {
	return func(ev *history.Event) {
		ev.Request.Verb, ev.Request.Group, ev.Request.Resource, ev.Request.Name = "delete", "coordination.k8s.io", "leases", "kube-system/id"+member
	}
}

// thing is the built-in resource that most tests are about.
func thing() history.HostedResource {
	return history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Served: []string{v1, v2}, Persisted: true}
}

// hosts has a member's discovery list things and what else is given.
func (t *historyBuilder) hosts(member string, revision int64, more ...history.HostedResource) *historyBuilder {
	return t.lists(member, revision, append([]history.HostedResource{thing()}, more...)...)
}

func (t *historyBuilder) lists(member string, revision int64, resources ...history.HostedResource) *historyBuilder {
	return t.add(history.Event{Kind: history.KindHostedResources, Member: member, From: t.now, HostedResources: &history.HostedResources{Revision: revision, Resources: resources}})
}

func (t *historyBuilder) holds(phase history.Phase, revision int64) *historyBuilder {
	return t.add(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: "h", Phase: phase, Revision: revision,
		Releases: map[string]string{"a": "1", "b": "1", "c": "1"}}})
}

func (t *historyBuilder) step(action string) *historyBuilder {
	return t.add(history.Event{Kind: history.KindStep, Step: &history.Step{Action: action, Phase: history.PhaseEnd}})
}

func (t *historyBuilder) shows(member, what string, common *string) *historyBuilder {
	ev := history.Event{Kind: history.KindWatch, Member: member, Watch: &history.Watch{Resource: "storageversions", Type: what}}
	if what != history.WatchOpened && what != history.WatchBroken {
		ev.Watch.Name, ev.Watch.StorageVersion = things, &history.StorageVersion{Common: common}
	}
	return t.add(ev)
}

func (t *historyBuilder) gap(source string) *historyBuilder {
	return t.add(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: source, Message: "m"}})
}

// judge ends the historyBuilder in good order, and judges it.
func (t *historyBuilder) judge(test *testing.T, ids ...requirement.ID) []check.Result {
	test.Helper()
	if len(t.events) == 0 || t.events[len(t.events)-1].End == nil {
		t.ends()
	}
	var all []requirement.Requirement
	for _, id := range ids {
		r, ok := requirement.Lookup(id)
		if !ok {
			test.Fatalf("no requirement %s", id)
		}
		all = append(all, r)
	}
	t.next = 0
	j, err := check.Judge(t, all)
	if err != nil {
		test.Fatal(err)
	}
	return j.Results
}

// ends has the run end in good order.
func (t *historyBuilder) ends() *historyBuilder {
	return t.add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
}

// blames wants one violation of each message, in order; none means that
// nothing may be blamed.
func (t *historyBuilder) blames(test *testing.T, id requirement.ID, messages ...string) check.Result {
	test.Helper()
	r := t.judge(test, id)[0]
	var got []string
	for _, v := range r.Violations {
		got = append(got, v.Message)
		for _, seq := range v.Evidence {
			if seq < 1 || int(seq) > len(t.events) {
				test.Errorf("evidence %d is no event", seq)
			}
		}
	}
	if !slices.EqualFunc(got, messages, strings.Contains) {
		test.Errorf("%s blames %q, want %q (%q)", id, got, messages, r.Reasons)
	}
	if strings.Contains(fmt.Sprint(r.Reasons), "crashed") {
		test.Errorf("%s: %q", id, r.Reasons)
	}
	if len(messages) > 0 && r.Verdict != check.Fail {
		test.Errorf("%s is %s", id, r.Verdict)
	}
	return r
}

// saw wants an observation to have been counted so often.
func counted(test *testing.T, r check.Result, what string, n int64) {
	test.Helper()
	for _, o := range r.Observations {
		if strings.Contains(o.What, what) {
			if o.Seen != n {
				test.Errorf("saw %d %s, want %d", o.Seen, o.What, n)
			}
			return
		}
	}
	test.Errorf("%s counts no %q: %v", r.ID, what, r.Observations)
}

func reason(test *testing.T, r check.Result, want string) {
	test.Helper()
	if !strings.Contains(fmt.Sprint(r.Reasons), want) {
		test.Errorf("%s gives the reasons %q, not %q", r.ID, r.Reasons, want)
	}
}

// agreed is the content of an agreed version.
func agreed(version string) *string { return &version }

// Bounds and needs by the catalog.
var (
	tamperRepaired    = requirement.MustBound("SV-03", "tamperRepaired")
	departedEntryGoes = requirement.MustBound("SV-16", "departedGoes")
	collectorStarts   = requirement.MustBound("SV-16", "collectorStarts")
	joiningShows      = requirement.MustBound("SV-08", "joiningShows")
	agreementSettles  = requirement.MustBound("SV-06", "agreementForms")
	registers         = requirement.MustBound("SV-10", "registers")
	stormy            = requirement.MustBound("SV-10", "editsAtLeastEvery")
	finishesWithin    = requirement.MustBound("SV-15", "finishesWithin")
	answersForSlow    = int(requirement.MustNumber("SV-12", "answersForSlow"))
	needBlindLookups  = int(need("SV-20", "blind"))
	needDepartures    = need("SV-16", "gone")
	needSilentWrites  = need("SV-25", "skewed")
	needWritesEach    = need("SV-15", "writesEach")
)

func need(id requirement.ID, name string) int64 {
	r, _ := requirement.Lookup(id)
	return r.MustNeed(name).Least
}

// recorderLag is longer than the recorder of etcd needs to tell of a change.
const recorderLag = 5 * time.Second

const (
	storageVersionGroup  = "internal.apiserver.k8s.io"
	identityLeasePrefix  = fact.IdentityLeasePrefix
	storageVersionPrefix = fact.StorageVersionPrefix
	leaderLease          = fact.IdentityLeasePrefix + "kube-controller-manager"
	conditionType        = "AllEncodingVersionsEqual"
	storageVersionsPath  = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"
	leasesPath           = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
)

// unheard lets time pass in which the recorder of etcd hears nothing.
func (t *historyBuilder) unheard(d time.Duration) *historyBuilder { return t.pass(d).away(d) }
