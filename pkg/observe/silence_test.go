package observe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// What a recorder cannot record it must not pass over.

func TestEtcdTellsOfChangesThatComeTooLate(t *testing.T) {
	m := newMemory()
	r := newRecorder(m)
	// The watch says that it has come to 5, and then tells of 4.
	r.take(clientv3.WatchResponse{Header: progressHeader(5)})
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(4, 4, "/registry/a", ""), put(6, 6, "/registry/b", "")}})
	gaps := m.of(history.KindRecorderMissed)
	if len(gaps) != 1 || gaps[0].RecorderMissed.Source != "etcd" || !strings.Contains(gaps[0].RecorderMissed.Message, "a change of /registry/a is missing") {
		t.Errorf("gaps %v", gaps)
	}
	if stored := m.of(history.KindStored); len(stored) != 1 || stored[0].Stored.Revision != 6 {
		t.Errorf("stored %v", stored)
	}
}

func TestDiscoveryDoesNotTakeAMissingDocumentForAnEmptyOne(t *testing.T) {
	// lists has the group g with version v1, whose document is not there.
	lists := func(services http.HandlerFunc) *http.ServeMux {
		mux := http.NewServeMux()
		mux.HandleFunc("/api", reply(200, `{"versions":["v1"]}`))
		mux.HandleFunc("/api/v1", reply(200, `{"resources":[{"name":"pods","kind":"Pod","storageVersionHash":"x"}]}`))
		mux.HandleFunc("/apis", reply(200, `{"groups":[{"name":"g","versions":[{"version":"v1"}]}]}`))
		mux.HandleFunc("/apis/apiregistration.k8s.io/v1/apiservices", services)
		return mux
	}
	none := reply(404, `{}`)
	for name, tc := range map[string]struct {
		mux    *http.ServeMux
		misses bool
	}{
		"nothing at all":                       {http.NewServeMux(), true},
		"a version that is the server's own":   {lists(none), true},
		"a version that another release hosts": {lists(reply(200, `{"items":[{"spec":{"group":"g","version":"v1"}}]}`)), false},
		"a version that another server hosts":  {lists(reply(200, `{"items":[{"spec":{"group":"g","version":"v1","service":{}}}]}`)), false},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := discover(t.Context(), dial(t, serve(t, tc.mux), newMemory()))
			if tc.misses != errors.Is(err, errNotThere) || !tc.misses && (err != nil || len(found) != 1) {
				t.Errorf("found %v (%v)", found, err)
			}
		})
	}
}

// A server that is too busy to answer hosts what it hosts.
func TestDiscoveryDoesNotTakeASilentServerForAnEmptyOne(t *testing.T) {
	for name, tc := range map[string]struct {
		service string
		own     int
		want    int
		fails   bool
	}{
		"another server does not answer":               {`,"service":{}`, 0, 1, false},
		"a peer does not answer, and it has none":      {``, 404, 1, false},
		"it does not answer, and then it does":         {``, 200, 2, false},
		"it does not answer, neither for itself":       {``, 503, 0, true},
		"it is too busy to answer, neither for itself": {``, 429, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/api", reply(200, `{"versions":["v1"]}`))
			mux.HandleFunc("/api/v1", reply(200, `{"resources":[{"name":"pods","kind":"Pod"}]}`))
			mux.HandleFunc("/apis", reply(200, `{"groups":[{"name":"g","versions":[{"version":"v1"}]}]}`))
			mux.HandleFunc("/apis/apiregistration.k8s.io/v1/apiservices", reply(200, `{"items":[{"spec":{"group":"g","version":"v1"`+tc.service+`}}]}`))
			mux.HandleFunc("/apis/g/v1", func(w http.ResponseWriter, r *http.Request) {
				code := 503
				if r.Header.Get(handedOnHeader) != "" {
					code = tc.own
				}
				reply(code, `{"resources":[{"name":"things","kind":"Thing"}]}`)(w, r)
			})
			found, err := discover(t.Context(), dial(t, serve(t, mux), newMemory()))
			if tc.fails != (err != nil) || len(found) != tc.want {
				t.Errorf("found %v (%v)", found, err)
			}
		})
	}
}

func TestAnAnswerIsTheMembersOwn(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/namespaces/n/configmaps/x", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/elsewhere", reply(200, `{}`))
	m := newMemory()
	answer := dial(t, serve(t, mux), m).Do(t.Context(), Call{Class: history.ClassGuarded, Verb: "update", Version: "v1", Resource: "configmaps", Namespace: "n", Name: "x", Body: map[string]any{}})
	if answer.Code != http.StatusTemporaryRedirect || m.of(history.KindRequest)[0].Request.Code != http.StatusTemporaryRedirect {
		t.Errorf("answer %+v", answer)
	}
}

func TestPatchesAndCollections(t *testing.T) {
	var seen []string
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type"))
		reply(200, `{}`)(w, r)
	})
	client := dial(t, serve(t, mux), newMemory())
	client.Do(t.Context(), Call{Verb: "patch", Version: "v1", Resource: "pods", Namespace: "n", Name: "x", Subresource: "status", Body: map[string]any{}})
	client.Do(t.Context(), Call{Verb: "deletecollection", Version: "v1", Resource: "pods", Namespace: "n"})
	if want := []string{"PATCH /api/v1/namespaces/n/pods/x/status application/merge-patch+json", "DELETE /api/v1/namespaces/n/pods "}; !slices.Equal(seen, want) {
		t.Errorf("sent %q, want %q", seen, want)
	}
}

func TestAListThatIsRefusedIsRecordedOnceInARow(t *testing.T) {
	var asked atomic.Int64
	often := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+storageVersionsPath, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 3 {
			close(often)
		}
		reply(403, `{"kind":"Status","message":"no"}`)(w, r)
	})
	m := newMemory()
	watch := NewStorageVersionWatch("cp1", serve(t, mux), m, clock.RealClock{})
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() {
		defer close(running)
		watch.Run(ctx)
	}()
	<-often
	cancel()
	<-running
	if seen := m.of(history.KindWatch); len(seen) != 1 || seen[0].Watch.Type != history.WatchBroken || seen[0].Watch.Message != "the list was answered 403" {
		t.Errorf("recorded %+v", seen)
	}
}

func TestANewProcessIsNotKeptWaitingByRequestsToTheOneBefore(t *testing.T) {
	var requests atomic.Int64
	asked := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", reply(200, `{}`))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			close(asked)
			<-r.Context().Done()
			return
		}
		reply(200, `{}`)(w, r)
	})
	m := newMemory()
	h := NewHammer("cp1", serve(t, mux), m, clock.RealClock{}, []Probe{{Interval: time.Millisecond, Step: func(ctx context.Context, client *Client) {
		client.Do(ctx, Call{Class: history.ClassRead, Verb: "list", Version: "v1", Resource: "pods"})
	}}})
	stop := hammering(t, h)
	h.ProcessChanged(started(1))
	<-asked
	h.ProcessChanged(exited(1))
	h.ProcessChanged(started(2))
	cut := m.until(t, func(e history.Event) bool { return e.Request != nil })
	m.until(t, func(e history.Event) bool { return e.Request != nil && e.Request.Code == 200 })
	if !strings.Contains(cut.Request.Error, context.Canceled.Error()) {
		t.Errorf("the request to the old process ended with %q", cut.Request.Error)
	}
	stop()
}

func TestWhatIsRefusedAsADryRunIsSentForGood(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+storageVersionsPath, reply(200, `{"items":[`+twoServers+`]}`))
	mux.HandleFunc("GET "+storageVersionsPath+"/core.pods", reply(200, twoServers))
	mux.HandleFunc("PUT "+storageVersionsPath+"/core.pods/status", func(w http.ResponseWriter, r *http.Request) {
		var object apiserverinternalv1alpha1.StorageVersion
		_ = json.NewDecoder(r.Body).Decode(&object)
		dry, flawed := r.URL.Query().Get("dryRun") == "All", len(flaws(object.Status)) > 0
		if !dry && !flawed {
			t.Error("a status without a flaw was sent for good")
		}
		// This server looks at nothing but dry runs.
		if dry && flawed {
			reply(422, "{}")(w, r)
			return
		}
		reply(200, "{}")(w, r)
	})
	m := newMemory()
	ProbeInvalidStatus(t.Context(), dial(t, serve(t, mux), m), 0)
	var got []string
	for _, e := range m.of(history.KindRequest) {
		how := "dry"
		if e.Request.WithoutDryRun {
			how = "lasting"
		}
		got = append(got, strings.TrimSpace(how+" "+e.Request.Invalid)+" "+http.StatusText(e.Request.Code))
	}
	want := []string{"dry OK"}
	for _, flaw := range []string{history.InvalidUndecodable, history.InvalidAgreement, history.InvalidDuplicate} {
		want = append(want, "dry "+flaw+" Unprocessable Entity", "lasting "+flaw+" OK")
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}
