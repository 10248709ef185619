package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestWhoAnswered(t *testing.T) {
	const s = time.Second
	// The first process lives from 0 s to 10 s, the second one from 12 s on.
	told := tell().starts("a", 1).pass(10*s).exits("a", 1).pass(2*s).starts("a", 2)
	exited, second := told.events[1].At, told.events[2].At
	for _, tc := range []struct {
		name     string
		from, at int64
		want     int
	}{
		{"while the second runs", second + 1, second + 2, 2},
		{"sent when the first was gone", exited + 1, second + 2, 2},
		{"sent while the first ran, answered while the second does", exited - 1, second + 2, 0},
		{"without a duration", 0, second + 2, 2},
	} {
		w := told.world()
		in := w.instanceAt("a", &history.Event{From: tc.from, At: tc.at})
		got := 0
		if in != nil {
			got = in.number
		}
		if got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
	w := tell().starts("a", 1).pass(s).exits("a", 1).world()
	if in := w.instanceAt("a", &history.Event{From: 1, At: w.Now}); in == nil || in.number != 1 {
		t.Error("an answer that is recorded after the end is that of the process that was asked")
	}
	if in := w.instanceAt("a", &history.Event{From: w.Now + 1, At: w.Now + 2}); in != nil {
		t.Error("nobody answers after the end")
	}
	if in := w.instanceAt("x", &history.Event{At: 1}); in != nil {
		t.Error("a stranger has no process")
	}
	w = tell().starts("a", 1).pass(s).starts("a", 2).world()
	if in := w.instanceAt("a", &history.Event{From: 2, At: w.Now}); in != nil {
		t.Error("a process whose end nobody saw was there until the next began")
	}
	if in := w.instanceAt("a", &history.Event{From: w.Now + 1, At: w.Now + 2}); in == nil || in.number != 2 {
		t.Error("and no longer")
	}
}

func TestReplacedProcessesAreForgotten(t *testing.T) {
	told := tell()
	for i := range 100 {
		told.starts("a", i+1).exits("a", i+1)
	}
	w := told.world()
	if n := len(w.servers["a"].instances); n != keptInstances {
		t.Errorf("%d are kept", n)
	}
	if in := w.servers["a"].current(); in.number != 100 || in.first {
		t.Errorf("%+v", in)
	}
	if len(w.running()) != 1 {
		t.Error("only a has a process")
	}
}

// A start is later than whatever any recorder has read from etcd by then, even
// where the recorder of changes is behind.
func TestStartRevision(t *testing.T) {
	for name, tc := range map[string]struct {
		told *tale
		want int64
	}{
		"told":                {tell().writes("a", v1, 7), 7},
		"read when ready":     {tell().writes("a", v1, 7).starts("b", 1).ready("b", 200, 9), 9},
		"read with discovery": {tell().writes("a", v1, 7).hosts("b", 8), 8},
		"read for a hold":     {tell().writes("a", v1, 7).holds(history.PhaseBegin, 11), 11},
		// A server may answer anything; what it says is no measure.
		"answered": {tell().writes("a", v1, 7).asks("b", 200, 99), 7},
	} {
		if in := tc.told.starts("a", 1).world().servers["a"].current(); in.startRevision != tc.want {
			t.Errorf("%s: %d, want %d", name, in.startRevision, tc.want)
		}
	}
}

func TestReadiness(t *testing.T) {
	told := tell().starts("a", 1).ready("a", 500, 0).ready("a", 200, 0)
	told.ready("a", 200, 5).ready("a", 200, 9)
	if r := told.world().servers["a"].current().ready; r == nil || r.seq != 3 || r.revision != 5 {
		t.Errorf("%+v, want the first answer and the first revision", r)
	}
	told = tell().starts("a", 1).exits("a", 1).starts("a", 2)
	told.add(history.Event{Kind: history.KindReady, Member: "a", From: 1, Ready: &history.Ready{Code: 200, Revision: 5}})
	if told.world().servers["a"].current().ready != nil {
		t.Error("an answer of the process before makes the new one ready")
	}
}

func TestWhatTheHarnessHasDone(t *testing.T) {
	w := tell().says(things, 5, "a="+v1).asks("a", 200, 6, tampering(things)).world()
	if v := w.versions[things]; !v.tampered || v.tamperedAt == 0 {
		t.Error("tampering went unnoticed")
	}
	for name, told := range map[string]*tale{
		"refused":        tell().says(things, 5).asks("a", 403, 0, tampering(things)),
		"read":           tell().says(things, 5).asks("a", 200, 6, tampering(things), verb("get")),
		"an invalid one": tell().says(things, 5).asks("a", 200, 6, tampering(things), func(ev *history.Event) { ev.Request.Class = history.ClassInvalid }),
		"another object": tell().says(things, 5).asks("a", 200, 6, tampering("other")),
	} {
		if told.world().versions[things].tampered {
			t.Errorf("%s is no tampering", name)
		}
	}
}

func TestTaggedObjects(t *testing.T) {
	w := tell().hosts("a", 1, history.HostedResource{Group: "apps", Resource: "replicasets", Kind: "ReplicaSet", Persisted: true}).world()
	for name, tc := range map[string]struct {
		stored history.Stored
		ok     bool
	}{
		"one of ours":           {history.Stored{Type: history.StoredPut, Writer: "a", APIVersion: "g.io/v7", ObjectKind: "Thing"}, true},
		"of the core group":     {history.Stored{Type: history.StoredPut, Writer: "a", APIVersion: "v1", ObjectKind: "ConfigMap"}, true},
		"not tagged":            {history.Stored{Type: history.StoredPut, APIVersion: v1, ObjectKind: "Thing"}, false},
		"deleted":               {history.Stored{Type: history.StoredDelete, Writer: "a", APIVersion: v1, ObjectKind: "Thing"}, false},
		"a copy of annotations": {history.Stored{Type: history.StoredPut, Writer: "a", APIVersion: "apps/v1", ObjectKind: "ReplicaSet"}, false},
	} {
		if _, ok := w.tagged(&tc.stored); ok != tc.ok {
			t.Errorf("%s: %v", name, ok)
		}
	}
	told := tell()
	told.header.Writes = nil
	w = told.hosts("a", 1).world()
	if gr, ok := w.tagged(&history.Stored{Type: history.StoredPut, Writer: "a", APIVersion: v1, ObjectKind: "Thing"}); !ok || gr.resource != "things" {
		t.Error("without a list in the header discovery tells what a kind is")
	}
}

func TestHosting(t *testing.T) {
	sounding := history.HostedResource{Group: "custom.io", Resource: "soundings", Kind: "Sounding", Persisted: true, Custom: true}
	told := tell().hosts("a", 1, sounding).hosts("a", 2)
	if got := told.world().resources.hosting[groupResource{"custom.io", "soundings"}]; got != hostedElse {
		t.Errorf("%q: what the harness writes stays known", got)
	}
	for r, want := range map[*history.HostedResource]bool{
		{Resource: "pods", Persisted: true}:                                true,
		{Resource: "bindings"}:                                             false,
		{Group: "g", Resource: "x", Persisted: true, Custom: true}:         false,
		{Group: "g", Resource: "x", Persisted: true, Aggregated: true}:     false,
		{Resource: "events", Persisted: true}:                              true,
		{Group: "events.k8s.io", Resource: "events", Persisted: true}:      false,
		{Group: "events.k8s.io", Resource: "otherthings", Persisted: true}: true,
	} {
		if guardedByBarrier(*r) != want {
			t.Errorf("%+v", r)
		}
	}
}

func TestSets(t *testing.T) {
	for _, tc := range []struct {
		a, b []string
		want bool
	}{
		{nil, []string{}, true},
		{[]string{"x", "y"}, []string{"y", "x"}, true},
		{[]string{"x", "x"}, []string{"x", "y"}, false},
		{[]string{"x", "y"}, []string{"x", "x"}, false},
		{[]string{"x", "x"}, []string{"x"}, true},
		{[]string{"x"}, nil, false},
	} {
		if sameSet(tc.a, tc.b) != tc.want {
			t.Errorf("%q %q", tc.a, tc.b)
		}
	}
}

func TestProcessesThatEndByThemselves(t *testing.T) {
	for _, tc := range []struct {
		component string
		expected  bool
		doubted   bool
	}{
		{history.ComponentAPIServer, false, true},
		{history.ComponentEtcd, false, true},
		{history.ComponentAPIServer, true, false},
		{history.ComponentControllerManager, false, false},
	} {
		w := newWorld(tell().header)
		w.take(&history.Event{Seq: 1, Kind: history.KindProcess, Member: "a", Process: &history.Process{
			Component: tc.component, Change: history.ProcessExited, Expected: tc.expected, Exit: "signal: killed",
		}})
		w.take(&history.Event{Seq: 2, Kind: history.KindEnd, End: &history.End{Complete: true}})
		if doubts := w.doubts(nil); (len(doubts) > 0) != tc.doubted {
			t.Errorf("%+v: doubts %v", tc, doubts)
		}
	}
}

func TestNothingPilesUp(t *testing.T) {
	w := newWorld(tell().header)
	told := tell()
	revision := int64(10)
	for i := range 5000 {
		told.events, told.now = nil, 0
		revision += 10
		stranger := fmt.Sprint("stranger", i)
		told.says(things, revision, "a="+v1, stranger+"="+v1).
			says(fmt.Sprint("g.io.r", i), revision+1, "a="+v1).deletes(fmt.Sprint("g.io.r", i), revision+2).
			joins(stranger, revision+3).leaves(stranger, revision+4).
			lists("a", revision, history.HostedResource{Group: "g", Resource: fmt.Sprint("r", i), Kind: fmt.Sprint("k", i), Custom: true})
		for j := range told.events {
			w.take(&told.events[j])
		}
	}
	for what, n := range map[string]int{
		"entries": len(w.versions[things].entries), "objects": len(w.versions), "deleted": len(w.gone), "leases": len(w.leases),
		"hosting": len(w.resources.hosting), "kinds": len(w.resources.byKind), "names": len(w.resources.names),
	} {
		if n > 600 {
			t.Errorf("%d %s are kept", n, what)
		}
	}
}
