package workload

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// keeper is an API server that keeps an object with finalizers when it is deleted. Deleted
// objects have one more finalizer for as many reads as slow says.
type keeper struct {
	objects map[string]map[string]any
	slow    int
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/apis/g":
		_, _ = w.Write([]byte(`{"versions":[{"version":"v1"}]}`))
		return
	case "/apis/g/v1":
		_, _ = w.Write([]byte(`{"resources":[{"name":"ballasts"}]}`))
		return
	}
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	var body struct{ Metadata map[string]any }
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch r.Method {
	case http.MethodPost:
		k.objects[body.Metadata["name"].(string)] = body.Metadata
	case http.MethodDelete:
		k.objects[name]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
	case http.MethodPatch:
		if body.Metadata["finalizers"] != nil {
			w.WriteHeader(422)
			return
		}
		delete(k.objects, name)
	default:
		object := k.objects[name]
		if k.slow--; k.slow >= 0 {
			object = map[string]any{"deletionTimestamp": object["deletionTimestamp"], "finalizers": []string{heldFinalizer, "theirs"}}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"metadata": object})
	}
}

func TestHeldObjectsAreDeletedAndStay(t *testing.T) {
	m, k := &memory{}, &keeper{objects: map[string]map[string]any{}, slow: 2}
	_, client := begin(t, k, m)
	held := NewHeld(two(), 2, "run", "cp1", "p-x-held-", &Tagger{}, clock.RealClock{})
	for i := range held.Len() {
		asked := 0
		for !held.Ensure(t.Context(), client, i) {
			if asked++; asked > 10 {
				t.Fatal("it never was")
			}
		}
		if i == 0 && asked != 3 {
			t.Errorf("it was taken for held after %d attempts, while another writer held it", asked)
		}
	}
	for i := range held.Len() {
		object := k.objects[fmt.Sprint("run-cp1-p-x-held-", i)]
		if object == nil || object["deletionTimestamp"] == nil || fmt.Sprint(object["finalizers"]) != "["+heldFinalizer+"]" {
			t.Errorf("object %d is %v", i, object)
		}
	}
	for i := range held.Len() {
		first := held.Release(t.Context(), client, i)
		if again := held.Release(t.Context(), client, i); !first || !again {
			t.Errorf("object %d was not released", i)
		}
	}
	if len(k.objects) != 0 {
		t.Errorf("there are left %v", k.objects)
	}
	verbs := map[string]int{}
	for _, e := range m.events {
		verbs[e.Request.Verb]++
		if (e.Request.Write > 0) != (e.Request.Verb == "create") || e.Request.Class != history.ClassGuarded {
			t.Errorf("request %+v", e.Request)
		}
	}
	if verbs["create"] != 2 || verbs["delete"] != 2 || verbs["patch"] != 2 {
		t.Errorf("verbs %v", verbs)
	}
}

func TestReleaseOfAnObjectThatWasNeverDeleted(t *testing.T) {
	m := &memory{}
	_, client := begin(t, http.NotFoundHandler(), m)
	if held := NewHeld(two(), 1, "run", "cp1", "h", &Tagger{}, clock.RealClock{}); !held.Release(t.Context(), client, 0) || len(m.events) != 0 {
		t.Errorf("sent was %v", m.events)
	}
}
