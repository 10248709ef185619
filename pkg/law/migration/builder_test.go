package migration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/law/migration/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// historyBuilder is a history that a test builds event by event, a millisecond apart.
// Members are a, b and c, whose servers are ida, idb and idc.
type historyBuilder struct {
	header history.Header
	events []history.Event
	now    int64
	// late is whether it is not known exactly when etcd made changes.
	late   bool
	writes int64
}

const (
	identityLeasePrefix  = fact.IdentityLeasePrefix
	storageVersionPrefix = fact.StorageVersionPrefix
	leaderLease          = identityLeasePrefix + "kube-controller-manager"

	group  = "g.io"
	things = "g.io.things"
	v1     = "g.io/v1"
	v2     = "g.io/v2"
)

func newHistory() *historyBuilder {
	h := history.Header{Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Writes: []history.WrittenResource{
		{Group: group, Resource: "things", Kind: "Thing"}, {Resource: "configmaps", Kind: "ConfigMap"}, {Group: "custom.io", Resource: "soundings", Kind: "Sounding"},
	}}
	for _, name := range []string{"a", "b", "c"} {
		h.Members = append(h.Members, history.MemberHeader{Name: name, ServerID: "id" + name, Release: "1"})
	}
	return &historyBuilder{header: h}
}

func (b *historyBuilder) add(ev history.Event) *historyBuilder {
	ev.Seq, ev.At = int64(len(b.events)+1), b.now
	b.events = append(b.events, ev)
	b.now += int64(time.Millisecond)
	return b
}

func (b *historyBuilder) after(d time.Duration) *historyBuilder { b.now += int64(d); return b }

// starves has the machine make processes wait for so long of the time up to now.
func (b *historyBuilder) starves(lasts, waited time.Duration) *historyBuilder {
	return b.add(history.Event{Kind: history.KindStarvation, From: b.now - int64(lasts), Starvation: &history.Starvation{CPU: int64(waited)}})
}

// stored is a change in etcd. Unless the recorder was delayed, a write of the revision
// before it tells when it was made.
func (b *historyBuilder) stored(s history.Stored) *historyBuilder {
	b.now = max(b.now, 1)
	if !b.late {
		at := b.now
		b.writes++
		b.add(history.Event{Kind: history.KindRequest, From: at, Member: "a", Request: &history.Request{Class: history.ClassReview, Verb: "create", Code: 201, Write: 1_000_000 + b.writes, ResourceVersion: s.Revision - 1}})
		b.now = at
	}
	return b.add(history.Event{Kind: history.KindStored, Stored: &s})
}

func (b *historyBuilder) process(member string, p history.Process) *historyBuilder {
	return b.add(history.Event{Kind: history.KindProcess, Member: member, From: max(b.now, 1), Process: &p})
}

func (b *historyBuilder) starts(member string, instance int) *historyBuilder {
	return b.process(member, history.Process{Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: instance})
}

func (b *historyBuilder) exits(member string, instance int) *historyBuilder {
	return b.process(member, history.Process{Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: instance, Expected: true})
}

// manager is a change in the life of a member's controller manager.
func (b *historyBuilder) manager(member, change string) *historyBuilder {
	return b.process(member, history.Process{Component: history.ComponentControllerManager, Change: change, Instance: 1})
}

// leads has the controller manager of a member hold the Lease of the leader.
func (b *historyBuilder) leads(member string, revision int64) *historyBuilder {
	return b.stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: revision, Lease: &history.Lease{Holder: member + "_1"}})
}

// manages has a member's API server and controller manager start, and the latter lead.
func (b *historyBuilder) manages(member string, revision int64) *historyBuilder {
	return b.starts(member, 1).ready(member, 200, 0).manager(member, history.ProcessStarted).leads(member, revision)
}

// controls is manages, as a later process of the member.
func (b *historyBuilder) controls(member string, revision int64) *historyBuilder {
	return b.starts(member, 50).ready(member, 200, 0).manager(member, history.ProcessStarted).leads(member, revision)
}

// waits lets time pass and tells of something that is of no interest.
func (b *historyBuilder) waits(d time.Duration) *historyBuilder {
	return b.after(d).ready("a", 200, 0)
}

// away has the recorder of etcd have heard nothing for a time; from then on it is not
// known exactly when changes were made.
func (b *historyBuilder) away(d time.Duration) *historyBuilder {
	b.late = true
	return b.add(history.Event{Kind: history.KindRecorderDelayed, From: b.now - int64(d), RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}})
}

func (b *historyBuilder) delayed(d time.Duration) *historyBuilder { return b.after(d).away(d) }

func (b *historyBuilder) ready(member string, code int, revision int64) *historyBuilder {
	return b.add(history.Event{Kind: history.KindReady, Member: member, From: b.now, Ready: &history.Ready{Code: code, Revision: revision}})
}

func (b *historyBuilder) joins(member string, revision int64) *historyBuilder {
	return b.stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "id" + member, Revision: revision, Created: revision, Lease: &history.Lease{Identity: true}})
}

func (b *historyBuilder) leaves(member string, revision int64) *historyBuilder {
	return b.stored(history.Stored{Type: history.StoredDelete, Key: identityLeasePrefix + "id" + member, Revision: revision})
}

// announces has a StorageVersion with entries such as "a=g.io/v1"; the agreed version is
// what they all say, or none.
func (b *historyBuilder) announces(name string, revision int64, entries ...string) *historyBuilder {
	sv := content(entries...)
	if versions := encodingsOf(sv); len(versions) == 1 {
		sv.Common = &versions[0]
	}
	return b.put(name, revision, sv)
}

func encodingsOf(sv *history.StorageVersion) []string {
	var out []string
	for _, e := range sv.Entries {
		if !slices.Contains(out, e.Encoding) {
			out = append(out, e.Encoding)
		}
	}
	return out
}

func content(entries ...string) *history.StorageVersion {
	sv := &history.StorageVersion{}
	for _, e := range entries {
		member, version, _ := strings.Cut(e, "=")
		sv.Entries = append(sv.Entries, history.Entry{ServerID: "id" + member, Encoding: version})
	}
	return sv
}

func (b *historyBuilder) put(name string, revision int64, sv *history.StorageVersion) *historyBuilder {
	return b.stored(history.Stored{Type: history.StoredPut, Key: storageVersionPrefix + name, Name: name, Revision: revision, StorageVersion: sv})
}

func (b *historyBuilder) deletes(name string, revision int64) *historyBuilder {
	return b.stored(history.Stored{Type: history.StoredDelete, Key: storageVersionPrefix + name, Name: name, Revision: revision})
}

// requests is a guarded update of a thing; it took 2 ms.
func (b *historyBuilder) requests(member string, code int, revision int64, changes ...func(*history.Event)) *historyBuilder {
	ev := history.Event{Kind: history.KindRequest, Member: member, From: b.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "update", Group: group, Version: "v1", Resource: "things", Name: "x", Code: code, ResourceVersion: revision, Barrier: code == 503,
	}}
	for _, change := range changes {
		change(&ev)
	}
	b.now += 2 * int64(time.Millisecond)
	return b.add(ev)
}

// sentBefore moves the start of a request.
func sentBefore(d time.Duration) func(*history.Event) {
	return func(ev *history.Event) { ev.From -= int64(d) }
}

// hosts has a member's discovery list things and what else is given.
func (b *historyBuilder) hosts(member string, revision int64, more ...history.HostedResource) *historyBuilder {
	thing := history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Served: []string{v1, v2}, Persisted: true}
	return b.hosting(member, revision, append([]history.HostedResource{thing}, more...)...)
}

func (b *historyBuilder) hosting(member string, revision int64, resources ...history.HostedResource) *historyBuilder {
	return b.add(history.Event{Kind: history.KindHostedResources, Member: member, From: b.now, HostedResources: &history.HostedResources{Revision: revision, Resources: resources}})
}

func (b *historyBuilder) holds(phase history.Phase, revision int64) *historyBuilder {
	return b.add(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: "h", Phase: phase, Revision: revision, Releases: map[string]string{"a": "1", "b": "1", "c": "1"}}})
}

// delays is a phase of a fault that delays requests of a's controller manager.
func (b *historyBuilder) delays(phase history.Phase) *historyBuilder {
	return b.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
		ID: "f-1", Type: history.FaultHTTP, Action: history.FaultHTTPDelay, Component: history.ComponentControllerManager, Phase: phase, Proof: "p"}})
}

// judge ends the history in good order, and judges it.
func (b *historyBuilder) judge(t *testing.T, ids ...requirement.ID) []law.Result {
	t.Helper()
	if len(b.events) == 0 || b.events[len(b.events)-1].End == nil {
		b.add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	}
	var out []law.Result
	for _, id := range ids {
		out = append(out, judged(t, b.header, b.events, mustLookup(t, id)))
	}
	return out
}

// finds wants one breach with each message, in order; none means that there may be none.
func (b *historyBuilder) finds(t *testing.T, id requirement.ID, messages ...string) law.Result {
	t.Helper()
	r := b.judge(t, id)[0]
	var got []string
	for _, v := range r.Violations {
		got = append(got, v.Message)
		for _, seq := range v.Evidence {
			if seq < 1 || int(seq) > len(b.events) {
				t.Errorf("evidence %d is no event", seq)
			}
		}
	}
	if !slices.EqualFunc(got, messages, strings.Contains) {
		t.Errorf("%s finds %q, want %q (%q)", id, got, messages, r.Reasons)
	}
	return r
}

// counted wants an observation to have been counted so often.
func counted(t *testing.T, r law.Result, what string, n int64) {
	t.Helper()
	for _, o := range r.Observations {
		if strings.Contains(o.What, what) {
			if o.Seen != n {
				t.Errorf("saw %d %s, want %d", o.Seen, o.What, n)
			}
			return
		}
	}
	t.Errorf("%s counts no %q: %v", r.ID, what, r.Observations)
}

func reason(t *testing.T, r law.Result, want string) {
	t.Helper()
	if !strings.Contains(fmt.Sprint(r.Reasons), want) {
		t.Errorf("%s gives the reasons %q, not %q", r.ID, r.Reasons, want)
	}
}

func (b *historyBuilder) verdictOf(t *testing.T, id requirement.ID, want law.Verdict) {
	t.Helper()
	if r := b.judge(t, id)[0]; r.Verdict != want {
		t.Errorf("%s is %s, want %s: %v %q", id, r.Verdict, want, r.Violations, r.Reasons)
	}
}

// on goes on from the story of a row that passes.
func on(t *testing.T, id requirement.ID) *historyBuilder {
	t.Helper()
	for _, s := range stories.All() {
		if s.Requirement == id && s.Want == story.Pass {
			h, e := s.Header(), s.Events()
			h.Writes = append(h.Writes, history.WrittenResource{Group: group, Resource: "things", Kind: "Thing"})
			if e[len(e)-1].End != nil {
				e = e[:len(e)-1]
			}
			return &historyBuilder{header: h, events: e, now: e[len(e)-1].At + int64(time.Second)}
		}
	}
	t.Fatalf("%s has no story", id)
	return nil
}

// lastStored is the change of etcd that was added last.
func (b *historyBuilder) lastStored() *history.Stored {
	for i := len(b.events) - 1; ; i-- {
		if s := b.events[i].Stored; s != nil {
			return s
		}
	}
}
