package everyrun_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// slow puts a fault at a member around what happens.
func slow(b *stories.Builder, m *story.Member, do func()) {
	fault := func(phase history.Phase) {
		f := &history.Fault{ID: "slow-" + m.Name, Type: "NetworkChaos", Action: "delay", Phase: phase}
		if phase == history.PhaseWitness {
			f.Proof, f.Count = "a read took longer", 3
		}
		b.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: f})
	}
	fault(history.PhaseInject)
	fault(history.PhaseWitness)
	do()
	fault(history.PhaseHeal)
}

// storedUnder has the first member acknowledge a write that etcd has under a key, and name its revision
// or not.
func storedUnder(b *stories.Builder, key string, r history.Request, named bool) {
	m := b.Members[0]
	m.Writes++
	rv := b.Store(key, "v1", "Any", "default/t0-cp1", history.Stored{Writer: m.Name, Write: m.Writes})
	r.Verb, r.Version, r.Name, r.Write, r.Code = "update", "v1", "default/t0-cp1", m.Writes, 200
	if named {
		r.ResourceVersion = rv
	}
	b.Request(m, r)
}

// TestLaws_WrongGreens are breaches, and lacks of evidence, that a law could take for a
// pass.
func TestLaws_WrongGreens(t *testing.T) {
	ready := requirement.MustBound("RO-02", "readyWithin")
	shows := requirement.MustBound("RO-06", "showsWithin")
	for name, c := range map[string]struct {
		id    requirement.ID
		want  check.Verdict
		point string
		do    func(b *stories.Builder)
	}{
		"a member answers wrongly beside a fault": {"RO-01", check.Fail, "at rest", func(b *stories.Builder) {
			slow(b, b.Members[0], func() {
				b.Emit(history.Event{Kind: history.KindRead, Member: "cp1", From: b.Now - 5, Read: &history.Read{How: history.ReadConsistent, Resource: "configmaps", Code: 200, Compared: true, Stored: 3, Missing: 3}})
			})
		}},
		"an answer that could not be compared": {"RO-01", check.Inconclusive, "at rest", func(b *stories.Builder) {
			b.Emit(history.Event{Kind: history.KindRead, Member: "cp1", From: b.Now - 5, Read: &history.Read{How: history.ReadConsistent, Resource: "configmaps", Code: 200}})
		}},
		"each process ends by itself before it is ready": {"RO-02", check.Fail, "at rest", func(b *stories.Builder) {
			m := b.Members[2]
			for begin := b.Now; time.Duration(b.Now-begin) < 2*ready; {
				b.Exit(m, "exit status 1", false)
				b.Start(m, m.Release)
				b.AnswerReady(m, 500, false)
				b.Advance(30_000)
				b.AnswerReady(m, 500, false)
			}
		}},
		"the next process is found with the end of the one before, and is never ready": {"RO-02", check.Fail, "at rest", func(b *stories.Builder) {
			m := b.Members[2]
			b.Start(m, m.Release)
			for range 2 {
				b.AnswerReady(m, 500, false)
				b.Advance(ready.Milliseconds())
			}
		}},
		"a paused member is killed, and the next process is never ready": {"RO-02", check.Fail, "at rest", func(b *stories.Builder) {
			m := b.Members[2]
			b.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{Component: history.ComponentAPIServer, Change: history.ProcessPaused, Instance: m.Instance}})
			b.Exit(m, "signal: killed", true)
			b.Start(m, m.Release)
			for range 3 {
				b.AnswerReady(m, 500, false)
				b.Advance(ready.Milliseconds())
			}
		}},
		"a member lets no client open a watch any more": {"RO-06", check.Fail, "at rest", func(b *stories.Builder) {
			for range 3 {
				b.Write(b.Members[0], "configmaps")
				b.Show(b.Members[2], b.Members[0], 20*time.Millisecond)
				b.Events[len(b.Events)-1].Visibility.Watch = history.Shown{}
				b.Advance(shows.Milliseconds() / 2)
			}
			b.AnswerReady(b.Members[0], 200, false)
		}},
		"a member is ready for one answer and falls for long": {"RO-02", check.Fail, "at rest", func(b *stories.Builder) {
			b.Serve(b.Members[2], "1.2")
			for range 3 {
				b.AnswerReady(b.Members[2], 500, false)
				b.Advance(ready.Milliseconds() / 2)
			}
			b.AnswerReady(b.Members[2], 500, false)
		}},
		"a member is ready again each time before the bound is over, and never for long": {"RO-02", check.Fail, "at rest", func(b *stories.Builder) {
			b.Serve(b.Members[2], "1.2")
			for range 4 {
				b.AnswerReady(b.Members[2], 500, false)
				b.Advance(ready.Milliseconds() / 3)
				b.AnswerReady(b.Members[2], 500, false)
				b.AnswerReady(b.Members[2], 200, false)
				b.Advance(ready.Milliseconds() / 3)
			}
		}},
		"the member that acknowledged a write ends, and no other shows it": {"RO-06", check.Fail, "at rest", func(b *stories.Builder) {
			b.Write(b.Members[0], "configmaps")
			acknowledged := b.Now
			b.Exit(b.Members[0], "signal: killed", true)
			b.Now = acknowledged
			b.Show(b.Members[1], b.Members[0], shows+time.Second)
		}},
		"a member answers beside a fault with an older state than it may": {"RO-06", check.Fail, "at rest", func(b *stories.Builder) {
			slow(b, b.Members[0], func() {
				b.Emit(history.Event{Kind: history.KindRead, Member: "cp1", Read: &history.Read{How: history.ReadNotOlder, Resource: "configmaps", Code: 200, Compared: true, Stored: 3, After: b.Revision, ResourceVersion: b.Revision - 2}})
			})
		}},
		"a list that cannot be read has no revision": {"RO-06", check.Inconclusive, "at rest", func(b *stories.Builder) {
			b.Emit(history.Event{Kind: history.KindRead, Member: "cp1", From: b.Now - 5, Read: &history.Read{How: history.ReadNotOlder, Resource: "configmaps", Code: 200, After: b.Revision, NotCompared: "the list cannot be read"}})
		}},
		"an acknowledgement names the revision of another write": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			m := b.Members[0]
			m.Writes++
			b.Request(m, history.Request{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: "configmaps", Name: "default/t0-cp1", Write: m.Writes, Code: 200, ResourceVersion: b.Revision})
		}},
		"an acknowledgement names the revision at which another client changed the object": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			m := b.Members[0]
			m.Writes++
			rv := b.Store("/registry/configmaps/default/t0-cp1", "v1", "ConfigMap", "default/t0-cp1", history.Stored{})
			b.Request(m, history.Request{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: "configmaps", Name: "default/t0-cp1", Write: m.Writes, Code: 200, ResourceVersion: rv})
		}},
		"an acknowledgement names no revision, and etcd does not have the write": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			m := b.Members[0]
			m.Writes++
			b.Request(m, history.Request{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: "configmaps", Name: "default/t0-cp1", Write: m.Writes, Code: 200})
			b.Advance(60_000)
		}},
		"an acknowledged write is under the key of another resource": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			storedUnder(b, "/registry/secrets/default/t0-cp1", history.Request{Class: history.ClassGuarded, Resource: "configmaps"}, true)
		}},
		"an acknowledged write is below another prefix": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			storedUnder(b, "/registry/old/configmaps/default/t0-cp1", history.Request{Class: history.ClassGuarded, Resource: "configmaps"}, true)
		}},
		"an acknowledged write is below another prefix, and names no revision": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			storedUnder(b, "/registry/old/configmaps/default/t0-cp1", history.Request{Class: history.ClassGuarded, Resource: "configmaps"}, false)
			b.Advance(60_000)
		}},
		"an acknowledged write of a custom resource is below another group": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			storedUnder(b, "/registry/example.io/soundings/default/t0-cp1", history.Request{Class: history.ClassCustom, Group: "probe.example.io", Resource: "soundings"}, true)
		}},
		"an acknowledged write of a custom resource is below no group": {"RO-08", check.Fail, "at rest", func(b *stories.Builder) {
			storedUnder(b, "/registry/soundings/default/t0-cp1", history.Request{Class: history.ClassCustom, Group: "probe.example.io", Resource: "soundings"}, true)
		}},
		"an acknowledged write of a custom resource is below its group": {"RO-08", check.Pass, "at rest", func(b *stories.Builder) {
			storedUnder(b, "/registry/probe.example.io/soundings/default/t0-cp1", history.Request{Class: history.ClassCustom, Group: "probe.example.io", Resource: "soundings"}, true)
		}},
		"an acknowledged write of a built-in resource is below its group": {"RO-08", check.Pass, "at rest", func(b *stories.Builder) {
			storedUnder(b, "/registry/reference.example.io/ballasts/default/t0-cp1", history.Request{Class: history.ClassGuarded, Group: "reference.example.io", Resource: "ballasts"}, true)
		}},
		"the last write that was acknowledged never comes to etcd": {"RO-08", check.Inconclusive, "at rest", func(b *stories.Builder) {
			m := b.Members[0]
			m.Writes++
			b.Request(m, history.Request{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: "configmaps", Name: "default/t0-cp1", Write: m.Writes, Code: 200, ResourceVersion: b.Revision + 2})
		}},
		"a definition was deleted and made again before the server started": {"RO-09", check.Fail, "at rest", func(b *stories.Builder) {
			b.Delete("/registry/apiextensions.k8s.io/customresourcedefinitions/"+stories.CustomResource+"."+stories.CustomGroup, stories.CustomResource)
			b.Advance(2000)
			b.Exit(b.Members[2], "exit status 0", true)
			b.Serve(b.Members[2], "1.2")
			b.Custom(b.Members[2], 200, 404)
		}},
		"the recorder of the load balancer hears nothing for long": {"RO-11", check.Inconclusive, "replaced", func(b *stories.Builder) {
			b.Advance(2 * requirement.MustBound("RO-11", "withoutAnswer").Milliseconds())
		}},
	} {
		t.Run(string(c.id)+" "+name, func(t *testing.T) { judgetest.Expect(t, c.id, replaced(c.point, c.do), c.want) })
	}
}

// Without a majority of etcd no member reads anything.
func TestRead_WithoutAMajorityOfEtcdIsExcused(t *testing.T) {
	fails := func(b *stories.Builder) {
		b.Emit(history.Event{Kind: history.KindRead, Member: "cp1", From: b.Now - 5, Read: &history.Read{How: history.ReadConsistent, Resource: "configmaps", Code: 500, Message: "etcdserver: request timed out"}})
	}
	judgetest.Expect(t, "RO-01", replaced("at rest", func(b *stories.Builder) {
		slow(b, b.Members[1], func() { slow(b, b.Members[2], func() { fails(b) }) })
	}), check.Pass)
	judgetest.Expect(t, "RO-01", replaced("at rest", func(b *stories.Builder) {
		slow(b, b.Members[1], func() { fails(b) })
	}), check.Fail)
}

// An aggregated server that misbehaves is no reason for a member not to be ready, or for clients to
// be without an answer; a fault at a member is.
func TestDisturbed_AnAggregatedServerDisturbsNoMember(t *testing.T) {
	ready, answer := requirement.MustBound("RO-02", "readyWithin"), requirement.MustBound("RO-11", "withoutAnswer")
	backend := func(b *stories.Builder, do func()) {
		for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness} {
			b.Emit(history.Event{Kind: history.KindFault, Fault: &history.Fault{ID: "backend-1", Type: history.FaultBackend, Action: history.BackendHang, Group: "tides.io", Phase: phase, Proof: "asked"}})
		}
		do()
		b.Emit(history.Event{Kind: history.KindFault, Fault: &history.Fault{ID: "backend-1", Type: history.FaultBackend, Action: history.BackendHang, Group: "tides.io", Phase: history.PhaseHeal}})
	}
	member := func(b *stories.Builder, do func()) { slow(b, b.Members[1], do) }
	falls := func(b *stories.Builder) {
		for range 3 {
			b.AnswerReady(b.Members[2], 500, false)
			b.Advance(ready.Milliseconds() * 2 / 5)
		}
		b.AnswerReady(b.Members[2], 500, false)
		b.AnswerReady(b.Members[2], 200, false)
	}
	refuses := func(b *stories.Builder) {
		for range 2 + answer/time.Second {
			b.Balance(503)
			b.Advance(1000)
		}
	}
	for beside, want := range map[bool]check.Verdict{false: check.Fail, true: check.Pass} {
		fault := map[bool]func(*stories.Builder, func()){false: backend, true: member}[beside]
		answered := want
		if beside {
			answered = check.Inconclusive // two of its three replacements show nothing then
		}
		judgetest.Expect(t, "RO-02", replaced("at rest", func(b *stories.Builder) { fault(b, func() { falls(b) }) }), want)
		judgetest.Expect(t, "RO-11", stories.Replaced(map[string]func(*stories.Builder){"replaced": func(b *stories.Builder) { fault(b, func() { refuses(b) }) }}), answered)
	}
}

// A clock that stood while a member was ready begins anew after a fault, and after the member
// was ready for as long as the bound.
func TestReady_FallsThatAreNoRelapse(t *testing.T) {
	ready := requirement.MustBound("RO-02", "readyWithin")
	falls := func(b *stories.Builder, times int, readyFor time.Duration, between func()) {
		b.Serve(b.Members[2], "1.2")
		for range times {
			b.AnswerReady(b.Members[2], 500, false)
			b.Advance(ready.Milliseconds() / 3)
			b.AnswerReady(b.Members[2], 500, false)
			b.AnswerReady(b.Members[2], 200, false)
			b.Advance(readyFor.Milliseconds())
			b.AnswerReady(b.Members[2], 200, false)
			between()
		}
	}
	for name, do := range map[string]func(b *stories.Builder){
		"ready for as long as the bound":           func(b *stories.Builder) { falls(b, 4, ready, func() {}) },
		"not ready for less than the bound in all": func(b *stories.Builder) { falls(b, 2, ready/2, func() {}) },
		"a fault before each fall": func(b *stories.Builder) {
			falls(b, 4, ready/3, func() { slow(b, b.Members[0], func() { b.Advance(1) }) })
		},
	} {
		t.Run(name, func(t *testing.T) { judgetest.Expect(t, "RO-02", replaced("at rest", do), check.Pass) })
	}
}

// An outage that begins while a member is replaced does not end with the step.
func TestBalancer_OutageGoesOnAfterTheReplacement(t *testing.T) {
	bound := int(requirement.MustBound("RO-11", "withoutAnswer").Seconds())
	for seconds, want := range map[int]check.Verdict{bound - 2: check.Pass, bound + 2: check.Fail} {
		judgetest.Expect(t, "RO-11", stories.Replaced(map[string]func(*stories.Builder){
			"replaced": func(b *stories.Builder) { b.Balance(503) },
			"after that": func(b *stories.Builder) {
				for range seconds {
					b.Advance(1000)
					b.Balance(503)
				}
			},
		}), want)
	}
}

// A balancer that has its clients refused does not serve them.
func TestBalancer_RefusalsAreAnOutage(t *testing.T) {
	bound := int(requirement.MustBound("RO-11", "withoutAnswer").Seconds())
	for code, want := range map[int]check.Verdict{200: check.Pass, 401: check.Fail, 403: check.Fail, 404: check.Fail} {
		judgetest.Expect(t, "RO-11", stories.Replaced(map[string]func(*stories.Builder){"replaced": func(b *stories.Builder) {
			for range bound + 2 {
				b.Balance(code)
				b.Advance(1000)
			}
		}}), want)
	}
}

// What clients got before the first answer is not known: nothing shows that they were served while
// members were replaced by then.
func TestBalancer_NothingIsKnownBeforeTheFirstAnswer(t *testing.T) {
	events := stories.Replaced(nil)
	good := last(events, func(ev *history.Event) bool { return ev.LoadBalancer != nil })
	for i := range events {
		if b := events[i].LoadBalancer; b != nil && &events[i] != good {
			b.Code = 503
		}
	}
	judgetest.Expect(t, "RO-11", events, check.Inconclusive)
}

// Two of three members whose hashes agree say nothing of the third one, unless something kept that
// from an answer.
func TestSame_NeedsEachMember(t *testing.T) {
	none := func(m *history.EtcdMemberHash) { m.Error, m.Hash = "required revision is a future revision", "" }
	for name, c := range map[string]struct {
		want   check.Verdict
		change func(*history.EtcdMemberHash)
		beside func(b *stories.Builder, do func())
	}{
		"it gives no hash":                   {check.Inconclusive, none, func(_ *stories.Builder, do func()) { do() }},
		"it gives no hash beside a fault":    {check.Pass, none, func(b *stories.Builder, do func()) { slow(b, b.Members[2], do) }},
		"it has compacted to another one":    {check.Inconclusive, func(m *history.EtcdMemberHash) { m.Compacted = 90 }, func(_ *stories.Builder, do func()) { do() }},
		"it does beside a fault":             {check.Pass, func(m *history.EtcdMemberHash) { m.Compacted = 90 }, func(b *stories.Builder, do func()) { slow(b, b.Members[2], do) }},
		"it has another hash beside a fault": {check.Fail, func(m *history.EtcdMemberHash) { m.Hash = "98f13708" }, func(b *stories.Builder, do func()) { slow(b, b.Members[2], do) }},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-07", replaced("at rest", func(b *stories.Builder) {
				c.beside(b, func() {
					b.Compare()
					c.change(&b.Events[len(b.Events)-1].EtcdHash.Members[2])
				})
			}), c.want)
		})
	}
}

// A member without watches may show everything in lists.
func TestVisible_NeedsWatches(t *testing.T) {
	events := stories.Replaced(nil)
	for i := range events {
		if v := events[i].Visibility; v != nil {
			v.Watch = history.Shown{}
		}
	}
	judgetest.Expect(t, "RO-06", events, check.Inconclusive)
}

// Members whose watches are open say nothing of one that never had any.
func TestVisible_NeedsAWatchOfEachMember(t *testing.T) {
	events := stories.Replaced(nil)
	for i := range events {
		if v := events[i].Visibility; v != nil && events[i].Member == "cp2" {
			v.Watch = history.Shown{}
		}
	}
	judgetest.Expect(t, "RO-06", events, check.Inconclusive)
}

// What the recorder asked late was not shown late.
func TestVisible_ClockBeginsWithTheOnlyQuestion(t *testing.T) {
	events := stories.Replaced(nil)
	v := last(events, func(ev *history.Event) bool { return ev.Visibility != nil })
	late := v.At + int64(requirement.MustBound("RO-06", "showsWithin"))
	v.Visibility.Get.Sent, v.Visibility.Get.At, v.At = late, late+5, late+5
	slices.SortStableFunc(events, func(a, b history.Event) int { return int(a.At - b.At) })
	judgetest.Expect(t, "RO-06", events, check.Pass)
}

// A watch that breaks is opened again within the bound.
func TestVisible_AWatchMayBreakForAMoment(t *testing.T) {
	events := replaced("at rest", func(b *stories.Builder) {
		for i := range 2 {
			b.Write(b.Members[0], "configmaps")
			asked := b.Now
			b.Show(b.Members[2], b.Members[0], 20*time.Millisecond)
			v := b.Events[len(b.Events)-1].Visibility
			if i == 0 {
				v.Watch = history.Shown{}
			} else {
				v.Watch.Sent = asked
			}
			b.Advance(2000)
		}
	})
	judgetest.Expect(t, "RO-06", events, check.Pass)
}

// An etcd that is told to end answers nothing while its watches end, and its member shows
// nothing until the next one is there.
func TestVisible_WaitsForTheEtcdOfTheMember(t *testing.T) {
	late := requirement.MustBound("RO-06", "showsWithin") + time.Second
	for name, c := range map[string]struct {
		of   string // whose etcd
		want check.Verdict
	}{"its own": {"cp2", check.Pass}, "another one's": {"cp3", check.Fail}} {
		t.Run(name, func(t *testing.T) {
			etcd := func(b *stories.Builder, change string, instance int) {
				b.Emit(history.Event{Kind: history.KindProcess, Member: c.of, Process: &history.Process{
					Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: change == history.ProcessExited,
				}})
			}
			judgetest.Expect(t, "RO-06", replaced("at rest", func(b *stories.Builder) {
				b.Advance(1000)
				etcd(b, history.ProcessStopping, 1)
				b.Write(b.Members[0], "configmaps")
				b.Show(b.Members[1], b.Members[0], late)
				etcd(b, history.ProcessExited, 1)
				etcd(b, history.ProcessStarted, 2)
			}), c.want)
		})
	}
}

// Its API server connects to the next etcd when its client tries again, and is ready then.
func TestVisible_WaitsUntilTheMemberHasConnectedToItsEtcd(t *testing.T) {
	late := requirement.MustBound("RO-06", "showsWithin") + time.Second
	for name, c := range map[string]struct {
		unready bool
		want    check.Verdict
	}{"it is not ready": {true, check.Pass}, "it is ready": {false, check.Fail}} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-06", replaced("at rest", func(b *stories.Builder) {
				b.Advance(1000)
				cp1, cp2 := b.Members[0], b.Members[1]
				b.Emit(history.Event{Kind: history.KindProcess, Member: cp2.Name, Process: &history.Process{Component: history.ComponentEtcd, Change: history.ProcessStopping, Instance: 1}})
				b.Write(cp1, "configmaps")
				asked := b.Now
				b.Advance(1000)
				if c.unready {
					b.AnswerReady(cp2, 500, false)
				}
				b.Emit(history.Event{Kind: history.KindProcess, Member: cp2.Name, Process: &history.Process{Component: history.ComponentEtcd, Change: history.ProcessStarted, Instance: 2}})
				b.Advance(late.Milliseconds())
				b.AnswerReady(cp2, 200, false)
				b.Show(cp2, cp1, 0)
				v := &b.Events[len(b.Events)-1]
				v.From, v.Visibility.Get.Sent, v.Visibility.List.Sent = asked, asked, asked
			}), c.want)
		})
	}
}
