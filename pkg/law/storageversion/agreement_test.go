package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestSV06Agreement(t *testing.T) {
	overdue := "has had equal entries of all participants"
	three := func() *historyBuilder { return newHistory().joins("a", 1).joins("b", 2).joins("c", 3) }
	all := []string{"a=" + v1, "b=" + v1, "c=" + v1}
	late := func(h *historyBuilder) *historyBuilder { return h.pass(agreementSettles+time.Second).joins("x", 900) }
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"agreed", three().says(things, 5, all...), nil},
		{"set though they differ", three().put(things, 5, wrongly(content("a="+v1, "b="+v2), v1)), []string{"calls g.io/v1 agreed at revision 5, but the entries are ida: g.io/v1, idb: g.io/v2"}},
		{"set to a version that no entry names", three().put(things, 5, wrongly(content("a="+v1), v2)), []string{"calls g.io/v2 agreed"}},
		{"set although no server has reported", three().put(things, 5, wrongly(content(), v2)), []string{"the entries are none"}},
		{"just created", three().put(things, 5, &history.StorageVersion{}), nil},
		{"without a condition", three().put(things, 5, &history.StorageVersion{Entries: content(all...).Entries}), []string{"no condition"}},
		{"not set in time", late(three().disagrees(things, 5, all...)), []string{overdue}},
		{"set in time", late(three().disagrees(things, 5, all...).pass(agreementSettles-time.Second).says(things, 6, all...)), nil},
		{"deleted in time", late(three().disagrees(things, 5, all...).deletes(things, 6)), nil},
		{"not all have reported", late(three().disagrees(things, 5, all[:2]...)), nil},
		{"who had not reported has left", late(three().disagrees(things, 5, all[:2]...).leaves("c", 8)), []string{overdue}},
		{"one joins in time who has not reported", late(newHistory().joins("a", 1).disagrees(things, 5, all[0]).joins("b", 8)), nil},
		{"who has not reported does not host it", late(three().disagrees(things, 5, all[:2]...).starts("c", 1).lists("c", 9, history.HostedResource{Group: "o", Resource: "o"})), []string{overdue}},
		{"who has not reported hosts it", late(three().disagrees(things, 5, all[:2]...).starts("c", 1).hosts("c", 9)), nil},
		{"its writer has ended, and there is no collector", late(three().manager("a", history.ProcessStarted).starts("c", 1).disagrees(things, 5, all[:2]...).disagrees(things, 6, all...).exits("c", 1)), nil},
		{"an entry that differed was taken out, and there is no collector", late(three().manager("a", history.ProcessStarted).starts("c", 1).disagrees(things, 5, "a="+v1, "b="+v1, "c="+v2).leaves("c", 6).disagrees(things, 7, all[:2]...)), nil},
		{"its writer runs, and there is no collector", late(three().manager("a", history.ProcessStarted).starts("c", 1).disagrees(things, 5, all[:2]...).disagrees(things, 6, all...)), []string{overdue}},
		{"its writer has ended, and there is a collector", late(three().starts("a", 1).manager("a", history.ProcessStarted).leads("a", 4).pass(time.Minute).starts("c", 1).disagrees(things, 5, all[:2]...).disagrees(things, 6, all...).exits("c", 1)), []string{overdue}},
		{"a stranger takes part, and may host it", late(three().joins("x", 4).disagrees(things, 5, all...)), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-06", tc.blames...) })
	}
	t.Run("not set, and the history ends too early", func(t *testing.T) {
		r := three().disagrees(things, 5, all...).pass(agreementSettles-time.Second).blames(t, "SV-06")
		reason(t, r, "0 obligations stayed unclear and 1 open: g.io.things: the history ended")
	})
	t.Run("the mirror is wrong", func(t *testing.T) {
		sv := content("a=" + v1)
		sv.Conditions[0].Status, sv.Conditions[0].Reason = "True", ""
		three().put(things, 5, sv).blames(t, "SV-06", "the agreed version is none and the condition True", "lacks its reason or message")
	})
}

// wrongly calls a version agreed, whatever the entries say.
func wrongly(sv *history.StorageVersion, version string) *history.StorageVersion {
	sv.Common = &version
	sv.Conditions[0].Status = "True"
	return sv
}

func TestSV07Transition(t *testing.T) {
	// set has the outcome that the entries give, and a transition time.
	set := func(h *historyBuilder, revision int64, second int, entries ...string) *historyBuilder {
		h.says(things, revision, entries...)
		h.events[len(h.events)-1].Stored.StorageVersion.Conditions[0].Transition = started.Add(epoch + time.Duration(second)*time.Second)
		return h
	}
	first := func() *historyBuilder { return set(newHistory(), 5, 0, "a="+v1) }
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"it moves with the outcome", set(first().pass(time.Minute), 6, 60, "a="+v2), nil},
		{"it moves alone", set(first(), 6, 1, "a="+v1, "b="+v1), []string{"moved from 2026-01-01T00:01:00Z to 2026-01-01T00:01:01Z, but the outcome stayed g.io/v1"}},
		{"it never moves", set(first().pass(time.Minute), 6, 0, "a="+v2), []string{"the outcome changed from g.io/v1 to g.io/v2, but the transition time stayed"}},
		{"two changes in a second, told late", set(first().pass(recorderLag).away(recorderLag), 6, 0, "a="+v2), nil},
		{"another server's clock is behind", set(set(newHistory().pass(10*time.Second), 5, 10, "a="+v1), 6, 9, "a="+v2), nil},
		{"it moves to a time that has not come", set(first().pass(time.Minute), 6, 63, "a="+v2), []string{"which had not come"}},
		{"it moves to a time before the revision", set(set(first().pass(time.Minute), 6, 0, "a="+v1, "b="+v1), 7, 50, "a="+v2), []string{"which is before the revision that was changed"}},
		{"it moves to a time long ago", set(first().pass(time.Hour), 6, 60, "a="+v2), []string{"which was long before"}},
		{"the write took a while", set(first().pass(time.Minute), 6, 10, "a="+v2), nil},
		{"it goes back", set(set(newHistory().pass(10*time.Second), 5, 10, "a="+v1), 6, 3, "a="+v2), []string{"went back"}},
		{"the object was made anew", set(first().deletes(things, 6).pass(9*time.Second), 7, 9, "a="+v1), nil},
		{"the first one is of long ago", set(newHistory().pass(time.Hour), 5, 0, "a="+v1), []string{"the first outcome is g.io/v1, and the transition time is 2026-01-01T00:01:00Z, which was long before"}},
		{"the first one is before the object", set(newHistory().pass(time.Minute).put(things, 4, &history.StorageVersion{}), 5, 50, "a="+v1), []string{"which is before the revision that was changed"}},
		{"the first one has not come", set(newHistory(), 5, 9, "a="+v1), []string{"which had not come"}},
		{"what was there before", set(newHistory().pass(time.Hour), 5, 0, "a="+v1).given(), nil},
		{"something else of that name was deleted", set(first().stored(history.Stored{Type: history.StoredDelete, Key: "/registry/clusterroles/" + things, Name: things, Revision: 6}), 7, 9, "a="+v1), []string{"but the outcome stayed"}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-07", tc.blames...) })
	}
}

// given has been so before the history begins.
func (t *historyBuilder) given() *historyBuilder {
	t.events[len(t.events)-1].Given = true
	return t
}

// The clocks of another machine's servers may be apart from the recorder's: then all that they
// write is, and not only the transition time.
func TestSV07_ClocksThatAreApartLeaveItOpen(t *testing.T) {
	judged := func(off, transition time.Duration) check.Result {
		h := newHistory().joins("a", 1).renews("a", 2, 1, off).says(things, 5, "a="+v1)
		h.events[len(h.events)-1].Stored.StorageVersion.Conditions[0].Transition = started.Add(epoch + off)
		h.pass(time.Minute).says(things, 6, "a="+v2)
		h.events[len(h.events)-1].Stored.StorageVersion.Conditions[0].Transition = started.Add(epoch + transition)
		return h.judge(t, "SV-07")[0]
	}
	for _, hour := range []time.Duration{time.Hour, -time.Hour} {
		if r := judged(hour, hour+time.Minute); r.Obligations.Unclear != 2 || r.Verdict == check.Fail {
			t.Errorf("apart by %s: %s, %+v", hour, r.Verdict, r.Obligations)
		}
		if r := judged(0, hour+time.Minute); r.Verdict != check.Fail {
			t.Errorf("one that is off by %s: %s", hour, r.Verdict)
		}
	}
}

func TestSV07CountsWhatItCanJudge(t *testing.T) {
	at := func(h *historyBuilder, revision int64, second int, entries ...string) *historyBuilder {
		h.says(things, revision, entries...)
		h.events[len(h.events)-1].Stored.StorageVersion.Conditions[0].Transition = started.Add(epoch + time.Duration(second)*time.Second)
		return h
	}
	for name, tc := range map[string]struct {
		h            *historyBuilder
		gained, lost int64
	}{
		"it moved":                    {at(at(at(newHistory(), 5, 0, "a="+v1).pass(time.Minute), 6, 60, "a="+v1, "b="+v2).pass(time.Minute), 7, 120, "a="+v2, "b="+v2), 1, 1},
		"all within a second":         {at(at(at(newHistory(), 5, 0, "a="+v1), 6, 0, "a="+v1, "b="+v2), 7, 0, "a="+v2, "b="+v2), 0, 0},
		"from one version to another": {at(at(newHistory(), 5, 0, "a="+v1).pass(time.Minute), 6, 60, "a="+v2), 1, 0},
	} {
		r := tc.h.blames(t, "SV-07")
		t.Run(name, func(t *testing.T) {
			counted(t, r, "brought an agreed version", tc.gained)
			counted(t, r, "took the agreed version away", tc.lost)
		})
	}
}

func TestSV09NoLostEntry(t *testing.T) {
	two := func() *historyBuilder { return newHistory().joins("a", 1).joins("b", 2).says(things, 5, "a="+v1) }
	lost := "brought the entry of idb and lost that of ida, which takes part"
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"one after the other", two().says(things, 6, "a="+v1, "b="+v1), nil},
		{"lost", two().says(things, 6, "b="+v1), []string{lost}},
		{"of one that has left", two().leaves("a", 6).says(things, 7, "b="+v1), nil},
		{"of one that left and came back before the write, but after the writer may have looked", two().leaves("a", 6).joins("a", 7).says(things, 8, "b="+v1), nil},
		{"of one that came back before the object was read", newHistory().joins("a", 1).leaves("a", 2).joins("a", 3).says(things, 5, "a="+v1).says(things, 8, "b="+v1), []string{lost}},
		{"an older copy of another's entry", two().says(things, 6, "a="+v1, "b="+v1).says(things, 7, "a="+v2, "b="+v1).says(things, 8, "a="+v1, "b="+v2), []string{"changed the entries of ida and idb at once, of which at most one is the writer's own"}},
		{"taken out by a collector", two().says(things, 6, "a="+v1, "b="+v1).says(things, 7, "a="+v1), nil},
		{"all at once in a new object", newHistory().joins("a", 1).joins("b", 2).says(things, 5, "a="+v1, "b="+v1), nil},
		{"the object was made anew", two().deletes(things, 6).says(things, 7, "b="+v1), nil},
		{"something else of that name was deleted", two().stored(history.Stored{Type: history.StoredDelete, Key: "/registry/clusterroles/" + things, Name: things, Revision: 6}).says(things, 7, "b="+v1), []string{lost}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-09", tc.blames...) })
	}
	t.Run("together is who was starting, however slowly", func(t *testing.T) {
		slow := two().starts("b", 1).starts("c", 1).says(things, 6, "a="+v1, "b="+v1).pass(time.Minute)
		r := slow.says(things, 7, "a="+v1, "b="+v1, "c="+v1).blames(t, "SV-09")
		counted(t, r, "another one was starting", 1)
	})
	t.Run("nor is who was ready by then, and put its entry right", func(t *testing.T) {
		r := two().starts("b", 1).ready("b", 200, 5).starts("c", 1).says(things, 6, "a="+v1, "b="+v1).pass(time.Minute).
			says(things, 7, "a="+v1, "b="+v1, "c="+v1).blames(t, "SV-09")
		counted(t, r, "another one was starting", 0)
	})
	t.Run("one after the other is not", func(t *testing.T) {
		r := two().starts("b", 1).says(things, 6, "a="+v1, "b="+v1).starts("c", 1).says(things, 7, "a="+v1, "b="+v1, "c="+v1).blames(t, "SV-09")
		counted(t, r, "another one was starting", 0)
	})
}

func TestSV11JoinedFirst(t *testing.T) {
	early := "got an entry of ida at revision"
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"joined", newHistory().joins("a", 1).says(things, 5, "a="+v1), nil},
		{"not joined", newHistory().says(things, 5, "a="+v1), []string{early}},
		{"joined afterwards", newHistory().says(things, 5, "a="+v1).joins("a", 6), []string{early}},
		{"a Lease that is no identity", newHistory().stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "ida", Revision: 1, Created: 1, Lease: &history.Lease{}}).says(things, 5, "a="+v1), []string{early}},
		{"left before", newHistory().joins("a", 1).leaves("a", 2).says(things, 5, "a="+v1), []string{early}},
		{"left afterwards", newHistory().joins("a", 1).says(things, 5, "a="+v1).leaves("a", 6).says(things, 7, "a="+v1, "b="+v1), []string{"got an entry of idb"}},
		{"its Lease lost the label", newHistory().joins("a", 1).stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "ida", Revision: 2, Created: 1, Lease: &history.Lease{}}).says(things, 5, "a="+v1), nil},
		{"not joined again when the object is made anew", newHistory().joins("a", 1).says(things, 5, "a="+v1).leaves("a", 6).deletes(things, 7).says(things, 8, "a="+v1), []string{early}},
		{"the harness deletes its Lease as it makes the object anew", newHistory().joins("a", 1).says(things, 5, "a="+v1).asks("b", 200, 6, unleasing("a")).leaves("a", 6).deletes(things, 7).says(things, 8, "a="+v1), nil},
		{"the harness deleted its Lease long before it makes the object anew", newHistory().joins("a", 1).says(things, 5, "a="+v1).asks("b", 200, 6, unleasing("a")).leaves("a", 6).pass(recorderLag+6*time.Second).deletes(things, 7).says(things, 8, "a="+v1), []string{early}},
		{"restarted without its Lease, it puts another entry in the place of what it had left", newHistory().starts("a", 1).joins("a", 2).says(things, 5, "a="+v1).exits("a", 1).leaves("a", 6).starts("a", 2).says(things, 8, "a="+v2), []string{early + " 8"}},
		{"restarted with its Lease, it puts another entry in the place of what it had left", newHistory().starts("a", 1).joins("a", 2).says(things, 5, "a="+v1).exits("a", 1).starts("a", 2).says(things, 8, "a="+v2), nil},
		{"it puts its entry right while its Lease is gone", newHistory().starts("a", 1).joins("a", 2).says(things, 5, "a="+v1).leaves("a", 6).says(things, 8, "a="+v2), nil},
		{"a made-up server", newHistory().says(things, 5, "x="+v1).says(things, 6), nil},
		{"a server that is no member joins late", newHistory().says(things, 5, "x="+v1).joins("x", 6), []string{"idx got its identity Lease at revision 6, and had an entry before"}},
		{"a made-up server's entry was gone when one of its name joined", newHistory().says(things, 5, "x="+v1).says(things, 6).joins("x", 7).says(things, 8, "x="+v1), nil},
		{"a server that is no member comes back to its entry", newHistory().joins("x", 4).says(things, 5, "x="+v1).leaves("x", 6).joins("x", 7), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-11", tc.blames...) })
	}
}
