package observe

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"

	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// told keeps what is recorded, at a time that each look moves on by a second.
type told struct {
	mu     sync.Mutex
	now    int64
	events []history.Event
}

func (t *told) Now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now += int64(time.Second)
	return t.now
}

func (t *told) Record(ev history.Event) { t.events = append(t.events, ev) }

func (t *told) foreign() (out []string) {
	for _, ev := range t.events {
		if f := ev.ThirdPartyObject; f != nil {
			out = append(out, f.Change+" "+f.Type+" "+f.Name+" "+f.Available)
		}
	}
	t.events = nil
	return out
}

// service is an APIService as a list has it.
func service(name, group, version, available string, remote bool, labels map[string]string) map[string]any {
	spec := map[string]any{"group": group, "version": version}
	if remote {
		spec["service"] = map[string]any{"name": "x", "namespace": "y"}
	}
	out := map[string]any{"metadata": map[string]any{"name": name, "labels": labels}, "spec": spec}
	if available != "" {
		out["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": available, "reason": "R"}}}
	}
	return out
}

// cluster answers lists of APIServices and CustomResourceDefinitions.
type lists struct {
	code           int
	services, crds []any
	accepts        []string
}

func (l *lists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.accepts = append(l.accepts, r.Header.Get("Accept"))
	if l.code != 0 {
		w.WriteHeader(l.code)
		return
	}
	items := l.services
	if r.URL.Path == "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" {
		items = l.crds
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}

func startForeign(t *testing.T, l *lists, owned *Owned, members ...string) (*Foreign, *told) {
	t.Helper()
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	recorder := &told{}
	f := NewForeign(members, func(member string) (*rest.Config, error) {
		if member == "gone" {
			return &rest.Config{Host: "http://127.0.0.1:1"}, nil
		}
		return &rest.Config{Host: server.URL}, nil
	}, recorder, owned, testclock.NewFakeClock(time.Now()))
	return f, recorder
}

func (f *Foreign) lookAtAll(t *testing.T) bool {
	t.Helper()
	ok := true
	for _, list := range f.lists {
		ok = f.look(t.Context(), list) && ok
	}
	return ok
}

func TestForeign_RecordsWhatNeitherTheHarnessNorTheControlPlaneMade(t *testing.T) {
	own := map[string]string{automanaged: "onstart"}
	l := &lists{
		services: []any{
			service("v1.apps", "apps", "v1", "True", false, own),
			service("v1.weather.io", "weather.io", "v1", "True", true, nil),
			service("v1.tides.io", "tides.io", "v1", "True", true, nil),
			service("v1.nowhere.io", "nowhere.io", "v1", "", false, nil),
		},
		crds: []any{map[string]any{"metadata": map[string]any{"name": "rains.weather.io"}}, map[string]any{"metadata": map[string]any{"name": "flows.tides.io"}}},
	}
	owned := &Owned{}
	owned.Note("apiservices", "v1.tides.io")
	owned.Note("customresourcedefinitions", "flows.tides.io")
	f, recorder := startForeign(t, l, owned, "gone", "cp1")
	for _, step := range []struct {
		change func()
		want   []string
	}{
		{func() {}, []string{"present apiservice v1.nowhere.io ", "present apiservice v1.weather.io True", "present crd rains.weather.io "}},
		{func() {}, nil},
		{func() { l.services[1] = service("v1.weather.io", "weather.io", "v1", "False", true, nil) }, []string{"changed apiservice v1.weather.io False"}},
		{func() { l.services = append(l.services, service("v2.late.io", "late.io", "v2", "", true, nil)) }, []string{"appeared apiservice v2.late.io "}},
		{func() { l.services = l.services[:1]; l.crds = nil }, []string{
			"deleted apiservice v1.nowhere.io ", "deleted apiservice v1.weather.io ", "deleted apiservice v2.late.io ", "deleted crd rains.weather.io "}},
	} {
		step.change()
		if !f.lookAtAll(t) {
			t.Fatal("no member answered")
		}
		if got := recorder.foreign(); !slices.Equal(got, step.want) {
			t.Errorf("recorded %q, want %q", got, step.want)
		}
	}
	if !slices.Contains(l.accepts, asMetadata) {
		t.Error("CustomResourceDefinitions were asked for with their schemas")
	}
}

// An event says since when it may be so: the beginning of the last look that was answered.
func TestForeign_SaysSinceWhenItMayBeSo(t *testing.T) {
	l := &lists{}
	f, recorder := startForeign(t, l, &Owned{}, "cp1")
	list := f.lists[0]
	if !f.look(t.Context(), list) {
		t.Fatal("no answer")
	}
	before := recorder.now
	l.code = http.StatusServiceUnavailable
	if f.look(t.Context(), list) {
		t.Fatal("503 is no answer")
	}
	l.code, l.services = 0, []any{service("v1.weather.io", "weather.io", "v1", "True", true, nil)}
	f.look(t.Context(), list)
	if n := len(recorder.events); n != 1 || recorder.events[0].From != before || recorder.events[0].ThirdPartyObject.Change != history.ThirdPartyAppeared {
		t.Errorf("%d events: %+v, want one from %d", n, recorder.events, before)
	}
}

func TestTellForeign_KnowsMembersAndTheHarness(t *testing.T) {
	recorder := &told{}
	f := TellForeign(recorder, []string{"host1"}, []string{"apiserver-cp1"})
	lease := func(key, holder string, identity bool) {
		f.Record(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: registryPrefix + "leases/" + key, Lease: &history.Lease{Holder: holder, Identity: identity}}})
	}
	candidate := func(key string) {
		f.Record(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: registryPrefix + "leasecandidates/" + key, Candidate: &history.Candidate{}}})
	}
	lease("kube-system/kube-scheduler", "host1_1", false)
	lease("kube-system/apiserver-x", "apiserver-x_1", true)
	lease("ns/evenkeel-x", "any-holder", false)
	lease("ns/taken", history.AbsentHolder, false)
	lease("ns/free", "", false)
	candidate("kube-system/host1_1")
	candidate("ns/evenkeel-young")
	f.Record(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: registryPrefix + "storageversions/x", StorageVersion: &history.StorageVersion{
		Entries: []history.Entry{{ServerID: "apiserver-cp1"}, {ServerID: "apiserver-evenkeel-guest"}}}}})
	if got := recorder.foreign(); got != nil {
		t.Errorf("called foreign: %q", got)
	}
	lease("ns/op", "op_1", false)
	lease("ns/op", "op_2", false)
	candidate("ns/op_1")
	f.Record(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredDelete, Key: registryPrefix + "leases/ns/op"}})
	for range 2 {
		f.Record(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: registryPrefix + "storageversions/x", StorageVersion: &history.StorageVersion{
			Entries: []history.Entry{{ServerID: "apiserver-other"}}}}})
	}
	want := []string{"appeared lease ns/op ", "appeared candidate ns/op_1 ", "deleted lease ns/op ", "appeared server apiserver-other "}
	if got := recorder.foreign(); !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}
