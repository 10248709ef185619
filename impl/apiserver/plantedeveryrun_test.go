package apiserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// planted is a handler with a defect before one that answers with code and with the method
// that it was asked by.
func planted(id defects.ID, code *int) (*plantedHandler, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(time.Unix(1000, 0))
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(*code)
		_, _ = w.Write([]byte(r.Method))
	})
	return &plantedHandler{next: next, defects: defects.Of(id), clock: clk, first: map[string]*answer{},
		custom: func(group, _ string) bool { return group == "custom.example.com" }}, clk
}

func ask(h http.Handler, method, path string, info genericapirequest.RequestInfo) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(genericapirequest.WithRequestInfo(r.Context(), &info)))
	return w
}

func TestPlanted_ReadyAgainLate(t *testing.T) {
	code := http.StatusOK
	h, clk := planted(defects.RO02LateAgain, &code)
	expect := func(want int) {
		t.Helper()
		if got := ask(h, http.MethodGet, "/readyz", genericapirequest.RequestInfo{}).Code; got != want {
			t.Errorf("%d, want %d", got, want)
		}
		clk.Step(time.Second)
	}
	expect(http.StatusOK)
	code = http.StatusInternalServerError
	expect(http.StatusInternalServerError)
	code = http.StatusOK
	for range int(h.defects.Delay(defects.RO02LateAgain).Seconds()) {
		expect(http.StatusInternalServerError)
	}
	expect(http.StatusOK)
	clk.Step(2 * stoodStill)
	expect(http.StatusInternalServerError)
}

func TestPlanted_FallsAgainAndAgain(t *testing.T) {
	code := http.StatusOK
	for _, third := range []bool{true, false} {
		h, clk := planted(defects.RO02Flaps, &code)
		h.third = third
		refused := 0
		for range int(2 * (readyFor + unreadyFor).Seconds()) {
			if ask(h, http.MethodGet, "/readyz", genericapirequest.RequestInfo{}).Code != http.StatusOK {
				refused++
			}
			clk.Step(time.Second)
		}
		if want := int(2 * unreadyFor.Seconds()); third && refused != want || !third && refused > 0 {
			t.Errorf("third %v: not ready for %d s of two turns, want %d", third, refused, want)
		}
	}
}

func TestPlanted_HasNoBallasts(t *testing.T) {
	code := http.StatusOK
	h, _ := planted(defects.RO01ServesLess, &code)
	h.third = true
	for path, want := range map[string]int{
		"/apis/reference.evenkeel.dev": http.StatusNotFound, "/apis/reference.evenkeel.dev/v1/ballasts": http.StatusNotFound,
		"/apis/reference.evenkeel.dev.example": http.StatusOK, "/api/v1/configmaps": http.StatusOK,
	} {
		if got := ask(h, http.MethodGet, path, genericapirequest.RequestInfo{}).Code; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

func TestPlanted_DropsWrites(t *testing.T) {
	code := http.StatusOK
	for _, tc := range []struct {
		defect       defects.ID
		method, verb string
		oneIn        int
	}{
		{defects.RO08DropsWrites, http.MethodPut, "update", dropsOneIn},
		{defects.RO08DropsDeletions, http.MethodDelete, "delete", dropsDeletionIn},
	} {
		h, _ := planted(tc.defect, &code)
		dropped := 0
		for range 3 * tc.oneIn {
			w := ask(h, tc.method, "/api/v1/namespaces/default/configmaps/a", genericapirequest.RequestInfo{IsResourceRequest: true, Resource: "configmaps", Verb: tc.verb})
			if w.Body.String() == http.MethodGet {
				dropped++
			}
		}
		if dropped != 3 {
			t.Errorf("%s: %d requests were dropped, want 3", tc.defect, dropped)
		}
	}
}

func TestPlanted_HidesCustomResourcesAfterReadiness(t *testing.T) {
	code := http.StatusOK
	h, clk := planted(defects.RO09NotFoundBriefly, &code)
	list := func(group string) int {
		return ask(h, http.MethodGet, "/apis/"+group+"/v1/things", genericapirequest.RequestInfo{IsResourceRequest: true, APIGroup: group, Resource: "things", Verb: "list"}).Code
	}
	if got := list("custom.example.com"); got != http.StatusOK {
		t.Errorf("before readiness: %d", got)
	}
	ask(h, http.MethodGet, "/readyz", genericapirequest.RequestInfo{})
	if got := list("custom.example.com"); got != http.StatusNotFound {
		t.Errorf("right after readiness: %d", got)
	}
	if got := list("apps"); got != http.StatusOK {
		t.Errorf("of a built-in resource: %d", got)
	}
	clk.Step(2 * hidesBriefly)
	if got := list("custom.example.com"); got != http.StatusOK {
		t.Errorf("later: %d", got)
	}
}

func TestPlanted_ShowsMigrationsLateToClientsThatAreNoComponent(t *testing.T) {
	h, clk := planted(defects.SVM25ShowsLate, nil)
	watch := genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "watch", APIGroup: "storagemigration.k8s.io", Resource: "storageversionmigrations"}
	writers := make(chan http.ResponseWriter, 1)
	h.next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writers <- w
		_, _ = w.Write([]byte("shown"))
	})
	for name, late := range map[string]bool{"admin": true, "system:kube-controller-manager": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		ctx := genericapirequest.WithUser(genericapirequest.WithRequestInfo(r.Context(), &watch), &user.DefaultInfo{Name: name})
		w, done := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(done)
			h.ServeHTTP(w, r.WithContext(ctx))
		}()
		if _, is := (<-writers).(*lateWriter); is != late {
			t.Errorf("%s: late %t, want %t", name, is, late)
		}
		if late {
			for !clk.HasWaiters() {
				runtime.Gosched()
			}
			clk.Step(h.defects.Delay(defects.SVM25ShowsLate))
		}
		<-done
		if got := w.Body.String(); got != "shown" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestPlanted_LeavesObjectsOutOfPages(t *testing.T) {
	for id, left := range map[defects.ID]string{defects.RO01ShortPages: `{"items":[{"a":1}]}`, defects.RO01SkipsBetweenPages: `{"items":[{"b":2}]}`} {
		code := http.StatusOK
		h, _ := planted(id, &code)
		h.next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"items":[{"a":1},{"b":2}]}`)) })
		got := ask(h, http.MethodGet, "/api/v1/configmaps?limit=2&continue=x", genericapirequest.RequestInfo{IsResourceRequest: true, Resource: "configmaps", Verb: "list"})
		if got.Body.String() != left {
			t.Errorf("%s: %s", id, got.Body)
		}
	}
}

func TestPlanted_StreamsLess(t *testing.T) {
	code := http.StatusOK
	h, _ := planted(defects.RO01StreamsLess, &code)
	h.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("it accepts %s", got)
		}
		for _, event := range []string{`{"type":"BOOKMARK"}`, `{"type":"ADDED","object":1}`, `{"type":"ADDED","object":2}`} {
			_, _ = w.Write([]byte(event))
		}
	})
	for query, want := range map[string]string{"&sendInitialEvents=true": `{"type":"BOOKMARK"}{"type":"ADDED","object":2}`, "": `{"type":"BOOKMARK"}{"type":"ADDED","object":1}{"type":"ADDED","object":2}`} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/configmaps?watch=true"+query, nil)
		if query != "" {
			r.Header.Set("Accept-Encoding", "gzip")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(genericapirequest.WithRequestInfo(r.Context(), &genericapirequest.RequestInfo{IsResourceRequest: true, Resource: "configmaps", Verb: "watch"})))
		if got := w.Body.String(); got != want {
			t.Errorf("%q: %s", query, got)
		}
	}
}

// The filters of k8s.io/apiserver hand a Flusher on only of a writer that is a CloseNotifier,
// and a client has its watch when the header comes.
func TestLateWriter_SendsTheHeaderAtOnce(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Now())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		late := newLateWriter(w, clk, defects.Of(defects.RO06LateWatches).Delay(defects.RO06LateWatches), r.Context().Done())
		defer late.close()
		if late.CloseNotify() == nil {
			t.Error("a writer that tells when its client has gone does not tell that any more")
		}
		late.WriteHeader(http.StatusOK)
		late.Flush()
		_, _ = late.Write([]byte("late"))
	}))
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	read := make(chan string)
	go func() {
		body, _ := io.ReadAll(response.Body)
		read <- string(body)
	}()
	for !clk.HasWaiters() {
		runtime.Gosched()
	}
	select {
	case body := <-read:
		t.Fatalf("%q came before it was due", body)
	default:
	}
	clk.Step(defects.Of(defects.RO06LateWatches).Delay(defects.RO06LateWatches))
	if body := <-read; body != "late" {
		t.Errorf("%q came, want what was written", body)
	}
}
