package storageversion_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// startsWithout starts a process of a member's API server without the API.
func (t *historyBuilder) startsWithout(member string, instance int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: instance, DisabledFeatures: []string{history.FeatureStorageVersions}}})
}

// stops ends a process on purpose.
func (t *historyBuilder) stops(member string, instance int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: instance, Expected: true}})
}

// switchedOff is a plane in which c has reported, and is started again without the
// StorageVersion API; what it had said is withdrawn.
func switchedOff() *historyBuilder {
	return newHistory().starts("a", 1).starts("b", 1).starts("c", 1).hosts("a", 1).hosts("b", 1).hosts("c", 1).joins("a", 2).joins("b", 3).joins("c", 4).
		says(things, 5, "a="+v1, "b="+v1, "c="+v1).stops("c", 1).startsWithout("c", 2).disagrees(things, 6, "a="+v1, "b="+v1)
}

func TestSV25FalseAgreement(t *testing.T) {
	const falsely = "g.io.things called g.io/v1 agreed when c stored x as g.io/v2"
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"nothing is agreed", switchedOff().writes("c", v2, 7), nil},
		{"the others agree without it", switchedOff().says(things, 7, "a="+v1, "b="+v1).writes("c", v2, 8), []string{falsely}},
		{"its old word stands", switchedOff().says(things, 7, "a="+v1, "b="+v1, "c="+v1).writes("c", v2, 8), []string{falsely}},
		{"it stores what is called agreed", switchedOff().says(things, 7, "a="+v1, "b="+v1).writes("c", v1, 8), nil},
		{"another one stores what is not agreed", switchedOff().says(things, 7, "a="+v1, "b="+v1).writes("a", v2, 8), []string{"when a stored x as g.io/v2"}},
		{"another client has changed the object", switchedOff().says(things, 7, "a="+v1, "b="+v1).asks("a", 200, 7, tampering(things)).writes("c", v2, 8), nil},
		{"before anything was switched off", newHistory().starts("c", 1).hosts("c", 1).joins("c", 2).says(things, 5, "a="+v1).writes("c", v2, 6), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-25", tc.blames...) })
	}
}

func TestSV25SwitchedOnAgain(t *testing.T) {
	skewed := func() *historyBuilder {
		h := switchedOff()
		for i := range int64(needSilentWrites) {
			h.writes("c", v2, 10+i)
		}
		return h.stops("c", 2).starts("c", 3)
	}
	r := skewed().says(things, 20, "a="+v1, "b="+v1, "c="+v1).hosts("c", 21).holds(history.PhaseEnd, 22).blames(t, "SV-25")
	if r.Verdict != check.Pass {
		t.Errorf("%s: %q", r.Verdict, r.Reasons)
	}
	r = skewed().disagrees(things, 20, "a="+v1, "b="+v1).hosts("c", 21).holds(history.PhaseEnd, 22).
		blames(t, "SV-25", "c has the StorageVersion API again, and no entry in g.io.things")
	counted(t, r, "put in again", 0)
	counted(t, r, "agreements formed", 0)

	r = skewed().disagrees(things, 20, "a="+v1, "b="+v1, "c="+v2).hosts("c", 21).holds(history.PhaseEnd, 22).blames(t, "SV-25")
	counted(t, r, "put in again", 1)
	reason(t, r, "agreements formed")
}
