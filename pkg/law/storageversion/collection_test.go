package storageversion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// manager is a change in the life of a member's controller manager.
func (t *historyBuilder) manager(member, change string) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentControllerManager, Change: change, Instance: 1}})
}

// leads has the controller manager of a member hold the Lease of the leader.
func (t *historyBuilder) leads(member string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: revision, Lease: &history.Lease{Holder: member + "_1"}})
}

// led is a control plane of two whose collector runs at a; both have said v1 of
// things, or what is given for b.
func led(b string) *historyBuilder {
	return newHistory().starts("a", 1).manager("a", history.ProcessStarted).leads("a", 1).joins("a", 2).joins("b", 3).
		says(things, 5, "a="+v1, "b="+b).hosts("a", 6).ready("a", 200, 6)
}

// idle lets time pass and records an event that no obligation depends on.
func (t *historyBuilder) idle(d time.Duration) *historyBuilder { return t.pass(d).ready("a", 200, 0) }

// back has the identity Lease of b, which has ended, come back between two times without it; b itself
// is started again or not.
func back(without, with time.Duration, started bool) *historyBuilder {
	h := led(v2).starts("b", 1).pass(collectorStarts).exits("b", 1).leaves("b", 10).idle(without)
	if started {
		h.starts("b", 2)
	}
	return h.joins("b", 11).idle(with).leaves("b", 12).idle(without)
}

func TestSV16Departed(t *testing.T) {
	still := "g.io.things still has an entry of idb, which has had no identity Lease for"
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"stripped in time", led(v2).leaves("b", 10).pass(20*time.Second).says(things, 12, "a="+v1).idle(time.Minute), nil},
		{"never stripped", led(v2).leaves("b", 10).idle(time.Minute), []string{still}},
		{"never stripped, and joined again", led(v2).leaves("b", 10).idle(10*time.Second).joins("b", 12).idle(time.Minute), nil},
		{"an entry made up", led(v1).says(things, 10, "a="+v1, "b="+v1, "x="+v1).idle(time.Minute), []string{"an entry of idx"}},
		{"no leader", led(v2).manager("a", history.ProcessExited).leaves("b", 10).idle(time.Minute), nil},
		{"the leader stands still", led(v2).manager("a", history.ProcessPaused).leaves("b", 10).idle(time.Minute), nil},
		{"the leader stood still", led(v2).manager("a", history.ProcessPaused).leaves("b", 10).idle(time.Minute).manager("a", history.ProcessResumed).idle(30 * time.Second), nil},
		{"the leader stood still, and then had time", led(v2).manager("a", history.ProcessPaused).leaves("b", 10).idle(time.Minute).manager("a", history.ProcessResumed).idle(time.Minute), []string{still}},
		{"the leader's API server is down", led(v2).exits("a", 1).leaves("b", 10).idle(time.Minute), nil},
		{"the leader's API server is paused", led(v2).server("a", 1, history.ProcessPaused).leaves("b", 10).idle(time.Minute), nil},
		{"the leader's API server is told to end", led(v2).server("a", 1, history.ProcessStopping).leaves("b", 10).idle(time.Minute), nil},
		{"no agreement is formed", led(v2).leaves("b", 10).disagrees(things, 12, "a="+v1).idle(time.Minute), []string{"no version was called agreed for"}},
		{"the last entry", led(v2).leaves("b", 10).says(things, 12, "b="+v2).idle(time.Minute), []string{still}},
		{"its Lease was back for a moment", back(20*time.Second, time.Second, false), []string{still + " 40s"}},
		{"its Lease was back for a moment, before the bound was over", back(10*time.Second, time.Second, false), nil},
		{"its Lease was back for long", back(10*time.Second, time.Minute, false), nil},
		{"it was back for a moment", back(20*time.Second, time.Second, true), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-16", tc.blames...) })
	}
	t.Run("what is left at the end is not judged", func(t *testing.T) {
		reason(t, led(v2).leaves("b", 10).idle(10*time.Second).blames(t, "SV-16"), "1 open: g.io.things: the history ended")
	})
	t.Run("a Lease that expired long ago", func(t *testing.T) {
		led(v2).renews("b", 10, 3, 0).idle(4*time.Minute).blames(t, "SV-16")
		led(v2).renews("b", 10, 3, 0).idle(10*time.Minute).blames(t, "SV-16", "whose identity Lease has not been renewed since")
	})
	t.Run("counted", func(t *testing.T) {
		r := led(v2).leaves("b", 10).says(things, 12, "a="+v1).idle(time.Second).blames(t, "SV-16")
		counted(t, r, "entries that went", 1)
		counted(t, r, "agreements that were formed", 1)
		r = led(v2).leaves("b", 10).deletes(things, 12).asks("a", 200, 12, tampering(things), sentBefore(time.Second)).idle(time.Second).blames(t, "SV-16")
		counted(t, r, "entries that went", 0) // the harness did it
		r = led(v1).says(things, 10, "a="+v1, "b="+v1, "x="+v1).says(things, 11, "a="+v1, "b="+v1).blames(t, "SV-16")
		counted(t, r, "entries that went", 0) // it had never taken part
	})
}

// An identity Lease that does not say for how long it is valid ends no duty of a server that has gone.
func TestSV16_ALeaseWithoutADuration(t *testing.T) {
	const unclear = "does not say for how long it is valid"
	gone := func(h *historyBuilder, after time.Duration) *historyBuilder {
		return h.starts("b", 1).pass(time.Minute).exits("b", 1).idle(after)
	}
	within := requirement.MustBound("SV-16", "expiredGoes")
	reason(t, gone(led(v2), within+time.Second).blames(t, "SV-16"), unclear)
	for _, h := range []*historyBuilder{
		gone(led(v2), within-time.Second),
		gone(led(v2).renews("b", 10, 3, 0), time.Minute),
		gone(led(v2), time.Minute).leaves("b", 10).says(things, 12, "a="+v1).idle(within),
		led(v2).starts("b", 1).idle(within + time.Minute),
	} {
		if r := h.blames(t, "SV-16"); strings.Contains(fmt.Sprint(r.Reasons), unclear) {
			t.Errorf("the reasons are %q", r.Reasons)
		}
	}
}

func TestSV17Boot(t *testing.T) {
	// off is a control plane without controller managers that b has left, and
	// again is a's second process.
	off := func() *historyBuilder {
		return newHistory().starts("a", 1).joins("a", 2).joins("b", 3).says(things, 5, "a="+v1, "b="+v1).hosts("a", 6).leaves("b", 8)
	}
	again := func(h *historyBuilder) *historyBuilder { return h.exits("a", 1).starts("a", 2) }
	left := "a was ready at revision 12 and had left an entry in g.io.things of idb, which does not take part"
	for _, tc := range []struct {
		name    string
		h       *historyBuilder
		blames  []string
		cleaned int64
	}{
		{"removed", again(off()).says(things, 10, "a="+v1).ready("a", 200, 12).says(things, 14, "a="+v2), nil, 1},
		{"left", again(off()).ready("a", 200, 12).says(things, 14, "a="+v1), []string{left}, 1},
		{"removed with the object", again(off()).deletes(things, 10).ready("a", 200, 12).says(things, 14, "a="+v1), nil, 1},
		{"a controller manager was there", again(off().manager("c", history.ProcessStarted)).says(things, 10, "a="+v1).ready("a", 200, 12), nil, 0},
		{"a controller manager came", again(off()).manager("c", history.ProcessStarted).says(things, 10, "a="+v1).ready("a", 200, 12), nil, 0},
		{"another server was there", again(off().starts("c", 1)).says(things, 10, "a="+v1).ready("a", 200, 12), nil, 0},
		{"another server came", again(off()).starts("c", 1).says(things, 10, "a="+v1).ready("a", 200, 12), nil, 0},
		{"left, with another server there", again(off().starts("c", 1)).ready("a", 200, 12).says(things, 14, "a="+v1), []string{left}, 0},
		{"it had come back", again(off()).joins("b", 9).ready("a", 200, 12).says(things, 14, "a="+v1), nil, 0},
		{"in an object that is not its own", again(off().says("g.io.others", 9, "b="+v1)).says(things, 10, "a="+v1).ready("a", 200, 12).deletes("g.io.others", 14), nil, 1},
		{"it left only after the start", again(newHistory().starts("a", 1).joins("a", 2).joins("b", 3).says(things, 5, "a="+v1, "b="+v1).hosts("a", 6)).leaves("b", 8).ready("a", 200, 12).says(things, 14, "a="+v1), nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) { counted(t, tc.h.blames(t, "SV-17", tc.blames...), "stale entries", tc.cleaned) })
	}
}

func TestSV18Empty(t *testing.T) {
	for _, tc := range []struct {
		name    string
		h       *historyBuilder
		blames  []string
		removed int64
	}{
		{"removed with its stale entry", led(v1).says("g.io.ghosts", 10, "x="+v1).deletes("g.io.ghosts", 12).idle(time.Minute), nil, 1},
		{"emptied and removed", led(v1).says("g.io.ghosts", 10, "x="+v1).says("g.io.ghosts", 11).deletes("g.io.ghosts", 12).idle(time.Minute), nil, 1},
		{"emptied and kept", led(v1).says("g.io.ghosts", 10, "x="+v1).says("g.io.ghosts", 11).idle(time.Minute), []string{"g.io.ghosts lost its last entry, and was not removed for"}, 0},
		{"emptied and reported in again", led(v1).says("g.io.ghosts", 10, "x="+v1).says("g.io.ghosts", 11).says("g.io.ghosts", 12, "a="+v1).idle(time.Minute), nil, 0},
		{"emptied while there is no leader", led(v1).manager("a", history.ProcessExited).says("g.io.ghosts", 10, "x="+v1).says("g.io.ghosts", 11).idle(time.Minute), nil, 0},
		{"never had one", led(v1).says("g.io.ghosts", 10).idle(time.Minute), nil, 0},
		{"removed with a live entry", led(v1).deletes(things, 12).idle(time.Minute), nil, 0},
		{"removed by the harness", led(v1).says("g.io.ghosts", 10, "x="+v1).asks("a", 200, 12, tampering("g.io.ghosts")).deletes("g.io.ghosts", 12).idle(time.Minute), nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			counted(t, tc.h.blames(t, "SV-18", tc.blames...), "StorageVersions removed", tc.removed)
		})
	}
}

// holds back, or no longer, what the controller manager of a member writes.
func (t *historyBuilder) delays(phase history.Phase) *historyBuilder {
	return t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
		ID: "f-1", Type: history.FaultHTTP, Action: history.FaultHTTPDelay, Component: history.ComponentControllerManager, Phase: phase, Proof: "p"}})
}

// exchanged is a request of the controller manager that a fault has hit and that
// came so long ago.
func (t *historyBuilder) exchanged(method, path string, code int, ago, held time.Duration) *historyBuilder {
	return t.add(history.Event{Kind: history.KindInterceptedRequest, Member: "a", From: t.now - int64(ago), InterceptedRequest: &history.InterceptedRequest{
		Component: history.ComponentControllerManager, Method: method, Path: path, Held: int64(held), Sent: true, Code: code}})
}

// reports is the answer to an entry that the harness has put into an object.
func (t *historyBuilder) reports(name string, revision int64) *historyBuilder {
	return t.asks("a", 200, revision, func(ev *history.Event) {
		ev.Request.Verb, ev.Request.Group, ev.Request.Resource, ev.Request.Name = "update", storageVersionGroup, "storageversions/status", name
	})
}

func TestSV19Conditional(t *testing.T) {
	const ghosts, path = "g.io.ghosts", storageVersionsPath + "g.io.ghosts"
	// raced is a control plane in which a guest reports while a write is held back.
	raced := func() *historyBuilder {
		return led(v1).joins("guest", 8).delays(history.PhaseInject).delays(history.PhaseWitness).says(ghosts, 10, "x="+v1).
			pass(time.Second).says(ghosts, 12, "x="+v1, "guest="+v1).reports(ghosts, 12)
	}
	for _, tc := range []struct {
		name             string
		h                *historyBuilder
		blames           []string
		deletes, updates int64
	}{
		{"a refused removal", raced().pass(time.Second).exchanged("DELETE", path, 409, 2*time.Second+500*time.Millisecond, 2*time.Second), nil, 1, 0},
		{"a refused update", raced().pass(time.Second).exchanged("PUT", path+"/status", 409, 2*time.Second+500*time.Millisecond, 2*time.Second), nil, 0, 1},
		{"a removal", raced().deletes(ghosts, 14), []string{"the removal of g.io.ghosts took the entry of idguest away"}, 0, 0},
		{"an update", raced().says(ghosts, 14), []string{"a write to g.io.ghosts took the entry of idguest away"}, 0, 0},
		{"a removal by the harness", raced().asks("a", 200, 14, tampering(ghosts)).deletes(ghosts, 14), nil, 0, 0},
		{"what came before the write was on its way", raced().pass(time.Minute).exchanged("DELETE", path, 409, 2*time.Second, 2*time.Second), nil, 0, 0},
		{"what came after it had gone on", raced().pass(time.Second).exchanged("DELETE", path, 409, 3*time.Second, time.Second), nil, 0, 0},
		{"another object", raced().pass(time.Second).exchanged("DELETE", storageVersionsPath+things, 409, 3*time.Second, 2*time.Second), nil, 0, 0},
		{"an old entry is SV-20's", led(v1).delays(history.PhaseInject).idle(2*time.Minute).says(things, 12, "a="+v1), nil, 0, 0},
		{"without a fault it is SV-20's", led(v1).says(things, 12, "a="+v1), nil, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.h.blames(t, "SV-19", tc.blames...)
			counted(t, r, "removals by a collector", tc.deletes)
			counted(t, r, "updates by a collector", tc.updates)
		})
	}
}

// An entry that may have come while the write was under way that took it away is lost by SV-20,
// and SV-19 does not hold for certain.
func TestSV19_ALossOfUncertainTimeIsNoPass(t *testing.T) {
	h := led(v1).joins("guest", 8).delays(history.PhaseInject).delays(history.PhaseWitness).says("g.io.ghosts", 10, "x="+v1).
		says("g.io.ghosts", 12, "x="+v1, "guest="+v1).pass(2 * time.Minute)
	h.add(history.Event{Kind: history.KindRecorderDelayed, From: 1, RecorderDelayed: &history.RecorderDelayed{Source: history.SourceEtcd}}).deletes("g.io.ghosts", 14)
	if r := h.blames(t, "SV-19"); r.Obligations.Unclear != 1 {
		t.Errorf("%+v", r.Obligations)
	}
	h.blames(t, "SV-20", "g.io.ghosts was removed with the entry of idguest, which takes part")
}

func TestSV20Stripped(t *testing.T) {
	const all, list = "/apis/coordination.k8s.io/v1", leasesPath
	guest := func() *historyBuilder {
		return led(v1).joins("guest", 8).says(things, 10, "a="+v1, "b="+v1, "guest="+v1)
	}
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"stripped", guest().says(things, 12, "a="+v1, "b="+v1), []string{"g.io.things lost the entry of idguest, which takes part"}},
		{"stripped of a member that is ready", led(v1).says(things, 12, "b="+v1), []string{"g.io.things lost the entry of ida"}},
		{"removed", guest().deletes(things, 12), []string{"removed with the entry of ida", "removed with the entry of idb", "removed with the entry of idguest"}},
		{"it had left", guest().leaves("guest", 11).says(things, 12, "a="+v1, "b="+v1), nil},
		{"it had left and come back", guest().leaves("guest", 11).joins("guest", 12).says(things, 14, "a="+v1, "b="+v1), nil},
		{"the harness removed it", guest().asks("a", 200, 12, tampering(things)).deletes(things, 12), nil},
		{"another server's report lost it", guest().says(things, 12, "a="+v2, "b="+v1), nil},
		{"it does not host it", led(v1).lists("a", 11).says(things, 12, "b="+v1), nil},
		{"it is starting", led(v1).exits("a", 1).starts("a", 2).says(things, 12, "b="+v1), nil},
		{"young, while writes are held back", guest().delays(history.PhaseInject).says(things, 12, "a="+v1, "b="+v1), nil},
		{"old, while writes are held back", guest().delays(history.PhaseInject).idle(2*time.Minute).says(things, 12, "a="+v1, "b="+v1), []string{"g.io.things lost the entry of idguest"}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-20", tc.blames...) })
	}
	stale := func() *historyBuilder {
		return led(v1).says(things, 10, "a="+v1, "x="+v1).pass(time.Second)
	}
	blind := func() *historyBuilder { return stale().exchanged("GET", list, 500, time.Millisecond, 0) }
	watched := blind()
	watched.events[len(watched.events)-1].InterceptedRequest.Watch = true
	// Who takes the others out with it was at work, too.
	const went = "whose stale entries went later"
	counted(t, blind().deletes(things, 12).blames(t, "SV-20", "removed with the entry of ida"), went, 1)
	counted(t, blind().says(things, 12).blames(t, "SV-20", "lost the entry of ida"), went, 1)
	counted(t, blind().asks("a", 200, 12, tampering(things)).deletes(things, 12).blames(t, "SV-20"), went, 0)
	for _, tc := range []struct {
		name           string
		h              *historyBuilder
		blind, tempted int64
	}{
		{"a list after a stale entry came, which went later", blind().says(things, 12, "a="+v1), 1, 1},
		{"one by one", stale().exchanged("GET", list+"/ida", 403, 0, 0).exchanged("GET", list+"/idx", 403, 0, 0).says(things, 12, "a="+v1), 2, 1},
		{"it did not go", blind(), 1, 0},
		{"more came meanwhile", blind().says(things, 12, "a="+v1, "x="+v1, "b="+v1).says(things, 13, "a="+v1, "b="+v1), 1, 1},
		{"another one went", blind().says(things, 12, "a="+v1, "x="+v1, "y="+v1).says(things, 13, "a="+v1, "x="+v1), 1, 0},
		{"it joined", blind().joins("x", 12).leaves("x", 13).says(things, 14, "a="+v1, "x="+v2).says(things, 15, "a="+v1), 1, 0},
		{"it went with a report", blind().says(things, 12, "a="+v2), 1, 0},
		{"it went before", stale().says(things, 12, "a="+v1).exchanged("GET", list, 500, 0, 0), 1, 0},
		{"it went when no controller manager was there", blind().manager("a", history.ProcessExited).says(things, 12, "a="+v1), 1, 0},
		{"a list before", led(v1).says(things, 10, "a="+v1, "x="+v1).exchanged("GET", list, 500, time.Second, 0).says(things, 12, "a="+v1), 1, 0},
		{"nothing to be tempted by", led(v1).says(things, 10, "a="+v2, "b="+v1).pass(time.Second).exchanged("GET", list, 500, 0, 0), 1, 0},
		{"a list of all namespaces", stale().exchanged("GET", all+"/leases", 500, 0, 0).says(things, 12, "a="+v1), 0, 0},
		{"of another namespace", stale().exchanged("GET", all+"/namespaces/kube-node-lease/leases/n", 500, 0, 0).says(things, 12, "a="+v1), 0, 0},
		{"a watch", watched.says(things, 12, "a="+v1), 0, 0},
		{"no answer to a single one", led(v1).exchanged("GET", list+"/idb", 0, 0, 0), 1, 0},
		{"a Lease that is not there", led(v1).exchanged("GET", list+"/idb", 404, 0, 0), 0, 0},
		{"success", led(v1).exchanged("GET", list, 200, 0, 0), 0, 0},
		{"the Lease of the leader", led(v1).exchanged("GET", list+"/kube-controller-manager", 500, 0, 0), 0, 0},
		{"a write", led(v1).exchanged("PUT", list+"/idb", 500, 0, 0), 0, 0},
		{"something else", led(v1).exchanged("GET", "/api/v1/pods", 500, 0, 0), 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.h.blames(t, "SV-20")
			counted(t, r, "look-ups of identity Leases", tc.blind)
			counted(t, r, "a look-up failed after", tc.tempted)
		})
	}
}
