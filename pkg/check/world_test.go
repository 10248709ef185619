package check

import (
	"fmt"
	"slices"
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

func TestQuestions(t *testing.T) {
	var got []string
	say := func(s string) func() { return func() { got = append(got, s) } }
	w := newWorld(tell().header)
	told := tell().writes("a", v1, 5).writes("b", v1, 5).writes("a", v1, 8).holds(history.PhaseBegin, 9).holds(history.PhaseEnd, 9)
	w.when(0, say("at once"))
	w.when(8, say("first of 8"))
	w.when(5, say("first of 5"))
	w.when(5, say("second of 5"))
	w.when(8, say("second of 8"))
	w.when(9, say("9"))
	w.when(10, say("never"))
	for i, want := range [][]string{
		{"at once"},
		{"at once"}, // there may be more of revision 5
		{"at once", "first of 5", "second of 5"},
		{"at once", "first of 5", "second of 5"}, // a hold begins before all is told
		{"at once", "first of 5", "second of 5", "first of 8", "second of 8", "9"},
	} {
		w.take(&told.events[i])
		if !slices.Equal(got, want) {
			t.Fatalf("after event %d: %q, want %q", i+1, got, want)
		}
	}
	w.finish()
	if slices.Contains(got, "never") || len(w.later.heap) != 0 {
		t.Errorf("%q, %d open", got, len(w.later.heap))
	}
}

func TestTheLastRevisionIsWholeAtTheEnd(t *testing.T) {
	w := tell().writes("a", v1, 5).world()
	answered := false
	w.when(5, func() { answered = true })
	w.finish()
	if !answered {
		t.Error("nothing more can come of revision 5")
	}
}

func TestTooManyQuestionsAreLost(t *testing.T) {
	w := newWorld(tell().header)
	w.asking = &runner{}
	for range maxQuestions + 3 {
		w.when(9, func() {})
	}
	if len(w.later.heap) != maxQuestions || w.asking.lost != 3 {
		t.Errorf("%d wait, %d are lost", len(w.later.heap), w.asking.lost)
	}
}

func TestParticipants(t *testing.T) {
	w := tell().joins("a", 5).joins("b", 6).leaves("a", 10).joins("a", 12).
		stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "idb", Revision: 13, Created: 6, Lease: &history.Lease{Identity: true}}).
		stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "ida", Revision: 14, Created: 12, Lease: &history.Lease{}}).
		stored(history.Stored{Type: history.StoredPut, Key: identityLeasePrefix + "scheduler", Revision: 15, Created: 15, Lease: &history.Lease{}}).
		stored(history.Stored{Type: history.StoredDelete, Key: identityLeasePrefix + "idc", Revision: 16}).world()
	for revision, want := range map[int64]bool{4: false, 5: true, 9: true, 10: false, 11: false, 12: true, 20: true} {
		if got := w.participates("ida", revision); got != want {
			t.Errorf("at %d: %v", revision, got)
		}
	}
	if !w.participatedThrough("ida", 5, 9) || w.participatedThrough("ida", 5, 12) || w.participatedThrough("ida", 9, 10) || w.participatedThrough("x", 1, 2) {
		t.Error("it took part without interruption from 5 to 9 and since 12")
	}
	if got := w.participants(); !slices.Equal(got, []string{"ida", "idb"}) {
		t.Errorf("%q", got)
	}
	left := tell().leaves("b", 17).events[0]
	left.Seq = w.seq + 1
	w.take(&left)
	if w.participates("idb", 17) || !w.participates("idb", 16) {
		t.Error("b took part until 17")
	}
}

func TestEntriesOverTime(t *testing.T) {
	w := tell().says(things, 5, "a="+v1).says(things, 6, "a="+v1, "b="+v1).says(things, 8, "a="+v2).deletes(things, 9).says(things, 11).says(things, 12, "a="+v1).world()
	for revision, want := range map[int64]string{4: "", 5: v1, 7: v1, 8: v2, 9: "", 11: "", 12: v1} {
		if e, ok := w.entryAt(things, "ida", revision); e.Encoding != want || ok != (want != "") {
			t.Errorf("at %d: %v %v, want %q", revision, e, ok, want)
		}
	}
	if c, ok := w.changeAt(things, "ida", 10); !ok || c.present || !c.withObject {
		t.Errorf("%+v: it went with the object", c)
	}
	if c, ok := w.changeAt(things, "idb", 10); !ok || c.present || c.withObject || c.revision != 8 {
		t.Errorf("%+v: it went on its own", c)
	}
	if _, ok := w.entryAt("nothing", "ida", 5); ok {
		t.Error("an entry in nothing")
	}
}

func TestRegistration(t *testing.T) {
	at10 := func(entries ...string) *tale { return tell().says(things, 9, entries...).starts("a", 1) }
	for name, tc := range map[string]struct {
		told *tale
		want int64 // 0 for none
	}{
		"the first ever":              {at10().says(things, 12, "a="+v1), 12},
		"another version":             {at10("a="+v1).says(things, 12, "a="+v2), 12},
		"nothing new":                 {at10("a="+v1).says(things, 12, "a="+v1, "b="+v1), 0},
		"nothing at all":              {at10(), 0},
		"taken away and back":         {at10("a="+v1).says(things, 12).says(things, 14, "a="+v1), 0},
		"with the object and back":    {at10("a="+v1).deletes(things, 12).says(things, 14, "a="+v1), 0},
		"edited and repaired":         {at10("a="+v1).says(things, 12, "a="+v2).says(things, 14, "a="+v1), 0},
		"announced, edited, repaired": {at10("a="+v1).says(things, 12, "a="+v2).says(things, 14, "a=x").says(things, 16, "a="+v2), 12},
		"announced and gone":          {at10().says(things, 12, "a="+v1).says(things, 14), 12},
		"later than asked":            {at10().says(things, 90, "a="+v1), 0},
	} {
		w := tc.told.world()
		c, ok := w.registration(w.servers["a"].current(), things, 50)
		if ok != (tc.want > 0) || c.revision != tc.want {
			t.Errorf("%s: %d %v, want %d", name, c.revision, ok, tc.want)
		}
	}
}

func TestRegistrationThatIsForgotten(t *testing.T) {
	told := tell().says(things, 9, "a="+v1).starts("a", 1)
	for i := range keptChanges {
		told.says(things, int64(20+2*i), "a="+v2).says(things, int64(21+2*i), "a="+v1)
	}
	w := told.says(things, 500, "a="+v2).world()
	if c, ok := w.registration(w.servers["a"].current(), things, 999); ok {
		t.Errorf("%+v, though what it began with is forgotten", c)
	}
	if n := len(w.versions[things].entries["ida"].changes); n != keptChanges {
		t.Errorf("%d changes are kept", n)
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
		"hosting": len(w.resources.hosting), "kinds": len(w.resources.byKind), "names": len(w.resources.names), "open": len(w.later.heap),
	} {
		if n > 600 {
			t.Errorf("%d %s are kept", n, what)
		}
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

func TestKeptPerProcess(t *testing.T) {
	var p perInstance[int]
	s := &server{member: "a"}
	first, second := &instance{server: s}, &instance{server: s}
	*p.of(first)++
	*p.of(first)++
	if got := p.take(second); got != nil {
		t.Error("nothing was kept for the second")
	}
	if got := p.take(first); got == nil || *got != 2 {
		t.Errorf("%v", got)
	}
	*p.of(first)++
	if *p.of(second) != 0 || len(p.slots) != 1 {
		t.Error("the second takes the first one's place, and begins anew")
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
