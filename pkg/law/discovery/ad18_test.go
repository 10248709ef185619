package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// What an aggregated server hosts that answers becomes current, though it was never lost: each
// process has to have asked it once.
func TestAD18_AServerThatAnswersIsNotStaleForEver(t *testing.T) {
	flows, bound := tides+"/v1:flows", requirement.MustBound("AD-18", "recoversWithin")
	const never = "after it had the server of tides.io/v1 to ask, a does not call it current"
	for name, c := range map[string]struct {
		told func(*historyBuilder, func())
		want []string
	}{
		"stale for ever":      {func(t *historyBuilder, stale func()) { t.every(bound+time.Second, stale) }, []string{never}},
		"not listed at all":   {func(t *historyBuilder, _ func()) { t.every(bound+time.Second, func() { t.listsAll("a", apps) }) }, []string{never}},
		"stale after a start": {func(t *historyBuilder, stale func()) { again(t, flows).every(bound+time.Second, stale) }, []string{never}},
		"a start just now":    {func(t *historyBuilder, stale func()) { again(t, flows).every(bound-time.Second, stale) }, nil},
		"stale after it was current": {func(t *historyBuilder, stale func()) {
			t.polled("a", flows).every(2*bound, stale)
		}, nil},
		"the server misbehaves": {func(t *historyBuilder, stale func()) {
			t.every(bound-time.Second, stale).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).every(bound, stale)
		}, nil},
		"it misbehaved before": {func(t *historyBuilder, stale func()) {
			t.polled("a", flows).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).every(bound, stale)
			again(t).every(bound+time.Second, stale)
		}, nil},
		"the APIService goes": {func(t *historyBuilder, stale func()) {
			t.every(bound-time.Second, stale).removesTides().every(bound, func() { t.listsAll("a", apps) })
		}, nil},
		"a fault at the member": {func(t *historyBuilder, stale func()) {
			for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness} {
				t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "cut", Type: "NetworkChaos", Action: "partition", Phase: phase, Proof: "cut"}})
			}
			t.every(2*bound, stale)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().hands(201)
			c.told(told, func() { told.ready("a", 200, 7).listsAll("a", apps, flows+"!") })
			told.blames(t, "AD-18", c.want...)
		})
	}
}

// again has a called tides current, and started anew.
func again(t *historyBuilder, shown ...string) *historyBuilder {
	if len(shown) > 0 {
		t.polled("a", shown...)
	}
	return t.pass(time.Minute).stops("a", 1).starts("a", 2).ready("a", 200, 7)
}
