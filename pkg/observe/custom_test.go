package observe

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// defined are definitions that can be changed.
type defined struct {
	mu  sync.Mutex
	all []history.CustomResource
}

func (d *defined) Established() []history.CustomResource {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all
}

func (d *defined) set(all ...history.CustomResource) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = all
}

func thing(group string) history.CustomResource {
	return history.CustomResource{Group: group, Resource: "things", Served: []string{"v1"}}
}

// The API server answers 404 three times, twice before and once after it calls itself ready.
func TestCustomResourcesOfAStartingServer(t *testing.T) {
	var asked atomic.Int64
	d := &defined{}
	d.set(thing("g.io"), thing("gone.io"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", reply(200, `{}`))
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if asked.Load() >= 2 {
			reply(200, `ok`)(w, r)
			return
		}
		reply(500, `no`)(w, r)
	})
	mux.HandleFunc("GET /apis/g.io/v1/things", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "limit=1" {
			t.Errorf("query %q", r.URL.RawQuery)
		}
		if asked.Add(1) > 3 {
			reply(200, `{}`)(w, r)
			return
		}
		reply(404, `{"kind":"Status","reason":"NotFound","message":"m"}`)(w, r)
	})
	for _, never := range []string{"/apis/late.io/", "/apis/gone.io/"} {
		mux.HandleFunc(never, func(http.ResponseWriter, *http.Request) { t.Errorf("it was asked for %s", never) })
	}
	m := newMemory()
	custom := NewCustomResources("cp1", d, m)
	h := NewCustomHammer("cp1", serve(t, mux), m, clock.RealClock{}, custom)
	custom.ProcessChanged(started(1))
	h.ProcessChanged(started(1))
	// What comes later need not be served yet, and what goes not any more.
	d.set(thing("g.io"), thing("late.io"))
	stop := hammering(t, h)
	m.until(t, func(e history.Event) bool {
		return e.CustomResourceAnswer != nil && e.CustomResourceAnswer.Code == 404 && e.CustomResourceAnswer.Ready == 200
	})
	stop()

	type told struct{ ready, code, count int }
	want := []told{{500, 404, 2}, {200, 404, 1}, {200, 200, 1}}
	for i, e := range m.of(history.KindCustomResourceAnswer) {
		c := e.CustomResourceAnswer
		if e.Member != "cp1" || c.Group != "g.io" || c.Version != "v1" || c.Resource != "things" || c.Instance != 1 || e.From == 0 {
			t.Errorf("event %+v: %+v", e, c)
		}
		if got := (told{c.Ready, c.Code, c.Count}); i < len(want)-1 && got != want[i] || i == len(want)-1 && c.Code != 200 {
			t.Errorf("event %d: %+v, want %+v", i, got, want[i])
		}
	}
	if n := len(m.of(history.KindCustomResourceAnswer)); n < len(want)-1 {
		t.Errorf("%d events", n)
	}
}

func TestACustomHammerThatCameTooLateLeavesAGap(t *testing.T) {
	m := newMemory()
	h := NewCustomHammer("cp1", serve(t, http.NotFoundHandler()), m, clock.RealClock{}, NewCustomResources("cp1", &defined{}, m))
	h.ProcessChanged(started(1))
	h.Ready(1)
	stop := hammering(t, h)
	gap := m.until(t, func(e history.Event) bool { return e.RecorderMissed != nil })
	if gap.Member != "cp1" || gap.RecorderMissed.Source != history.SourceCustomResource {
		t.Errorf("gap %+v", gap)
	}
	stop()
}

func TestEtcdKnowsEstablishedDefinitions(t *testing.T) {
	r := newRecorder(newMemory())
	const key = "/registry/apiextensions.k8s.io/customresourcedefinitions/things.g.io"
	definition := func(established string) []byte {
		return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.g.io"},
			"spec":{"group":"g.io","names":{"plural":"things"},"versions":[{"name":"v1","served":true,"storage":true},{"name":"v0"}]},
			"status":{"conditions":[{"type":"Established","status":"` + established + `"}]}}`)
	}
	event := put(2, 2, key, "")
	event.Kv.Value = definition("False")
	r.stored(event)
	if all := r.Established(); len(all) != 0 {
		t.Errorf("established are %+v", all)
	}
	event.Kv.Value = definition("True")
	if stored := r.stored(event).CustomResource; !stored.Established || len(stored.Served) != 1 || stored.Served[0] != "v1" {
		t.Errorf("stored %+v", stored)
	}
	if all := r.Established(); len(all) != 1 || all[0].Resource != "things" {
		t.Errorf("established are %+v", all)
	}
	r.stored(deletion(4, key))
	if all := r.Established(); len(all) != 0 {
		t.Errorf("established are %+v", all)
	}
}

func TestTheFinalizerOfTheProtectionIsRecorded(t *testing.T) {
	r := newRecorder(newMemory())
	event := put(2, 2, "/registry/volumeattributesclasses/x", "cp1/1")
	for finalizers, want := range map[string]bool{`[]`: false, `["f"]`: false, `["f","kubernetes.io/vac-protection"]`: true} {
		event.Kv.Value = []byte(`{"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttributesClass","metadata":{"name":"x","finalizers":` + finalizers + `}}`)
		if got := r.stored(event).Protected; got != want {
			t.Errorf("with the finalizers %s it is told to be protected: %v", finalizers, got)
		}
	}
}

func TestADeletionTimestampIsRecorded(t *testing.T) {
	r := newRecorder(newMemory())
	event := put(2, 2, "/registry/configmaps/n/x", "cp1/1")
	if r.stored(event).Deleting {
		t.Error("it is told to be deleted")
	}
	event.Kv.Value = []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["f"]}}`)
	if !r.stored(event).Deleting {
		t.Error("that it is deleted is not told")
	}
}
