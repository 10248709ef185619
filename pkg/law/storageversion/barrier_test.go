package storageversion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestSV12Barrier(t *testing.T) {
	const second = time.Second
	before := "before it announced g.io/v2 in g.io.things at revision 12"
	none := "although g.io.things had no entry of ida"
	odd := "a refused a write with 403 instead of 503, before it announced its version"
	// upgraded is a's second process, whose server said v1 before.
	upgraded := func() *historyBuilder {
		return newHistory().starts("a", 1).joins("a", 3).says(things, 5, "a="+v1).pass(second).exits("a", 1).pass(second).starts("a", 2).pass(second)
	}
	announced := func(h *historyBuilder) *historyBuilder { return h.says(things, 12, "a="+v2) }
	// unanswered is a write that was sent so long ago, and that etcd has from before a third process started.
	unanswered := func(h *historyBuilder, number int64, sent time.Duration) *historyBuilder {
		numbered := func(ev *history.Event) { ev.Request.Write = number }
		return h.pass(second).exits("a", 2).pass(second).starts("a", 3).pass(second).asks("a", 0, 0, sentBefore(sent), numbered)
	}
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"never answered, and stored before", unanswered(announced(upgraded().writes("a", v1, 10)), 10, 7*second/2), []string{before}},
		{"never answered, and stored after", unanswered(announced(upgraded()).writes("a", v2, 14), 14, 7*second/2), nil},
		{"never answered, and perhaps sent to the process before", unanswered(announced(upgraded().writes("a", v1, 10)), 10, 6*second), nil},
		{"refused, announced, accepted", announced(upgraded().asks("a", 503, 0)).asks("a", 200, 14).writes("a", v2, 14), nil},
		{"accepted before", announced(upgraded().asks("a", 200, 10)), []string{before}},
		{"the answer is recorded after the change", announced(upgraded()).asks("a", 200, 10), []string{before}},
		{"accepted with no entry at all", newHistory().starts("a", 1).asks("a", 200, 10).says(things, 12, "a="+v1), []string{none}},
		{"accepted, and never announced", newHistory().starts("a", 1).asks("a", 200, 10).writes("b", v1, 12), []string{none}},
		{"judged when the process is replaced", announced(upgraded().asks("a", 200, 10)).exits("a", 2).starts("a", 3).says(things, 20, "a="+v1), []string{before}},
		{"an unchanged start cannot be judged", upgraded().asks("a", 200, 10).says(things, 12, "a="+v1, "b="+v1), nil},
		{"the old process accepted it, over a connection that survived in the recorder", announced(upgraded().asks("a", 200, 10, sentBefore(5*second))), nil},
		{"a delete before the announcement", announced(upgraded().asks("a", 200, 10, verb("delete"))), []string{"a accepted a delete before it announced its version"}},
		{"the answer to a delete has the revision of what was deleted", announced(upgraded().asks("a", 200, 10, verb("delete")).away(second)), nil},
		{"a write that changed nothing has the revision of the change before", announced(upgraded().asks("a", 200, 5)), nil},
		{"the harness deleted the object meanwhile", newHistory().joins("a", 3).says(things, 5, "a="+v1).starts("a", 1).asks("a", 200, 8).writes("a", v1, 8).deletes(things, 9).
			asks("a", 200, 10).says(things, 12, "a="+v1), nil},
		{"a collector took the entry out and the server put it back", newHistory().joins("a", 3).says(things, 5, "a="+v1).starts("a", 1).says(things, 9).asks("a", 200, 10).says(things, 12, "a="+v1), nil},
		{"another client edited the entry and the server corrected it", newHistory().joins("a", 3).says(things, 5, "a="+v1).starts("a", 1).asks("a", 200, 10).says(things, 12, "a="+v2).says(things, 14, "a="+v1), nil},
		{"its Lease went while it booted", upgraded().leaves("a", 8).asks("a", 200, 10).joins("a", 11), nil},
		{"its Lease had gone before it started, and it joined anew", newHistory().starts("a", 1).joins("a", 3).says(things, 5, "a="+v1).exits("a", 1).leaves("a", 7).starts("a", 2).joins("a", 8).asks("a", 200, 10), nil},
		{"its Lease had gone before it started, and was never seen again", newHistory().starts("a", 1).joins("a", 3).says(things, 5, "a="+v1).exits("a", 1).leaves("a", 7).starts("a", 2).asks("a", 200, 10), []string{"although it had not joined"}},
		{"one resource is released before another", announced(upgraded().says("core.configmaps", 9, "a=v1").
			asks("a", 200, 10, func(ev *history.Event) { ev.Request.Group, ev.Request.Resource = "", "configmaps" }).asks("a", 503, 0)), nil},

		{"403, and a 503 later", announced(upgraded().asks("a", 403, 0).asks("a", 503, 0)), []string{odd}},
		{"403, and another server wrote before the announcement", announced(upgraded().asks("a", 403, 0).asks("b", 200, 10)), []string{odd}},
		{"403 long before the announcement", announced(upgraded().asks("a", 403, 0).pass(recorderLag)), []string{odd}},
		{"403 for another reason, just after an announcement that is told late", announced(upgraded().asks("a", 503, 0).asks("a", 403, 0).asks("b", 200, 14).pass(recorderLag - second).away(recorderLag - second/2)), nil},
		{"403 by the authorizer, which comes first", announced(upgraded().asks("a", 403, 0, says(`things "x" is forbidden: User "admin" cannot update resource "things" in API group "g.io"`)).asks("a", 503, 0)), nil},
		{"403 that an authorizer would say of another verb", announced(upgraded().asks("a", 403, 0, says(`things "x" is forbidden: User "admin" cannot get resource "things" in API group "g.io"`)).asks("a", 503, 0)), []string{odd}},
		{"403 by an admission plugin", announced(upgraded().asks("a", 403, 0, says(`things "x" is forbidden: exceeded quota`)).asks("a", 503, 0)), []string{odd}},
		{"429 is load shedding", announced(upgraded().asks("a", 429, 0).asks("a", 503, 0)), nil},
		{"503 for another reason", announced(upgraded().asks("a", 503, 0, func(ev *history.Event) { ev.Request.Barrier = false }).asks("a", 503, 0)), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.writes("b", v1, 30).blames(t, "SV-12", tc.blames...) })
	}
	t.Run("a registration counts with a refusal before and a write after", func(t *testing.T) {
		counted(t, announced(upgraded().asks("a", 503, 0)).asks("a", 200, 14).writes("a", v2, 14).blames(t, "SV-12"), "after a registration", 1)
		counted(t, announced(upgraded().asks("a", 503, 0)).blames(t, "SV-12"), "after a registration", 0)
		counted(t, announced(upgraded()).asks("a", 200, 14).writes("a", v2, 14).blames(t, "SV-12"), "after a registration", 0)
	})
	t.Run("a write of which etcd's recorder never tells is not judged, and that is said", func(t *testing.T) {
		r := announced(upgraded().asks("a", 503, 0)).asks("a", 200, 99).pass(2*recorderLag).blames(t, "SV-12")
		reason(t, r, "what etcd told ends before revision 99")
	})
	t.Run("a write that times out among many to the same resource that are refused is a slow machine's", func(t *testing.T) {
		other := func(ev *history.Event) { ev.Request.Group, ev.Request.Resource = "", "configmaps" }
		for name, tc := range map[string]struct {
			refused int
			code    int
			changes []func(*history.Event)
			doubted bool
		}{
			"enough":              {refused: answersForSlow, doubted: false},
			"shed":                {refused: answersForSlow, code: 429, doubted: false},
			"one too few":         {refused: answersForSlow - 1, doubted: true},
			"of another resource": {refused: answersForSlow, changes: []func(*history.Event){other}, doubted: true},
			"answered otherwise":  {refused: answersForSlow, code: 404, doubted: true},
		} {
			h := newHistory().starts("a", 1).joins("a", 3)
			for range tc.refused {
				h.asks("a", 503, 0, tc.changes...)
			}
			h.says(things, 5, "a="+v1).pass(second).exits("a", 1).pass(second).starts("a", 2).pass(second)
			r := announced(h.asks("a", tc.code, 0).asks("a", 503, 0, other).pass(recorderLag)).blames(t, "SV-12")
			if got := strings.Contains(fmt.Sprint(r.Reasons), "instead of 503"); got != tc.doubted {
				t.Errorf("%s: %q", name, r.Reasons)
			}
		}
	})
}

func class(class string) func(*history.Event) {
	return func(ev *history.Event) { ev.Request.Class = class }
}

func TestSV13Passes(t *testing.T) {
	barred := func(ev *history.Event) { ev.Request.Class, ev.Request.Barrier = history.ClassRead, true }
	newHistory().starts("a", 1).asks("a", 503, 0, barred).blames(t, "SV-13", `held back a request of class "read"`)
	t.Run("whichever process it was", func(t *testing.T) {
		newHistory().starts("a", 1).exits("a", 1).starts("a", 2).asks("a", 503, 0, barred, sentBefore(time.Hour)).blames(t, "SV-13", "held back")
	})
	for name, tc := range map[string]struct {
		h *historyBuilder
		n int64
	}{
		"before a write that is refused":          {newHistory().starts("a", 1).asks("a", 200, 1, class(history.ClassRead)).asks("a", 503, 0), 1},
		"after the last write that is refused":    {newHistory().starts("a", 1).asks("a", 503, 0).asks("a", 200, 1, class(history.ClassRead)), 0},
		"while a write is under way":              {newHistory().starts("a", 1).asks("a", 200, 1, class(history.ClassRead)).asks("a", 503, 0, sentBefore(2*time.Millisecond)), 0},
		"before a write that another one refuses": {newHistory().starts("a", 1).starts("b", 1).asks("a", 200, 1, class(history.ClassRead)).asks("b", 503, 0), 0},
		"before a write to the next process":      {newHistory().starts("a", 1).asks("a", 200, 1, class(history.ClassRead)).exits("a", 1).starts("a", 2).asks("a", 503, 0), 0},
		"refused for another reason":              {newHistory().starts("a", 1).asks("a", 503, 1, class(history.ClassRead), func(ev *history.Event) { ev.Request.Barrier = false }).asks("a", 503, 0), 0},
	} {
		t.Run(name, func(t *testing.T) { counted(t, tc.h.blames(t, "SV-13"), "class read", tc.n) })
	}
	t.Run("a request that times out among many that pass is a slow machine's", func(t *testing.T) {
		for passes, doubted := range map[int]bool{answersForSlow: false, answersForSlow - 1: true} {
			h := newHistory().starts("a", 1).asks("a", 503, 0).asks("a", 0, 0, class(history.ClassRead))
			for range passes {
				h.asks("a", 200, 1, class(history.ClassRead))
			}
			r := h.asks("a", 503, 0).blames(t, "SV-13")
			if got := strings.Contains(fmt.Sprint(r.Reasons), "a let 1 requests of class read fail"); got != doubted {
				t.Errorf("after %d passes: %q", passes, r.Reasons)
			}
		}
	})
	t.Run("its own StorageVersion writes", func(t *testing.T) {
		counted(t, newHistory().starts("a", 1).says(things, 5, "a="+v1).asks("a", 503, 0).blames(t, "SV-13"), "server itself", 1)
		counted(t, newHistory().starts("a", 1).says(things, 5, "b="+v1).asks("a", 503, 0).blames(t, "SV-13"), "server itself", 0)
		counted(t, newHistory().starts("a", 1).asks("a", 503, 0).says(things, 5, "a="+v1).blames(t, "SV-13"), "server itself", 0)
	})
}

func TestSV14Ready(t *testing.T) {
	late := "was ready at revision 9 and announced its version in g.io.things only at revision 12"
	lingers := "a was ready, refused a write because its registration was not complete, and was ready again"
	early := func() *historyBuilder { return newHistory().starts("a", 1).ready("a", 200, 9).hosts("a", 9) }
	up := func() *historyBuilder {
		return newHistory().starts("a", 1).says(things, 5, "a="+v1).ready("a", 200, 9).hosts("a", 9)
	}
	cut := func() *historyBuilder {
		return newHistory().renews("a", 3, 3, 0).starts("a", 1).says(things, 5, "a="+v1).ready("a", 200, 9).hosts("a", 9)
	}
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"registered, then ready", newHistory().starts("a", 1).says(things, 5, "a="+v1).ready("a", 200, 9).hosts("a", 9), nil},
		{"ready, then registered", early().says(things, 12, "a="+v1), []string{late}},
		{"ready, then another version", newHistory().says(things, 5, "a="+v1).starts("a", 1).ready("a", 200, 9).hosts("a", 9).says(things, 12, "a="+v2), []string{late}},
		{"found out when the process is replaced", early().says(things, 12, "a="+v1).exits("a", 1).starts("a", 2), []string{late}},
		{"ready, and never registered", early(), []string{"a was ready at revision 9 and never announced any version"}},
		{"told late", early().says(things, 9, "a="+v1), nil},
		{"repaired after it was ready", newHistory().says(things, 5, "a="+v1).starts("a", 1).ready("a", 200, 9).hosts("a", 9).says(things, 11, "a="+v2).says(things, 12, "a="+v1), nil},
		{"made anew after it was ready", newHistory().starts("a", 1).says(things, 5, "a="+v1).ready("a", 200, 9).hosts("a", 9).deletes(things, 11).says(things, 12, "a="+v1), nil},
		{"taken out while it boots, found missing later", newHistory().says(things, 5, "a="+v1).starts("a", 1).says(things, 7).ready("a", 200, 9).hosts("a", 9).says(things, 12, "a="+v1), nil},
		{"a custom resource that comes later", newHistory().starts("a", 1).says(things, 5, "a="+v1).ready("a", 200, 9).
			hosts("a", 9, history.HostedResource{Group: "custom.io", Resource: "soundings", Persisted: true, Custom: true}).says("custom.io.soundings", 12, "a=custom.io/v1"), nil},

		{"the barrier lingers", up().asks("a", 503, 0).ready("a", 200, 0), []string{lingers}},
		{"it became unready", up().asks("a", 503, 0).ready("a", 500, 0), nil},
		{"it was not seen to be ready again", up().asks("a", 503, 0), nil},
		{"the write was sent before", up().asks("a", 503, 0, sentBefore(time.Second)).ready("a", 200, 0), nil},
		{"the next process refuses", up().exits("a", 1).starts("a", 2).asks("a", 503, 0).ready("a", 200, 0), nil},
		{"the next process refuses, and the one before said that it was ready", up().exits("a", 1).starts("a", 2).asks("a", 503, 0).
			add(history.Event{Kind: history.KindReady, Member: "a", From: 1, Ready: &history.Ready{Code: 200}}).asks("a", 503, 0).ready("a", 500, 0), nil},
		{"its Lease had lapsed", cut().asks("a", 503, 0).renews("a", 11, 3, 10*time.Second).ready("a", 200, 0), nil},
		{"its Lease had lapsed, which is told late", cut().asks("a", 503, 0).ready("a", 200, 0).away(time.Second).renews("a", 11, 3, 10*time.Second), nil},
		{"its Lease had lapsed, which is told much too late", cut().asks("a", 503, 0).ready("a", 200, 0).pass(recorderLag+time.Second).renews("a", 11, 3, 10*time.Second), []string{lingers}},
		{"its Lease was renewed in time", cut().asks("a", 503, 0).renews("a", 11, 3, 9*time.Second).ready("a", 200, 0), []string{lingers}},
		{"its Lease had lapsed before it was ready", cut().renews("a", 11, 3, 10*time.Second).ready("a", 200, 0).asks("a", 503, 0).ready("a", 200, 0), []string{lingers}},
		{"the Lease of another server had lapsed", cut().renews("b", 10, 10, 0).asks("a", 503, 0).renews("b", 11, 10, 10*time.Second).ready("a", 200, 0), []string{lingers}},
		{"its Lease was removed and is there again", cut().leaves("a", 10).asks("a", 503, 0).renews("a", 11, 11, 5*time.Second).ready("a", 200, 0), nil},
		{"a read is not held to it", up().asks("a", 503, 0, class(history.ClassRead)).ready("a", 200, 0), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.writes("b", v1, 30).blames(t, "SV-14", tc.blames...) })
	}
	t.Run("the barrier shuts again and the server is not ready, though its Lease is valid", func(t *testing.T) {
		r := cut().asks("a", 503, 0).ready("a", 500, 0).ready("a", 200, 0).writes("b", v1, 30).blames(t, "SV-14")
		reason(t, r, "though its identity Lease was valid")
	})
	t.Run("ready before it registered, and the revision was read later", func(t *testing.T) {
		h := newHistory().starts("a", 1).ready("a", 200, 0).pass(5*time.Second).says(things, 5, "a="+v1).ready("a", 200, 9).hosts("a", 9).writes("b", v1, 30)
		h.blames(t, "SV-14", "announced its version in g.io.things only at revision 5")
		h.blames(t, "SV-01", "StorageVersion g.io.things had no entry of ida")
	})
	t.Run("what counts", func(t *testing.T) {
		r := newHistory().starts("a", 1).asks("a", 503, 0).ready("a", 200, 0).ready("a", 200, 9).asks("a", 200, 10).asks("a", 403, 0).writes("b", v1, 30).blames(t, "SV-14")
		counted(t, r, "starts", 1)
		counted(t, r, "accepted by ready servers", 1)
		r = newHistory().starts("a", 1).ready("a", 200, 9).writes("b", v1, 30).blames(t, "SV-14")
		counted(t, r, "starts", 0)
	})
}

func TestSV15Announced(t *testing.T) {
	other := "a stored x as g.io/v2 at revision 10, when it had announced g.io/v1 in g.io.things"
	none := "a stored x as g.io/v1 at revision 10, when g.io.things had no entry of it"
	sounding := func(h *historyBuilder) *historyBuilder {
		return h.stored(history.Stored{Type: history.StoredPut, Key: "/registry/custom.io/soundings/x", Name: "x", Revision: 10, APIVersion: "custom.io/v1", ObjectKind: "Sounding", Writer: "a", Write: 1})
	}
	soundings := func(custom bool) history.HostedResource {
		return history.HostedResource{Group: "custom.io", Resource: "soundings", Kind: "Sounding", Persisted: true, Custom: custom}
	}
	// live is a's first process, with its Lease and entry.
	live := func() *historyBuilder {
		return newHistory().hosts("b", 1).starts("a", 1).joins("a", 2).says(things, 5, "a="+v1)
	}
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"as announced", live().writes("a", v1, 10), nil},
		{"in another version", live().writes("a", v2, 10), []string{other}},
		{"in the version of another server", live().says(things, 7, "a="+v1, "b="+v2).writes("a", v2, 10), []string{other}},
		{"never announced", newHistory().hosts("b", 1).writes("a", v1, 10), []string{none}},
		{"announced afterwards", newHistory().hosts("b", 1).writes("a", v1, 10).says(things, 12, "a="+v1), []string{none}},
		{"the harness deleted the object", live().asks("b", 200, 9, tampering(things)).deletes(things, 9).writes("a", v1, 10), nil},
		{"the harness deleted the object, and is answered late", live().deletes(things, 9).writes("a", v1, 10).pass(time.Second).asks("b", 200, 9, tampering(things), sentBefore(2*time.Second)), nil},
		{"the harness had deleted it long before, and another client does now", live().asks("b", 200, 6, tampering(things)).pass(recorderLag+time.Second).deletes(things, 9).writes("a", v1, 10), []string{"when g.io.things had been removed with its entry of it"}},
		{"removed with the whole object while it takes part", live().deletes(things, 9).writes("a", v1, 10), []string{"when g.io.things had been removed with its entry of it"}},
		{"removed with the whole object after it left", live().leaves("a", 7).deletes(things, 9).writes("a", v1, 10), nil},
		{"announced by the process before, whose Lease had gone", live().leaves("a", 6).exits("a", 1).starts("a", 2).says(things, 8).writes("a", v1, 10), []string{none}},
		{"the harness deleted the object, and it is something else that is stored", live().deletes(things, 9).writes("a", v2, 10), []string{"a stored x as g.io/v2"}},
		{"taken out after it left, which it did while it finished its requests", live().leaves("a", 7).says(things, 8).writes("a", v1, 10), nil},
		{"taken out while it takes part", live().says(things, 8).writes("a", v1, 10), []string{none}},
		{"taken out after the harness deleted its Lease, which is back", live().asks("b", 200, 6, unleasing("a")).leaves("a", 6).joins("a", 7).says(things, 8).writes("a", v1, 10), nil},
		{"taken out long after the harness deleted its Lease", live().asks("b", 200, 6, unleasing("a")).leaves("a", 6).joins("a", 7).pass(recorderLag+6*time.Second).says(things, 8).writes("a", v1, 10), []string{none}},
		{"taken out after the harness was refused to delete its Lease", live().asks("b", 403, 6, unleasing("a")).says(things, 8).writes("a", v1, 10), []string{none}},
		{"taken out after the harness deleted another server's Lease", live().asks("b", 200, 6, unleasing("b")).says(things, 8).writes("a", v1, 10), []string{none}},
		{"taken out before it started again", live().leaves("a", 6).says(things, 7).exits("a", 1).starts("a", 2).writes("a", v1, 10), []string{none}},
		{"left over from the process before, which is told late", live().exits("a", 1).starts("a", 2).writes("a", v1, 10), nil},
		{"it hands requests on to who hosts the resource", newHistory().starts("a", 1).lists("a", 1, soundings(true)).hosts("b", 2).writes("a", v1, 10), nil},
		{"a custom resource, before any discovery lists it", sounding(live()).hosts("b", 12, soundings(true)), nil},
		{"a built-in one, before any discovery lists it", sounding(live()).hosts("b", 12, soundings(false)), []string{"a stored x as custom.io/v1"}},
		{"an object to which a controller copied the tag", live().stored(history.Stored{Type: history.StoredPut, Key: "/registry/replicasets/x", Revision: 10, APIVersion: "apps/v1", ObjectKind: "ReplicaSet", Writer: "a", Write: 1}), nil},
		{"an object that another client changed", live().stored(history.Stored{Type: history.StoredPut, Key: "/registry/g.io/things/x", Revision: 10, APIVersion: v2, ObjectKind: "Thing"}), nil},
		{"by an unknown member", live().writes("z", v2, 10), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-15", tc.blames...) })
	}
	t.Run("a resource that no discovery ever lists", func(t *testing.T) {
		r := sounding(live()).blames(t, "SV-15")
		reason(t, r, "no discovery listed the resource, so that it may be a custom one")
		counted(t, r, "whose writer is known", 0)
	})
}
