package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A Lease belongs to the instance without coordination that holds it until it expires, whichever
// way it is taken.
func TestCLE19_ACoordinatorLeavesALegacyLeaseAloneUntilItExpires(t *testing.T) {
	const second = time.Second
	held := func() *electionBuilder {
		return controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0").claim(probeLease, "legacy")
	}
	for name, tc := range map[string]struct {
		told *electionBuilder
		want []string
	}{
		"given to another one": {held().wait(5*second).elect(probeLease, "evenkeel-rowers-a"), []string{`held ` + probeLease + ` without coordination, and a coordinator gave it to "evenkeel-rowers-a"`}},
		"made its own": {held().wait(5*second).storeLease(probeLease, history.Lease{Holder: "legacy", Strategy: oldestStrategy, Coordinator: "a_c", Renewed: started.Add(100 * time.Millisecond)}),
			[]string{`gave it to "legacy" (strategy "` + oldestStrategy + `")`}},
		"told to go":                  {held().wait(5*second).mark(probeLease, "legacy", "evenkeel-rowers-a"), []string{"was told that evenkeel-rowers-a should"}},
		"deleted":                     {held().wait(5*second).deleteLease(probeLease).wait(10*second).ready("a", 200), []string{"was deleted 9.999s before it expired"}},
		"deleted by an administrator": {held().wait(5*second).deleteLeaseByHarness(probeLease).wait(10*second).ready("a", 200), nil},
		"taken when it had expired":   {held().wait(15*second).elect(probeLease, "evenkeel-rowers-a"), nil},
		"deleted when it had expired": {held().wait(15*second).deleteLease(probeLease).wait(10*second).ready("a", 200), nil},
		"taken by an instance itself": {held().wait(5*second).claim(probeLease, "another"), nil},
		"all fields that are tried out": {controlPlane().claim(fieldProbes+"x", "x").
			storeLease(fieldProbes+"x", history.Lease{Holder: "x", Preferred: "x-next", Strategy: oldestStrategy}), nil},
		"fields that are tried out": {controlPlane().claim(fieldProbes+"x", "x").storeLease(fieldProbes+"x", history.Lease{Holder: "x", Strategy: oldestStrategy}), nil},
	} {
		t.Run(name, func(t *testing.T) { tc.told.expectBreaches(t, "CLE-19", tc.want...) })
	}
}

// A deletion that was told before its request was answered is explained all the same.
func TestCLE19_ADeletionIsTheHarnesssIfItsRequestOverlapsIt(t *testing.T) {
	const second = time.Second
	request := func(t *electionBuilder, key string, from int64) *electionBuilder {
		return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: from, Request: &history.Request{
			Class: history.ClassElection, Election: history.ElectionDelete, Verb: "delete", Resource: "leases", Name: key,
		}})
	}
	held := func() *electionBuilder {
		return controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0").claim(probeLease, "legacy").wait(second)
	}
	late := held()
	from := late.now
	request(late.deleteLease(probeLease).wait(3*second), probeLease, from).wait(10*second).ready("a", 200).expectBreaches(t, "CLE-19")
	other := held()
	from = other.now
	request(other.deleteLease(probeLease).wait(3*second), managersLease, from).wait(10*second).ready("a", 200).expectBreaches(t, "CLE-19", "was deleted")
	long := held()
	request(long, probeLease, long.now).claim(probeLease, "legacy").wait(6*second).deleteLease(probeLease).wait(10*second).ready("a", 200).expectBreaches(t, "CLE-19", "was deleted")
}
