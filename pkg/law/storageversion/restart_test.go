package storageversion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestSV21Restart(t *testing.T) {
	// again is a's second process; the first one had said v1.
	again := func() *historyBuilder {
		return newHistory().starts("a", 1).joins("a", 2).joins("b", 3).says(things, 5, "a="+v1, "b="+v1).hosts("a", 6).exits("a", 1).starts("a", 2)
	}
	// lapsed is of one that was ready, lost its Lease, joined anew, and then lost its entry.
	lapsed := func(seconds int) *historyBuilder {
		return again().ready("a", 200, 6).hosts("a", 7).leaves("a", 8).joins("a", 9).pass(time.Duration(seconds)*time.Second).says(things, 10, "b="+v1)
	}
	vanished := "after its restart a has no entry in g.io.things at revision 10, though it takes part"
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"replaced", again().says(things, 10, "a="+v2, "b="+v1).hosts("a", 12), nil},
		{"two of them", again().says(things, 10, "a="+v2, "b="+v1, "a="+v1), []string{"after its restart a has 2 entries in g.io.things"}},
		{"two that are the same", again().says(things, 10, "a="+v1, "b="+v1, "a="+v1), []string{"after its restart a has 2 entries in g.io.things"}},
		{"taken out and put in", again().says(things, 10, "b="+v1).says(things, 12, "a="+v2, "b="+v1).hosts("a", 13), []string{vanished}},
		{"taken out by another client once it runs", again().hosts("a", 8).says(things, 10, "b="+v1), []string{vanished}},
		{"taken out and put in by a process that is killed before discovery", again().says(things, 10, "b="+v1).says(things, 12, "a="+v2, "b="+v1).exits("a", 2).starts("a", 3), []string{vanished}},
		{"taken back because the new release does not host it", again().says(things, 10, "b="+v1).lists("a", 12, history.HostedResource{Group: "o", Resource: "o", Persisted: true}), nil},
		{"taken out while it did not take part", again().leaves("a", 8).says(things, 10, "b="+v1).joins("a", 12).says(things, 14, "a="+v1, "b="+v1).hosts("a", 15), nil},
		{"taken out just after it joined anew, and put in at once", lapsed(1).says(things, 20, "a="+v1, "b="+v1).hosts("a", 21), nil},
		{"taken out just after it joined anew, and put in late", lapsed(1).pass(10*time.Second).says(things, 20, "a="+v1, "b="+v1).hosts("a", 21), []string{vanished}},
		{"taken out just after it joined anew, for good", lapsed(1).hosts("a", 21), []string{vanished}},
		{"taken out long after it joined anew", lapsed(10).says(things, 20, "a="+v1, "b="+v1).hosts("a", 21), []string{vanished}},
		{"gone with the whole object", again().deletes(things, 10).says(things, 12, "a="+v1).hosts("a", 13), []string{vanished}},
		{"gone with the whole object, which the harness had deleted", again().deletes(things, 10).asks("b", 200, 10, tampering(things), sentBefore(time.Second)).says(things, 12, "a="+v1).hosts("a", 13), nil},
		{"of a first process", newHistory().starts("a", 1).joins("a", 2).says(things, 5, "a="+v1).hosts("a", 6).says(things, 10), nil},
		{"it writes another version than is agreed", again().disagrees(things, 10, "a="+v2, "b="+v1).put(things, 11, wrongly(content("a="+v2, "b="+v1), v1)).writes("a", v2, 12), []string{"g.io.things calls g.io/v1 agreed at revision 12, when a, restarted, stores g.io/v2"}},
		{"it writes before it has announced", again().writes("a", v2, 10).says(things, 12, "a="+v2, "b="+v1), []string{"g.io.things calls g.io/v1 agreed at revision 10, when a, restarted, stores g.io/v2"}},
		{"the last write of the process before is told late", again().writes("a", v1, 10).says(things, 12, "a="+v2, "b="+v1), nil},
		{"a custom resource", again().lists("b", 7, history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Custom: true}).hosts("b", 8, history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Custom: true}).writes("b", v2, 10), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-21", tc.blames...) })
	}
	t.Run("up and back again are two restarts with another version", func(t *testing.T) {
		r := again().says(things, 10, "a="+v2, "b="+v1).writes("a", v2, 11).hosts("a", 12).exits("a", 2).
			starts("a", 3).says(things, 20, "a="+v1, "b="+v1).writes("a", v1, 21).hosts("a", 22).exits("a", 3).
			starts("a", 4).writes("a", v1, 31).hosts("a", 32).blames(t, "SV-21")
		counted(t, r, "replaced by another version", 2)
		counted(t, r, "writes by servers after such a restart", 2)
	})
}

func TestSV22Rollout(t *testing.T) {
	// hold has every member write the version given for it, and show what is
	// given, or nothing new for "".
	hold := func(h *historyBuilder, revision int64, versions [3]string, shown *string) *historyBuilder {
		h.holds(history.PhaseBegin, revision)
		for i, m := range []string{"a", "b", "c"} {
			h.shows(m, "MODIFIED", shown)
			if versions[i] != "" {
				h.writes(m, versions[i], revision+1+int64(i))
			}
		}
		return h.holds(history.PhaseEnd, revision+9)
	}
	open := func() *historyBuilder {
		h := newHistory()
		for _, m := range []string{"a", "b", "c"} {
			h.hosts(m, 1).shows(m, history.WatchOpened, nil).shows(m, "ADDED", agreed(v1))
		}
		return h
	}
	same, mixed, new := [3]string{v1, v1, v1}, [3]string{v2, v1, v1}, [3]string{v2, v2, v2}
	stale := "in hold \"h\" the members write g.io/v1 and g.io/v2, but clients of"
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"the whole story", hold(hold(hold(open(), 10, same, agreed(v1)), 20, mixed, nil), 40, new, agreed(v2)), nil},
		{"a false agreement", hold(open(), 20, mixed, agreed(v1)), []string{stale, stale, stale}},
		{"one client sees it", hold(open(), 20, mixed, nil).holds(history.PhaseBegin, 40).writes("a", v2, 41).writes("b", v1, 42).writes("c", v1, 43).shows("b", "MODIFIED", agreed(v1)).holds(history.PhaseEnd, 50), []string{stale + " b see g.io/v1 agreed"}},
		{"no agreement when it is over", hold(open(), 20, new, nil), []string{"all members write g.io/v2, but clients of a see none", "clients of b see none", "clients of c see none"}},
		{"no agreement while a server that is no member takes part", hold(open().joins("guest", 5), 20, new, nil), nil},
		{"the old version when a server that is no member takes part", hold(open().joins("guest", 5), 20, new, agreed(v1)), []string{"clients of a see g.io/v1", "clients of b see g.io/v1", "clients of c see g.io/v1"}},
		{"no agreement when a server that is no member has left", hold(open().joins("guest", 5).leaves("guest", 6), 20, new, nil), []string{"all members write g.io/v2, but clients of a see none", "clients of b see none", "clients of c see none"}},
		{"the old version when it is over", hold(open(), 20, new, agreed(v1)), []string{"clients of a see g.io/v1", "clients of b see g.io/v1", "clients of c see g.io/v1"}},
		{"the object is gone", hold(open(), 20, mixed, nil).holds(history.PhaseBegin, 40).writes("a", v2, 41).writes("b", v1, 42).writes("c", v1, 43).shows("c", "DELETED", nil).holds(history.PhaseEnd, 50), []string{"clients of c see no g.io.things"}},
		{"an open watch that never showed it", hold(open().shows("b", history.WatchOpened, nil), 20, mixed, nil).shows("b", history.WatchOpened, nil).holds(history.PhaseBegin, 40).writes("a", v2, 41).writes("b", v1, 42).writes("c", v1, 43).holds(history.PhaseEnd, 50), []string{"clients of b see no g.io.things"}},
		{"the harness has just deleted it", hold(open().says(things, 5, "a="+v1).asks("a", 200, 6, tampering(things)), 20, mixed, agreed(v1)), nil},
		{"what one member writes was not seen, and the others differ", hold(open(), 20, [3]string{v2, v1, ""}, agreed(v1)), []string{stale, stale, stale}},
		{"what one member writes was not seen", hold(open(), 20, [3]string{v2, v2, ""}, agreed(v1)), nil},
		{"what was written before the hold is nothing to go by", hold(open().writes("a", v2, 9), 20, same, agreed(v1)), nil},
		{"what was written before the hold and is told late neither", open().holds(history.PhaseBegin, 20).writes("a", v2, 19).writes("a", v1, 21).writes("b", v1, 22).writes("c", v1, 23).holds(history.PhaseEnd, 30), nil},
		{"no hold", open().writes("a", v2, 9).writes("b", v1, 10).writes("c", v1, 11), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-22", tc.blames...) })
	}
	t.Run("no resource was seen to be written by all", func(t *testing.T) {
		three := func() *historyBuilder {
			return open().starts("a", 1).starts("b", 1).starts("c", 1).hosts("a", 2).hosts("b", 3).hosts("c", 4)
		}
		missed := "no resource was seen to be written by all members that were up"
		reason(t, hold(three(), 20, [3]string{v1, v1, ""}, agreed(v1)).blames(t, "SV-22"), missed)
		for name, h := range map[string]*historyBuilder{
			"one was down":       hold(three().exits("c", 1), 20, [3]string{v1, v1, ""}, agreed(v1)),
			"all of one":         hold(three(), 20, same, agreed(v1)),
			"nothing is written": hold(three(), 20, [3]string{}, agreed(v1)),
		} {
			if r := h.blames(t, "SV-22"); strings.Contains(fmt.Sprint(r.Reasons), missed) {
				t.Errorf("%s: %q", name, r.Reasons)
			}
		}
	})
	for _, tc := range []struct {
		name                       string
		h                          *historyBuilder
		mixed, finished, afterward int64
	}{
		{"rolled back to what was", hold(hold(hold(open(), 10, same, agreed(v1)), 20, mixed, nil).step("rollback"), 40, same, agreed(v1)), 1, 0, 1},
		{"rolled back to another mix", hold(hold(open(), 10, new, agreed(v2)).step("rollback"), 20, mixed, nil), 1, 0, 1},
		{"a rollback that changed nothing", hold(hold(open(), 10, same, agreed(v1)).step("rollback"), 20, same, agreed(v1)), 0, 0, 0},
		{"upgraded", hold(hold(open(), 10, same, agreed(v1)), 20, new, agreed(v2)), 0, 1, 0},
		{"nothing new", hold(hold(open(), 10, same, agreed(v1)), 20, same, agreed(v1)), 0, 0, 0},
		{"one client was not watching", hold(open().shows("b", history.WatchBroken, nil), 20, mixed, nil), 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.h.blames(t, "SV-22")
			counted(t, r, "wrote different versions", tc.mixed)
			counted(t, r, "not been agreed before", tc.finished)
			counted(t, r, "after a rollback", tc.afterward)
		})
	}
}

func TestSV23Revision(t *testing.T) {
	moved := "g.io.things moved to revision 6 although nothing in it changed"
	first := func() *historyBuilder { return newHistory().says(things, 5, "a="+v1, "b="+v1) }
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"changed", first().says(things, 6, "a="+v2, "b="+v1), nil},
		{"not changed", first().says(things, 6, "a="+v1, "b="+v1), []string{moved}},
		{"only the order changed", first().says(things, 6, "b="+v1, "a="+v1), []string{moved}},
		{"one entry for another", first().says(things, 6, "a="+v1, "c="+v1), nil},
		{"two of one, then one of each", newHistory().says(things, 5, "a="+v1, "a="+v1).says(things, 6, "a="+v1, "b="+v1), nil},
		{"one entry twice", first().says(things, 6, "a="+v1, "a="+v1), nil},
		{"made anew", first().deletes(things, 6).says(things, 7, "a="+v1, "b="+v1), nil},
		{"something else of that name was deleted", first().stored(history.Stored{Type: history.StoredDelete, Key: "/registry/clusterroles/" + things, Name: things, Revision: 6}).says(things, 7, "a="+v1, "b="+v1), []string{"moved to revision 7"}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-23", tc.blames...) })
	}
	again := func(entry string) *historyBuilder {
		return first().starts("a", 1).exits("a", 1).starts("a", 2).says(things, 8, entry, "b="+v2).ready("a", 200, 9).hosts("a", 9).writes("b", v1, 30)
	}
	counted(t, again("a="+v1).blames(t, "SV-23"), "restarting server", 1)
	counted(t, again("a="+v2).blames(t, "SV-23"), "restarting server", 0)

	up := func() *historyBuilder { return newHistory().starts("a", 1).idle(time.Minute).says(things, 5, "a="+v1) }
	up().idle(10*time.Minute).says(things, 6, "a="+v1).blames(t, "SV-23", moved)
}
