package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// storms injects or heals a storm over things at a.
func (t *historyBuilder) storms(phase history.Phase, count int64) *historyBuilder {
	f := &history.Fault{ID: "storm-1", Type: history.FaultConflictStorm, Action: history.FaultConflictStormEdits, Objects: []string{things}, Phase: phase, Count: count}
	if phase == history.PhaseWitness {
		f.Proof = "p"
	}
	return t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: f})
}

// edits has the harness edit things n times, half a second apart.
func (t *historyBuilder) edits(n int) *historyBuilder {
	for range n {
		t.pass(500*time.Millisecond).asks("b", 200, 0, tampering(things), verb("patch"))
	}
	return t
}

func TestSV10Conflicts(t *testing.T) {
	// begins is a storm in which a starts, whose entry was taken out.
	begins := func() *historyBuilder {
		return newHistory().joins("a", 1).joins("b", 2).says(things, 5, "b="+v1).storms(history.PhaseInject, 0).starts("a", 1)
	}
	etcd := func(h *historyBuilder, member, change string) *historyBuilder {
		return h.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{Component: history.ComponentEtcd, Change: change, Instance: 1}})
	}
	const late, gaveUp = "a is not ready", "a was ready at revision 9 and had no entry in g.io.things"
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"registered", begins().edits(4).says(things, 8, "a="+v1, "b="+v1).ready("a", 200, 9).hosts("a", 9), nil},
		{"not ready in time", begins().edits(int(registers/time.Second) * 3), []string{late}},
		{"ready too late, and the recorder did not look meanwhile", begins().edits(4).says(things, 8, "a="+v1, "b="+v1).pass(registers).ready("a", 200, 9).hosts("a", 9), []string{"a was ready only"}},
		{"registered, and its discovery is told after the storm", begins().edits(4).ready("a", 200, 9).storms(history.PhaseHeal, 0).hosts("a", 9).says(things, 10, "a="+v1, "b="+v1), []string{gaveUp}},
		{"gave up", begins().edits(4).ready("a", 200, 9).hosts("a", 9).says(things, 10, "a="+v1, "b="+v1), []string{gaveUp}},
		{"does not host it any more", begins().edits(4).ready("a", 200, 9).lists("a", 9).says(things, 10, "b="+v1), nil},
		{"the storm was over in time", begins().edits(4).storms(history.PhaseHeal, 0).pass(registers).ready("b", 200, 9), nil},
		{"fell over again and again", func() *historyBuilder {
			h := begins()
			for i := range 5 {
				h.edits(60).exits("a", i+1).starts("a", i+2)
			}
			return h
		}(), []string{late}},
		{"ended on purpose", begins().edits(60).add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
			Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: 1, Expected: true}}).edits(300), nil},
		{"its etcd is stopped", etcd(etcd(begins(), "a", history.ProcessStarted), "a", history.ProcessStopping).edits(300), nil},
		{"etcd has no majority", etcd(etcd(begins(), "b", history.ProcessStarted), "b", history.ProcessStopping).edits(300), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.h.blames(t, "SV-10", tc.blames...)
		})
	}
	t.Run("a slow storm is none", func(t *testing.T) {
		r := begins().edits(2).pass(10*stormy).edits(2).says(things, 8, "a="+v1, "b="+v1).ready("a", 200, 9).hosts("a", 9).blames(t, "SV-10")
		counted(t, r, "edited more often than once a second", 0)
	})
}

func TestSV24Custom(t *testing.T) {
	const custom, c1, c2 = "custom.io.soundings", "custom.io/v1", "custom.io/v2"
	defines := func(h *historyBuilder) *historyBuilder {
		return h.asks("a", 200, 0, func(ev *history.Event) {
			ev.Request.Defines = &history.Definition{Group: "custom.io", Resource: "soundings", Versions: []string{"v1", "v2"}}
		})
	}
	stores := func(h *historyBuilder, version string, revision int64) *historyBuilder {
		return h.stored(history.Stored{Type: history.StoredPut, Key: "/registry/custom.io/soundings/x", Name: "x", Revision: revision,
			APIVersion: version, ObjectKind: "Sounding", Writer: "a", Write: revision})
	}
	begins := func() *historyBuilder { return defines(newHistory().starts("a", 1).joins("a", 2)) }
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"announced", stores(begins().says(custom, 5, "a="+c1), c1, 6), nil},
		{"never announced", stores(begins(), c1, 6), []string{"as custom.io/v1 at revision 6, when it had announced nothing in " + custom}},
		{"announced afterwards", stores(begins(), c1, 6).says(custom, 7, "a="+c1), []string{"nothing"}},
		{"flipped first", stores(begins().says(custom, 5, "a="+c1), c2, 6).says(custom, 7, "a="+c2), []string{"as custom.io/v2 at revision 6, when it had announced custom.io/v1"}},
		{"flipped back without a word", stores(stores(begins().says(custom, 5, "a="+c2), c2, 6), c1, 7), []string{"had announced custom.io/v2"}},
		{"each write counts", stores(stores(begins().says(custom, 5, "a="+c2), c1, 6), c1, 7), []string{"had announced custom.io/v2", "had announced custom.io/v2"}},
		{"another server's word", stores(begins().says(custom, 5, "b="+c1), c1, 6), []string{"nothing"}},
		{"a resource that the harness did not define", stores(newHistory().starts("a", 1).joins("a", 2), c1, 6), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-24", tc.blames...) })
	}
}

// The deviation covers servers that do not publish custom resources. It does not cover
// servers that publish them late.
func TestSV24Deviates(t *testing.T) {
	for _, published := range []bool{false, true} {
		h := newHistory().starts("a", 1).joins("a", 2).asks("a", 200, 0, func(ev *history.Event) {
			ev.Request.Defines = &history.Definition{Group: "custom.io", Resource: "soundings", Versions: []string{"v1"}}
		})
		h.header.Distribution = "kubernetes"
		h.events[0].Process.Release = "v1.35.4"
		if published {
			h.says("custom.io.soundings", 5, "b=custom.io/v1")
		}
		h.stored(history.Stored{Type: history.StoredPut, Key: "/registry/custom.io/soundings/x", Name: "x", Revision: 6,
			APIVersion: "custom.io/v1", ObjectKind: "Sounding", Writer: "a", Write: 6})
		r := h.judge(t, "SV-24")[0]
		if deviates := len(r.Deviations) == 1 && r.ViolationCount == 0; deviates == published {
			t.Errorf("published %v: %+v, %v", published, r.Deviations, r.Violations)
		}
	}
}
