package storageversion_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// verdictOf complains unless the historyBuilder gets one of the verdicts.
func (t *historyBuilder) verdictOf(test *testing.T, id requirement.ID, want check.Verdict) {
	test.Helper()
	if r := t.judge(test, id)[0]; r.Verdict != want {
		test.Errorf("%s is %s, want %s: %v %q", id, r.Verdict, want, r.Violations, r.Reasons)
	}
}

func configmaps() history.HostedResource {
	return history.HostedResource{Resource: "configmaps", Kind: "ConfigMap", Served: []string{"v1"}, Persisted: true}
}

// Members boot one after the other; each reports under the wrong names too.
func TestSV02JudgesNamesThatAreStillWrittenTo(t *testing.T) {
	h := newHistory()
	var grouped, core []string
	for i, m := range []string{"a", "b", "c"} {
		r := int64(10 * (i + 1))
		grouped, core = append(grouped, m+"="+v1), append(core, m+"=v1")
		h.starts(m, 1).says("things.g.io", r+1, grouped...).says(things, r+2, grouped...).says("core.configmaps", r+3, core...).says("pods", r+4, core...).
			ready(m, 200, r+5).hosts(m, r+5, configmaps())
	}
	h.holds(history.PhaseBegin, 50).holds(history.PhaseEnd, 60).verdictOf(t, "SV-02", check.Fail)
}

// A write is let through before the registration; only its answer comes too late.
func TestSV12StoredThoughNotAccepted(t *testing.T) {
	for _, code := range []int{0, 429, 504} {
		h := newHistory().joins("a", 1).joins("b", 2).joins("c", 3).says(things, 5, "a="+v1, "b="+v1, "c="+v1)
		now, r := map[string]string{"a": v1, "b": v1, "c": v1}, int64(10)
		for _, m := range []string{"a", "b", "c"} {
			h.starts(m, 1).stops(m, 1).starts(m, 2).pass(time.Second)
			for range 2 * answersForSlow {
				h.asks(m, 503, 0)
			}
			if m == "a" {
				r++
				h.writes(m, v1, r).asks(m, code, 0, func(ev *history.Event) { ev.Request.Write = r })
			}
			r++
			now[m] = v2
			h.pass(10*time.Second).says(things, r, "a="+now["a"], "b="+now["b"], "c="+now["c"]).ready(m, 200, r)
			r++
			h.asks(m, 200, r, func(ev *history.Event) { ev.Request.Write = r }).writes(m, v2, r)
		}
		h.pass(10*time.Second).writes("b", v2, r+10).verdictOf(t, "SV-12", check.Fail)
	}
}

// c has the API again and reports things, and configmaps, which it had reported, not.
func TestSV25AllIsReportedAgain(t *testing.T) {
	h := newHistory().says("core.configmaps", 1, "a=v1", "b=v1", "c=v1").starts("a", 1).starts("b", 1).starts("c", 1).hosts("c", 1, configmaps()).joins("a", 2).joins("b", 3).joins("c", 4).
		says(things, 5, "a="+v1, "b="+v1, "c="+v1).stops("c", 1).startsWithout("c", 2).disagrees(things, 6, "a="+v1, "b="+v1).says("core.configmaps", 7, "a=v1", "b=v1")
	for i := range int64(needSilentWrites) {
		h.writes("c", v2, 10+i)
	}
	h.stops("c", 2).starts("c", 3).says(things, 20, "a="+v1, "b="+v1, "c="+v1).ready("c", 200, 21).hosts("c", 21, configmaps()).
		holds(history.PhaseBegin, 22).pass(time.Hour).holds(history.PhaseEnd, 22).verdictOf(t, "SV-25", check.Fail)
}

// Everything is cleaned up ten hours late, by whomever: no collector was seen to live.
func TestSV16SV18LateIsNoEvidence(t *testing.T) {
	h := newHistory().starts("a", 1).joins("a", 2).joins("b", 3)
	for i := range int64(needDepartures + 1) {
		h.says(fmt.Sprintf("g.io.r%d", i), 5+i, "a="+v1, "b="+v2)
	}
	h.says("g.io.ghosts", 12, "b="+v1).ready("a", 200, 13).leaves("b", 14).idle(10 * time.Hour)
	for i := range int64(needDepartures + 1) {
		h.says(fmt.Sprintf("g.io.r%d", i), 25+i, "a="+v1)
	}
	h.says("g.io.ghosts", 40).idle(10*time.Hour).deletes("g.io.ghosts", 41).idle(time.Minute)
	h.verdictOf(t, "SV-16", check.Inconclusive)
	h.verdictOf(t, "SV-18", check.Inconclusive)
}

// The collector's writes that were held back failed for want of time, or of leave.
func TestSV19WritesThatFailedForAnotherReason(t *testing.T) {
	const ghosts, path = "g.io.ghosts", storageVersionsPath + "g.io.ghosts"
	for code, want := range map[int]check.Verdict{0: check.Inconclusive, 403: check.Inconclusive, 429: check.Inconclusive, 500: check.Inconclusive, 409: check.Pass} {
		ago := 2*time.Second + 500*time.Millisecond
		led(v1).joins("guest", 8).delays(history.PhaseInject).delays(history.PhaseWitness).says(ghosts, 10, "x="+v1).
			pass(time.Second).says(ghosts, 12, "x="+v1, "guest="+v1).reports(ghosts, 12).pass(time.Second).
			exchanged("DELETE", path, code, ago, 2*time.Second).exchanged("PUT", path+"/status", code, ago, 2*time.Second).
			delays(history.PhaseHeal).verdictOf(t, "SV-19", want)
	}
}

// blinded is a plane whose collector has failed to look and then cleaned up as it should.
func blinded() *historyBuilder {
	h := led(v1).says(things, 10, "a="+v1, "x="+v1).says("core.configmaps", 11, "a=v1", "x=v1").hosts("a", 11, configmaps()).pass(time.Second)
	for range needBlindLookups {
		h.exchanged("GET", leasesPath, 500, time.Millisecond, 0)
	}
	return h.says("core.configmaps", 12, "a=v1")
}

// A removal that the harness asked for in vain is no excuse for another one's.
func TestSV20RefusedRemovals(t *testing.T) {
	for _, code := range []int{403, 404, 409} {
		blinded().asks("a", code, 0, tampering(things)).deletes(things, 13).verdictOf(t, "SV-20", check.Fail)
	}
}

// A custom resource is taken away and defined anew, and served without a word.
func TestSV24DefinedAnew(t *testing.T) {
	const custom, c1, c2 = "custom.io.soundings", "custom.io/v1", "custom.io/v2"
	h, r := newHistory(), int64(0)
	next := func() int64 { r++; return r }
	define := func(verb string) {
		h.asks("a", 200, next(), func(ev *history.Event) {
			ev.Request.Verb, ev.Request.Defines = verb, &history.Definition{Group: "custom.io", Resource: "soundings", Versions: []string{"v1", "v2"}}
		})
		if verb == "create" {
			h.stored(history.Stored{Type: history.StoredPut, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/soundings.custom.io",
				APIVersion: "apiextensions.k8s.io/v1", ObjectKind: "CustomResourceDefinition", Name: "soundings.custom.io", Revision: r, Created: r})
		}
	}
	all := func(version string) {
		for _, m := range []string{"a", "b", "c"} {
			h.stored(history.Stored{Type: history.StoredPut, Key: "/registry/custom.io/soundings/x", Name: "x", Revision: next(), APIVersion: version, ObjectKind: "Sounding", Writer: m, Write: r})
		}
	}
	for _, m := range []string{"a", "b", "c"} {
		h.starts(m, 1).joins(m, next())
	}
	define("create")
	for _, version := range []string{c1, c2, c1, c2, c1} {
		h.says(custom, next(), "a="+version, "b="+version, "c="+version)
		all(version)
		all(version)
	}
	define("delete")
	h.deletes(custom, next()).pass(time.Hour)
	define("create")
	all(c1)
	all(c2)
	h.verdictOf(t, "SV-24", check.Fail)
}

// c reports phantoms and calls them served; its discovery has none.
func TestSV05ClaimsWhatItDoesNotHave(t *testing.T) {
	h, r := newHistory(), int64(10)
	var names []string
	var list []history.HostedResource
	for _, resource := range []string{"r1", "r2", "r3", "r4", "r5", "phantoms"} {
		names = append(names, "g.io."+resource)
		list = append(list, history.HostedResource{Group: group, Resource: resource, Kind: resource, Served: []string{v1, v2}, Persisted: true})
	}
	var entries []string
	for _, m := range []string{"a", "b", "c"} {
		h.starts(m, 1).joins(m, r)
		entries = append(entries, m+"="+v1)
		for _, name := range names {
			r++
			h.says(name, r, entries...)
		}
		r++
		if m == "c" {
			list = list[:5]
		}
		h.ready(m, 200, r).lists(m, r, list...)
	}
	h.holds(history.PhaseBegin, r).holds(history.PhaseEnd, r+5).verdictOf(t, "SV-05", check.Fail)
}

// The last entry goes, and the condition goes on to say that all are equal.
func TestSV06NobodyIsNotAllEqual(t *testing.T) {
	h := newHistory()
	for i, m := range []string{"a", "b", "c"} {
		h.joins(m, int64(i+1)).asks(m, 0, 0, probe("", 200, "x")).asks(m, 0, 0, probe(history.InvalidAgreement, 422, "x"), func(ev *history.Event) { ev.Request.WithoutDryRun = true })
	}
	for i := range int64(3) {
		h.says(things, 10+2*i, "a="+v1, "b="+v1).says(things, 11+2*i, "a="+v1, "b="+v1, "c="+v1)
	}
	emptied := content()
	emptied.Conditions[0].Status = "True"
	h.says(things, 20, "a="+v1, "b="+v2).says(things, 21, "a="+v1).put(things, 22, emptied).verdictOf(t, "SV-06", check.Fail)
}

// A server that boots for the first time is stripped by the collector.
func TestSV20FirstProcess(t *testing.T) {
	h := newHistory().starts("a", 1).manager("a", history.ProcessStarted).leads("a", 1).joins("a", 2).starts("b", 1).joins("b", 3).
		says(things, 10, "a="+v1, "b="+v1, "x="+v1).hosts("a", 10).ready("a", 200, 10).pass(time.Second)
	for range needBlindLookups {
		h.exchanged("GET", leasesPath, 500, time.Millisecond, 0)
	}
	h.says(things, 12, "a="+v1).says(things, 13, "a="+v1, "b="+v1).hosts("b", 14).ready("b", 200, 14).
		says(things, 15, "a="+v1, "b="+v1, "x="+v1).pass(time.Second).exchanged("GET", leasesPath, 500, time.Millisecond, 0).
		says(things, 16, "a="+v1, "b="+v1).verdictOf(t, "SV-20", check.Fail)
}

// What the collector left undone a server that starts did; the collector stood still.
func TestSV20CollectorStoodStill(t *testing.T) {
	h := led(v1).says(things, 10, "a="+v1, "b="+v1, "x="+v1).pass(time.Second)
	for range needBlindLookups {
		h.exchanged("GET", leasesPath, 500, time.Millisecond, 0)
	}
	h.manager("a", history.ProcessPaused).starts("b", 1).says(things, 12, "a="+v1, "b="+v1).ready("b", 200, 12).verdictOf(t, "SV-20", check.Inconclusive)
}

// away has the recorder of etcd say that it heard nothing for so long.
func (t *historyBuilder) away(d time.Duration) *historyBuilder {
	return t.add(history.Event{Kind: history.KindRecorderDelayed, From: t.now - int64(d), RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}})
}

// What was done in time and told late, because the recorder was away, is no breach.
func TestAwaysExcuse(t *testing.T) {
	const s = time.Second
	t.Run("SV-14", func(t *testing.T) {
		newHistory().renews("a", 3, 3, 0).starts("a", 1).says(things, 5, "a="+v1).ready("a", 200, 9).hosts("a", 9).asks("a", 503, 0).ready("a", 200, 0).
			idle(4*s).idle(2*s).away(7*s).renews("a", 11, 3, 10*s).idle(s).blames(t, "SV-14")
	})
	t.Run("SV-16", func(t *testing.T) {
		led(v2).leaves("b", 10).idle(24*s).idle(15*s).idle(5*s).away(20*s).says(things, 12, "a="+v1).idle(time.Minute).blames(t, "SV-16")
	})
	t.Run("SV-18", func(t *testing.T) {
		led(v1).says("g.io.ghosts", 10, "x="+v1).says("g.io.ghosts", 11).idle(24*s).idle(20*s).away(20*s).deletes("g.io.ghosts", 12).idle(time.Minute).blames(t, "SV-18")
	})
	t.Run("SV-06", func(t *testing.T) {
		newHistory().joins("a", 1).joins("b", 2).disagrees(things, 5, "a="+v1, "b="+v1).idle(24*s).idle(20*s).away(20*s).says(things, 12, "a="+v1, "b="+v1).idle(s).blames(t, "SV-06")
	})
}

// Without a majority of etcd no collector can do anything.
func TestSV16WithoutMajority(t *testing.T) {
	etcds := func(h *historyBuilder, change string) *historyBuilder {
		for _, m := range []string{"b", "c"} {
			h.add(history.Event{Kind: history.KindProcess, Member: m, Process: &history.Process{Component: history.ComponentEtcd, Change: change, Instance: 1, Expected: true}})
		}
		return h
	}
	down := etcds(led(v2).leaves("b", 10), history.ProcessExited).idle(time.Minute)
	etcds(down, history.ProcessStarted).away(time.Minute).says(things, 12, "a="+v1).idle(time.Minute).blames(t, "SV-16")
}

// A member that has left off hosting a resource hands requests on to who does.
func TestSV15HandsOn(t *testing.T) {
	newHistory().starts("a", 1).starts("b", 1).joins("a", 1).joins("b", 2).says(things, 5, "a="+v1, "b="+v1).hosts("a", 6).ready("a", 200, 6).hosts("b", 7).ready("b", 200, 7).
		stops("a", 1).starts("a", 2).says(things, 10, "b="+v1).ready("a", 200, 11).lists("a", 11).writes("a", v1, 12).blames(t, "SV-15")
}

// The end of a scheduler at the leader's member is no excuse for its controller manager.
func TestASchedulerIsInNobodysWay(t *testing.T) {
	h := led(v2).leaves("b", 10).idle(20 * time.Second)
	h.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{Component: history.ComponentScheduler, Change: history.ProcessExited, Instance: 1}})
	h.idle(30*time.Second).verdictOf(t, "SV-16", check.Fail)
}

// What the harness removed itself no collector was tempted by.
func TestSV20RemovedByTheHarness(t *testing.T) {
	h := led(v1).says("g.io.ghosts", 10, "x="+v1).pass(time.Second)
	for range needBlindLookups {
		h.exchanged("GET", leasesPath, 500, time.Millisecond, 0)
	}
	h.asks("a", 200, 12, tampering("g.io.ghosts")).deletes("g.io.ghosts", 12).verdictOf(t, "SV-20", check.Inconclusive)
}

// b stood still for longer than its Lease lasts, and goes on for half an hour without
// having joined again; a and c have agreed without it.
func TestSV15GoesOnWithoutItsLease(t *testing.T) {
	h := newHistory().starts("a", 1).starts("b", 1).starts("c", 1).joins("a", 1).joins("b", 2).joins("c", 3).says(things, 5, "a="+v1, "b="+v2, "c="+v1)
	for _, m := range []string{"a", "b", "c"} {
		h.ready(m, 200, 6).hosts(m, 6)
	}
	h.leaves("b", 10).says(things, 11, "a="+v1, "c="+v1)
	for i := range int64(60) {
		h.pass(30*time.Second).ready("b", 200, 0).writes("a", v1, 20+3*i).writes("b", v2, 21+3*i).writes("c", v1, 22+3*i)
	}
	h.verdictOf(t, "SV-15", check.Fail)
}

func TestSV12HandsOn(t *testing.T) {
	newHistory().starts("a", 1).starts("b", 1).joins("a", 1).joins("b", 2).says(things, 5, "a="+v1, "b="+v1).hosts("a", 6).ready("a", 200, 6).hosts("b", 7).ready("b", 200, 7).
		stops("a", 1).leaves("a", 8).says(things, 9, "b="+v1).starts("a", 2).joins("a", 10).ready("a", 200, 11).lists("a", 11).
		asks("a", 200, 12).writes("a", v1, 12).blames(t, "SV-12")
}

func TestSV14NeverRegisters(t *testing.T) {
	h := newHistory()
	for i, m := range []string{"a", "b", "c"} {
		r := int64(10 * (i + 1))
		h.starts(m, 1).asks(m, 503, 0)
		if m == "c" {
			h.says(things, r, "a="+v1, "c="+v1)
		} else {
			h.says(things, r, "a="+v1)
		}
		h.ready(m, 200, r+1).hosts(m, r+1)
	}
	for i := range int64(4) {
		for j, m := range []string{"a", "b", "c"} {
			h.asks(m, 200, 100+3*i+int64(j)).ready(m, 200, 0)
		}
	}
	h.writes("a", v1, 200).verdictOf(t, "SV-14", check.Fail)
}

func TestSV16FormedLate(t *testing.T) {
	h := newHistory().starts("a", 1).manager("a", history.ProcessStarted).leads("a", 1).joins("a", 2).joins("b", 3)
	names := []string{"g.io.r0", "g.io.r1", "g.io.r2", "g.io.r3", "g.io.r4"}
	for i, n := range names {
		h.says(n, 5+int64(i), "a="+v1, "b="+v2)
	}
	h.ready("a", 200, 13).leaves("b", 14).idle(time.Second)
	for i, n := range names {
		h.disagrees(n, 20+int64(i), "a="+v1)
	}
	h.idle(10*time.Second).manager("a", history.ProcessExited).idle(10 * time.Hour)
	for i, n := range names {
		h.says(n, 30+int64(i), "a="+v1)
	}
	h.idle(time.Minute).verdictOf(t, "SV-16", check.Inconclusive)
}

// What a has handed on before it was asked what it hosts.
func TestSV15HandsOnBeforeItIsLookedAt(t *testing.T) {
	newHistory().starts("a", 1).starts("b", 1).joins("a", 1).joins("b", 2).says(things, 5, "a="+v1, "b="+v1).hosts("a", 6).ready("a", 200, 6).hosts("b", 7).ready("b", 200, 7).
		stops("a", 1).starts("a", 2).says(things, 10, "b="+v1).ready("a", 200, 11).writes("a", v1, 12).pass(500*time.Millisecond).lists("a", 13).writes("b", v1, 14).blames(t, "SV-15")
}

// The controller manager that leads is at the member whose reports are held, and so are its writes.
func TestSV08CollectorIsHeldToo(t *testing.T) {
	h := newHistory().hosts("a", 1).joins("a", 2).joins("b", 3).starts("a", 1).starts("b", 1).starts("c", 1).manager("c", history.ProcessStarted).leads("c", 4).says(things, 5, "a="+v1, "b="+v1).stops("c", 1)
	h.add(history.Event{Kind: history.KindFault, Member: "c", Fault: &history.Fault{ID: "hold", Type: "EtcdKeyFault", Action: "hold", Phase: history.PhaseInject}})
	h.starts("c", 2).joins("c", 6).pass(joiningShows+3*time.Second).joins("x", 8)
	h.add(history.Event{Kind: history.KindFault, Member: "c", Fault: &history.Fault{ID: "hold", Phase: history.PhaseHeal}})
	h.says(things, 9, "a="+v1, "b="+v1, "c="+v1).ready("c", 200, 10).hosts("c", 10).writes("c", v1, 11).blames(t, "SV-08")
}

// three is a plane of three members that have agreed and are ready.
func three(versions ...string) *historyBuilder {
	h := newHistory()
	var entries []string
	for i, m := range []string{"a", "b", "c"} {
		h.starts(m, 1).joins(m, int64(i+1))
		entries = append(entries, m+"="+versions[i%len(versions)])
	}
	h.says(things, 5, entries...)
	for _, m := range []string{"a", "b", "c"} {
		h.ready(m, 200, 6).hosts(m, 6)
	}
	return h
}

// numbered has a request bear the number of a write.
func numbered(write int64) func(*history.Event) {
	return func(ev *history.Event) { ev.Request.Write = write }
}

// b stood still, its Lease went and its entry with it. When it goes on it takes new
// writes, which it had not been asked for before.
func TestSV15WhatIsAskedForAfterItLeft(t *testing.T) {
	left := func() *historyBuilder {
		return three(v1, v2, v1).leaves("b", 10).says(things, 11, "a="+v1, "c="+v1).pass(10 * time.Second)
	}
	const none = "b stored x as g.io/v2 at revision 12, when g.io.things"
	left().asks("b", 200, 12, numbered(12)).writes("b", v2, 12).blames(t, "SV-15", none)
	left().writes("b", v2, 12).asks("b", 200, 12, numbered(12)).blames(t, "SV-15", none)
	left().asks("b", 200, 12, numbered(12), sentBefore(20*time.Second)).writes("b", v2, 12).blames(t, "SV-15")
	left().writes("b", v2, 12).asks("b", 200, 12, numbered(12), sentBefore(20*time.Second)).blames(t, "SV-15")
	left().writes("b", v2, 12).blames(t, "SV-15")
	// The harness took the whole object away, and then the server left.
	without := func(asks ...func(*history.Event)) *historyBuilder {
		h := three(v1, v2, v1)
		if len(asks) > 0 {
			h.asks("a", 200, 10, asks...)
		}
		return h.deletes(things, 10).leaves("b", 11).pass(time.Second).asks("b", 200, 12, numbered(12)).writes("b", v2, 12)
	}
	without(tampering(things)).blames(t, "SV-15")
	without().blames(t, "SV-15", none)
	custom := func(sent time.Duration) *historyBuilder {
		return three(v1).customizes("create", 7).says(soundings, 8, "a="+c1, "b="+c1, "c="+c1).leaves("b", 10).says(soundings, 11, "a="+c1, "c="+c1).pass(10*time.Second).
			sounds("b", 12).asks("b", 200, 12, numbered(12), ofSoundings, sentBefore(sent))
	}
	custom(0).blames(t, "SV-24", "b stored x of the custom resource soundings as custom.io/v1 at revision 12, when it had announced nothing")
	custom(20*time.Second).blames(t, "SV-24")
	undefined := func(byHarness bool) *historyBuilder {
		h := three(v1).customizes("create", 7).says(soundings, 8, "a="+c1, "b="+c1, "c="+c1)
		if byHarness {
			h.customizes("delete", 9)
		}
		return h.deletes(soundings, 10).leaves("b", 11).pass(time.Second).
			sounds("b", 12).asks("b", 200, 12, numbered(12), ofSoundings)
	}
	undefined(true).blames(t, "SV-24")
	undefined(false).blames(t, "SV-24", "b stored x of the custom resource soundings as custom.io/v1 at revision 12, when it had announced nothing")
}

const (
	soundings = "custom.io.soundings"
	c1        = "custom.io/v1"
)

// ofSoundings has a request be about the custom resource.
func ofSoundings(ev *history.Event) {
	ev.Request.Class, ev.Request.Group, ev.Request.Resource = history.ClassCustom, "custom.io", "soundings"
}

// A write is of the resource that was asked for, also where the bytes that are stored name another
// one, or none.
func TestSV15_StoredBytesNameAnotherResource(t *testing.T) {
	stores := func(apiVersion, kind string) *historyBuilder {
		h := three(v1).asks("b", 200, 12, numbered(12))
		return h.stored(history.Stored{Type: history.StoredPut, Key: "/registry/g.io/things/x", Name: "x", Revision: 12, APIVersion: apiVersion, ObjectKind: kind, Writer: "b", Write: 12})
	}
	stores(v1, "Thing").blames(t, "SV-15")
	stores("old.io/v1", "Thing").blames(t, "SV-15", "b stored x as old.io/v1 at revision 12, when it had announced g.io/v1")
	stores("", "").blames(t, "SV-15", "b stored x as  at revision 12, when it had announced g.io/v1")
	// A controller has copied the tag to an object of its own.
	copied := three(v1).asks("b", 200, 12, numbered(12)).writes("b", v1, 12)
	copied.stored(history.Stored{Type: history.StoredPut, Key: "/registry/old.io/others/x", Name: "x", Revision: 13, APIVersion: "old.io/v1", ObjectKind: "Other", Writer: "b", Write: 12})
	copied.blames(t, "SV-15")
}

// customizes has the harness create or delete the definition of soundings.
func (t *historyBuilder) customizes(verb string, revision int64) *historyBuilder {
	t.asks("a", 200, revision, func(ev *history.Event) {
		ev.Request.Class, ev.Request.Verb, ev.Request.Group, ev.Request.Resource = "", verb, "apiextensions.k8s.io", "customresourcedefinitions"
		ev.Request.Defines = &history.Definition{Group: "custom.io", Resource: "soundings", Versions: []string{"v1"}}
	})
	if verb != "create" {
		return t
	}
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/soundings.custom.io",
		APIVersion: "apiextensions.k8s.io/v1", ObjectKind: "CustomResourceDefinition", Name: "soundings.custom.io", Revision: revision, Created: revision})
}

func (t *historyBuilder) sounds(member string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/custom.io/soundings/x", Name: "x", Revision: revision,
		APIVersion: c1, ObjectKind: "Sounding", Writer: member, Write: revision})
}

// A custom resource is defined anew and announced; then a server that is behind takes
// the announcement away, because of the definition before, and all go on storing.
func TestSV24WithdrawnAfterItIsDefinedAnew(t *testing.T) {
	anew := func() *historyBuilder {
		return three(v1).customizes("create", 10).says(soundings, 11, "a="+c1, "b="+c1, "c="+c1).sounds("a", 12).
			customizes("delete", 13).pass(time.Second).deletes(soundings, 14).pass(time.Minute)
	}
	anew().sounds("a", 15).blames(t, "SV-24") // it finishes what it was asked for
	anew().customizes("create", 16).says(soundings, 17, "a="+c1, "b="+c1, "c="+c1).sounds("a", 18).deletes(soundings, 19).sounds("a", 20).
		blames(t, "SV-24", "a stored x of the custom resource soundings as custom.io/v1 at revision 20, when it had announced nothing")
	anew().customizes("create", 16).says(soundings, 17, "a="+c1, "b="+c1, "c="+c1).asks("a", 200, 19, tampering(soundings)).deletes(soundings, 19).sounds("a", 20).blames(t, "SV-24")
}

// What is custom has entries that a collector can strip, too.
func TestSV20StripsWhatIsCustom(t *testing.T) {
	custom := history.HostedResource{Group: "custom.io", Resource: "soundings", Kind: "Sounding", Served: []string{c1}, Persisted: true, Custom: true}
	defined := func() *historyBuilder {
		return led(v1).customizes("create", 7).says(soundings, 8, "a="+c1, "b="+c1).hosts("a", 9, custom)
	}
	defined().says(soundings, 12, "b="+c1).blames(t, "SV-20", "custom.io.soundings lost the entry of ida, which takes part")
	defined().deletes(soundings, 12).blames(t, "SV-20", "custom.io.soundings was removed with the entry of ida", "custom.io.soundings was removed with the entry of idb")
	defined().customizes("delete", 11).says(soundings, 12, "b="+c1).blames(t, "SV-20")
	h := defined().says(soundings, 12, "b="+c1).deletes(soundings, 13)
	h.asks("a", 200, 11, sentBefore(time.Second), func(ev *history.Event) {
		ev.Request.Class, ev.Request.Verb, ev.Request.Defines = "", "delete", &history.Definition{Group: "custom.io", Resource: "soundings"}
	}).blames(t, "SV-20")
	// It is defined again before a server has taken back what it had said of the one before.
	anew := func(later time.Duration) *historyBuilder {
		return defined().customizes("delete", 11).customizes("create", 12).pass(later)
	}
	withdrawn := requirement.MustBound("SV-20", "withdrawnWithin")
	anew(withdrawn-time.Second).says(soundings, 13, "b="+c1).blames(t, "SV-20")
	anew(withdrawn+2*time.Second).says(soundings, 13, "b="+c1).blames(t, "SV-20", "custom.io.soundings lost the entry of ida, which takes part")
	anew(time.Second).says(soundings, 13).says(soundings, 14, "a="+c1, "b="+c1).says(soundings, 15, "b="+c1).
		blames(t, "SV-20", "custom.io.soundings lost the entry of ida, which takes part")
	// The harness takes the entry out itself: then only its own revision is excused.
	edited := func(revision int64) *historyBuilder {
		return defined().asks("b", 200, revision, tampering(soundings), func(ev *history.Event) {
			ev.Request.Verb, ev.Request.Resource = "update", "storageversions/status"
		}).says(soundings, 12, "b="+c1)
	}
	edited(12).blames(t, "SV-20")
	edited(11).blames(t, "SV-20", "custom.io.soundings lost the entry of ida, which takes part")
	// And when a write of the collector is held back, an entry that comes meanwhile.
	defined().delays(history.PhaseInject).says(soundings, 11, "a="+c1, "b="+c1, "guest="+c1).joins("guest", 12).says(soundings, 13, "b="+c1, "guest="+c1).
		blames(t, "SV-19", "a write to custom.io.soundings took the entry of ida away")
}

// A server that starts takes the stale entry out; the collector does nothing at all.
func TestSV20WhatAStartingServerCleans(t *testing.T) {
	h := led(v1).says(things, 10, "a="+v1, "b="+v1, "x="+v1).pass(time.Second)
	for range needBlindLookups {
		h.exchanged("GET", leasesPath, 500, time.Millisecond, 0)
	}
	h.starts("b", 1).says(things, 12, "a="+v1, "b="+v1).ready("b", 200, 12).verdictOf(t, "SV-20", check.Inconclusive)
}

// The look-ups of one that does not lead fail, which collects nothing.
func TestSV20WhoDoesNotLead(t *testing.T) {
	h := led(v1).manager("b", history.ProcessStarted).says(things, 10, "a="+v1, "b="+v1, "x="+v1).pass(time.Second)
	for range needBlindLookups {
		h.exchanged("GET", leasesPath, 500, time.Millisecond, 0)
		h.events[len(h.events)-1].Member = "b"
	}
	h.says(things, 12, "a="+v1, "b="+v1).verdictOf(t, "SV-20", check.Inconclusive)
}

// While the recorder of etcd is away others tell of the time that passes; and a
// collector whose manager has given up its Lease is no collector.
func TestSV08NobodyCanNotice(t *testing.T) {
	var long = joiningShows + 5*time.Second
	reports := func(h *historyBuilder) *historyBuilder {
		return h.disagrees(things, 8, "a="+v1, "b="+v1).says(things, 9, "a="+v1, "b="+v1, "c="+v1)
	}
	reports(joinsSilently().pass(long).ready("a", 200, 0).away(long)).blames(t, "SV-08")
	// What it reports after so long is the first that etcd tells.
	counted(t, joinsSilently().disagrees(things, 7, "a="+v1, "b="+v1).pass(long).says(things, 9, "a="+v1, "b="+v1, "c="+v1).blames(t, "SV-08"), "did not report for long", 1)
	led := newHistory().hosts("a", 1).joins("a", 2).joins("b", 3).starts("a", 1).manager("a", history.ProcessStarted).leads("a", 4).says(things, 5, "a="+v1, "b="+v1).starts("c", 1)
	led.manager("a", history.ProcessExited).stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: 6, Lease: &history.Lease{}})
	reports(led.joins("c", 7).pass(long).joins("x", 8)).blames(t, "SV-08")
}

// c joined and reported nothing, and leaves while no controller manager is there that
// could see that the others agree now.
func TestSV06NoServerCanNotice(t *testing.T) {
	led := func() *historyBuilder {
		return newHistory().starts("a", 1).manager("a", history.ProcessStarted).leads("a", 1).joins("a", 2).joins("b", 3).joins("c", 4).disagrees(things, 5, "a="+v1, "b="+v1)
	}
	const late = "has had equal entries of all participants for"
	led().manager("a", history.ProcessExited).leaves("c", 6).pass(time.Minute).writes("a", v1, 7).blames(t, "SV-06")
	led().leaves("c", 6).pass(time.Minute).writes("a", v1, 7).blames(t, "SV-06", late)
	// The server that reports last needs no leader to do so.
	led().manager("a", history.ProcessExited).disagrees(things, 6, "a="+v1, "b="+v1, "c="+v1).pass(time.Minute).writes("a", v1, 7).blames(t, "SV-06", late)
}

// The recorder was delayed while the Lease was renewed. Where all servers were down for a
// long time, no collector could delete a Lease that expired meanwhile.
func TestSV16RenewalsThatAreToldLate(t *testing.T) {
	led(v2).idle(time.Minute).renews("b", 10, 3, time.Minute).unheard(6*time.Minute).writes("a", v1, 11).renews("b", 12, 3, 6*time.Minute+55*time.Second).blames(t, "SV-16")
	down := func() *historyBuilder {
		return led(v2).renews("b", 10, 3, 0).manager("a", history.ProcessExited).exits("a", 1).pass(10*time.Minute).starts("a", 2).manager("a", history.ProcessStarted).ready("a", 200, 11)
	}
	down().pass(time.Minute).writes("a", v1, 12).leaves("b", 13).says(things, 14, "a="+v1).blames(t, "SV-16")
	down().pass(6*time.Minute).writes("a", v1, 12).blames(t, "SV-16", "whose identity Lease has not been renewed since")
}

// c is a server without the StorageVersion API: it has nothing to publish, and the others
// can agree on nothing while it takes part. Each of the others goes on as required.
func TestNothingIsAskedOfAServerWithoutTheAPI(t *testing.T) {
	without := func() *historyBuilder {
		return three(v1).stops("c", 1).startsWithout("c", 2).disagrees(things, 10, "a="+v1, "b="+v1).ready("c", 200, 10).hosts("c", 10).
			holds(history.PhaseBegin, 10).asks("c", 200, 11, numbered(11)).writes("c", v1, 11).writes("a", v1, 12).writes("b", v1, 13).
			shows("a", history.WatchOpened, nil).shows("a", "ADDED", nil).holds(history.PhaseEnd, 20)
	}
	for _, id := range []requirement.ID{"SV-01", "SV-03", "SV-12", "SV-14", "SV-15", "SV-21", "SV-22", "SV-25"} {
		without().blames(t, id)
	}
	newHistory().joins("a", 1).starts("c", 1).hosts("a", 2).stops("c", 1).startsWithout("c", 2).joins("c", 3).ready("c", 200, 10).hosts("c", 10).asks("c", 200, 11).writes("a", v1, 12).blames(t, "SV-12")
	// What it had said before, under another release, is not its word any more.
	three(v1).stops("c", 1).startsWithout("c", 2).disagrees(things, 10, "a="+v1, "b="+v1, "c="+v1).ready("c", 200, 10).
		lists("c", 10, history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Served: []string{v2}, Persisted: true}).writes("c", v1, 11).blames(t, "SV-05")
	without().customizes("create", 21).sounds("c", 22).blames(t, "SV-24")
	// It leaves a stale entry where it is, and its own, without having begun anything.
	said := three(v1).says(things, 7, "a="+v1, "b="+v1, "c="+v1, "x="+v1).stops("c", 1).startsWithout("c", 2).ready("c", 200, 10).hosts("c", 10).writes("a", v1, 11)
	said.blames(t, "SV-17")
	counted(t, said.blames(t, "SV-23"), "as it would have written them", 0)
}

// a no longer hosts things and forwards requests for them. The entry of the process before
// is still there.
func TestSV15HandsOnWhatItHadAnnounced(t *testing.T) {
	handsOn := func() *historyBuilder {
		return three(v1, v2).stops("a", 1).starts("a", 2).ready("a", 200, 10)
	}
	handsOn().lists("a", 10).writes("a", v2, 11).writes("b", v2, 12).blames(t, "SV-15")
	handsOn().writes("a", v2, 11).lists("a", 12).writes("b", v2, 13).blames(t, "SV-15")
	handsOn().hosts("a", 10).writes("a", v2, 11).blames(t, "SV-15", "a stored x as g.io/v2 at revision 11, when it had announced g.io/v1")
}

// b has left, and its entry with it; the others agree. It finishes what it was asked for.
func TestSV21SV25FinishesWhatItWasAskedFor(t *testing.T) {
	left := func() *historyBuilder {
		return three(v1, v2, v1).stops("c", 1).startsWithout("c", 2).stops("c", 2).starts("c", 3).says(things, 8, "a="+v1, "b="+v2, "c="+v1).
			stops("b", 1).starts("b", 2).ready("b", 200, 9).hosts("b", 9)
	}
	for _, id := range []requirement.ID{"SV-21", "SV-25"} {
		left().leaves("b", 10).says(things, 11, "a="+v1, "c="+v1).writes("b", v2, 12).blames(t, id)
		left().says(things, 11, "a="+v1, "c="+v1).writes("b", v2, 12).verdictOf(t, id, check.Fail)
		left().leaves("b", 10).says(things, 11, "a="+v1, "c="+v1).pass(finishesWithin+recorderLag+time.Second).writes("b", v2, 12).verdictOf(t, id, check.Fail)
	}
}

// The changes that the harness makes to StorageVersions count for no server: it removes an
// entry as an administrator, and edits entries that no server reports.
func TestWhatTheHarnessEdits(t *testing.T) {
	edits := func(h *historyBuilder, verb string, revision int64) *historyBuilder {
		return h.asks("b", 200, revision, tampering(things), func(ev *history.Event) {
			ev.Request.Verb = verb
			if verb == "update" {
				ev.Request.Resource += "/status"
			}
		})
	}
	const lost, moved = "g.io.things lost the entry of ida", "g.io.things moved to revision 12 although nothing in it changed"
	during := func(h *historyBuilder, verb string, revision int64) *historyBuilder {
		edits(h, verb, revision)
		h.events[len(h.events)-1].From -= int64(10 * time.Millisecond)
		return h
	}
	during(led(v1).says(things, 12, "b="+v1), "update", 12).blames(t, "SV-20")
	edits(led(v1), "update", 12).says(things, 12, "b="+v1).blames(t, "SV-20")
	edits(led(v1), "update", 11).says(things, 12, "b="+v1).blames(t, "SV-20", lost)
	during(led(v1).says(things, 12, "a="+v1, "b="+v1), "patch", 12).blames(t, "SV-23")
	edits(led(v1).says(things, 12, "a="+v1, "b="+v1).pass(time.Second), "patch", 12).blames(t, "SV-23", moved) // which found it so
	probed := during(led(v1).says(things, 12, "a="+v1, "b="+v1), "update", 12)
	class(history.ClassInvalid)(&probed.events[len(probed.events)-1])
	probed.blames(t, "SV-23", moved)
	edits(led(v1).says(things, 12, "a="+v1, "b="+v1), "patch", 13).blames(t, "SV-23", moved)
	unanswered := during(led(v1).says(things, 12, "a="+v1, "b="+v1), "patch", 0)
	unanswered.events[len(unanswered.events)-1].Request.Code = 0
	reason(t, unanswered.blames(t, "SV-23"), "it is not known whether the harness wrote revision 12")
	again := func() *historyBuilder {
		return three(v1).stops("a", 1).starts("a", 2).ready("a", 200, 8).hosts("a", 8).says(things, 12, "b="+v1, "c="+v1)
	}
	during(again(), "update", 12).writes("b", v1, 13).blames(t, "SV-21")
	edits(again(), "update", 11).writes("b", v1, 13).blames(t, "SV-21", "after its restart a has no entry")
}

// A server that was up for long shuts its barrier anew, because its Lease has lapsed. What
// it answered when that was open says nothing of what passes it, and what it refuses then
// nothing of its registration.
func TestTheBarrierThatIsShutAnew(t *testing.T) {
	up := func() *historyBuilder {
		return three(v1).asks("a", 200, 7, class(history.ClassRead), verb("get")).pass(time.Second)
	}
	counted(t, up().asks("a", 503, 0).blames(t, "SV-13"), "class read that passed during the barrier", 0)
	booting := newHistory().starts("a", 1).asks("a", 200, 7, class(history.ClassRead), verb("get")).asks("a", 503, 0).ready("a", 200, 9)
	counted(t, booting.blames(t, "SV-13"), "class read that passed during the barrier", 1)
	counted(t, up().asks("a", 503, 0).blames(t, "SV-12"), "refused by a server that had not registered", 0)
	counted(t, booting.blames(t, "SV-12"), "refused by a server that had not registered", 1)
	// One that lets writes time out as it starts has refused none.
	slow := func() *historyBuilder {
		return newHistory().joins("a", 1).starts("a", 1).asks("a", 0, 0).pass(10*time.Second).says(things, 5, "a="+v1).ready("a", 200, 6).hosts("a", 6)
	}
	reason(t, slow().blames(t, "SV-12"), "a answered a update in g.io.things with nothing instead of 503")
	reason(t, slow().asks("a", 503, 0).blames(t, "SV-12"), "a answered a update in g.io.things with nothing instead of 503")
}

// What a member hands on another one stores.
func TestSV15CountsWhatMembersStoreThemselves(t *testing.T) {
	h := three(v1).stops("a", 1).starts("a", 2).ready("a", 200, 10).lists("a", 10)
	for i := range int64(needWritesEach) {
		h.writes("a", v1, 11+3*i).writes("b", v1, 12+3*i).writes("c", v1, 13+3*i)
	}
	counted(t, h.blames(t, "SV-15"), "of the member with the fewest", 0)
}
