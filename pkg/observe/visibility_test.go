package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// visiblePath is where the ConfigMaps are.
const visiblePath = "/api/v1/namespaces/default/configmaps"

// shared keeps ConfigMaps for several API servers, by name.
type shared struct {
	mu       sync.Mutex
	revision int64
	objects  map[string]int64
	moved    chan struct{}
}

// served is an API server of the shared ConfigMaps; one with lag shows the state that many
// revisions before, and one that is mute has no watch.
func (s *shared) served(lag int64, mute bool) http.Handler {
	mux := http.NewServeMux()
	object := func(name string) string {
		return fmt.Sprintf(`{"kind":"ConfigMap","metadata":{"namespace":"default","name":%q,"resourceVersion":"%d"}}`, name, s.objects[name]-lag)
	}
	write := func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Metadata struct {
				Name        string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if body.Metadata.Labels[visibleLabel] != "run" || body.Metadata.Annotations[WriteAnnotation] == "" {
			reply(422, `{}`)(w, r)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		_, exists := s.objects[body.Metadata.Name]
		if exists != (r.Method == http.MethodPut) {
			reply(404, `{"kind":"Status"}`)(w, r)
			return
		}
		s.revision++
		s.objects[body.Metadata.Name] = s.revision
		close(s.moved)
		s.moved = make(chan struct{})
		reply(200, fmt.Sprintf(`{"kind":"ConfigMap","metadata":{"resourceVersion":"%d"}}`, s.revision))(w, r)
	}
	mux.HandleFunc("POST "+visiblePath, write)
	mux.HandleFunc("PUT "+visiblePath+"/{name}", write)
	mux.HandleFunc("GET "+visiblePath+"/{name}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(200, object(r.PathValue("name")))(w, r)
	})
	mux.HandleFunc("GET "+visiblePath, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Get("watch") == "" {
			s.mu.Lock()
			defer s.mu.Unlock()
			name := strings.TrimPrefix(query.Get("fieldSelector"), "metadata.name=")
			if name == "" {
				reply(200, fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"},"items":[]}`, s.revision))(w, r)
				return
			}
			reply(200, `{"items":[`+object(name)+`]}`)(w, r)
			return
		}
		if mute {
			reply(403, `{"kind":"Status"}`)(w, r)
			return
		}
		told, _ := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for {
			s.mu.Lock()
			moved := s.moved
			for name, revision := range s.objects {
				if revision > told {
					_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`+"\n", object(name))
				}
			}
			told = s.revision
			s.mu.Unlock()
			w.(http.Flusher).Flush()
			select {
			case <-moved:
			case <-r.Context().Done():
				return
			}
		}
	})
	return mux
}

// visible runs the recorder for cp1, which is written to, and cp2.
func visible(t *testing.T, clk clock.WithTicker, one, two http.Handler) *memory {
	t.Helper()
	m := newMemory()
	configs := map[string]func() (*rest.Config, error){"cp1": serve(t, one), "cp2": serve(t, two)}
	numbers := map[string]int64{}
	var mu sync.Mutex
	v := NewVisibility(VisibilityOptions{
		Members: []string{"cp1", "cp2"}, RunID: "run", Recorder: m, Clock: clk,
		Config: func(member string) (*rest.Config, error) { return configs[member]() },
		Ready:  func(string) bool { return true },
		Next: func(member string) int64 {
			mu.Lock()
			defer mu.Unlock()
			numbers[member]++
			return numbers[member]
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() {
		defer close(running)
		v.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-running
	})
	return m
}

func newShared() *shared {
	return &shared{revision: 10, objects: map[string]int64{}, moved: make(chan struct{})}
}

func TestVisibilityOfAMemberThatShowsEachWrite(t *testing.T) {
	s := newShared()
	m := visible(t, clock.RealClock{}, s.served(0, false), s.served(0, false))
	// The watch may not have been open yet for the first ones.
	seen := m.until(t, func(e history.Event) bool { return e.Visibility != nil && e.Visibility.Watch.Sent > 0 })
	v := seen.Visibility
	if v.Writer == seen.Member || v.Name != "default/run-"+v.Writer+"-visible" || v.Write == 0 || v.ResourceVersion <= 10 || seen.From == 0 {
		t.Errorf("%s: %+v", seen.Member, v)
	}
	for what, shown := range map[string]history.Shown{"get": v.Get, "list": v.List, "watch": v.Watch} {
		if !shown.Shows(v.ResourceVersion) || shown.Stale || shown.Error != "" || what != "watch" && (shown.Code != 200 || shown.Asked != 1) {
			t.Errorf("%s: %+v", what, shown)
		}
	}
	for _, e := range m.of(history.KindRequest) {
		if e.Request.Class != history.ClassGuarded || e.Request.Write == 0 || e.Request.Resource != "configmaps" {
			t.Errorf("request %+v", e.Request)
		}
	}
}

// An answer that is older than what another member has acknowledged is told as such, and the
// member is asked until the time is over.
func TestVisibilityOfAMemberThatIsBehind(t *testing.T) {
	s := newShared()
	m := visible(t, clock.RealClock{}, s.served(0, false), s.served(20, true))
	seen := m.until(t, func(e history.Event) bool { return e.Visibility != nil && e.Member == "cp2" })
	v := seen.Visibility
	if v.Writer != "cp1" || !v.Get.Stale || !v.List.Stale || v.Get.Shows(v.ResourceVersion) || v.List.Shows(v.ResourceVersion) || v.Get.Asked < 2 {
		t.Errorf("%+v", v)
	}
	if v.Watch != (history.Shown{}) {
		t.Errorf("a watch that was never open: %+v", v.Watch)
	}
}

func newVisibleWatch() *visibleWatch {
	return &visibleWatch{changes: map[string][]visibleChange{}, moved: make(chan struct{})}
}

func TestAwait(t *testing.T) {
	lost := errors.New("the stream ended")
	for name, c := range map[string]struct {
		after func(w *visibleWatch) // what the watch does while it is waited for revision 12
		want  history.Shown
	}{
		"it tells of the write":              {func(w *visibleWatch) { w.changed("a", 12, 7) }, history.Shown{Sent: 5, At: 7, ResourceVersion: 12}},
		"of a later one":                     {func(w *visibleWatch) { w.changed("a", 13, 7) }, history.Shown{Sent: 5, At: 7, ResourceVersion: 13}},
		"of an older one":                    {func(w *visibleWatch) { w.changed("a", 11, 7) }, history.Shown{Sent: 5}},
		"of another object":                  {func(w *visibleWatch) { w.changed("b", 12, 7) }, history.Shown{Sent: 5}},
		"it is lost":                         {func(w *visibleWatch) { w.lose(lost) }, history.Shown{Sent: 5, Error: "the stream ended"}},
		"it tells of the write, and is lost": {func(w *visibleWatch) { w.changed("a", 12, 7); w.lose(lost) }, history.Shown{Sent: 5, At: 7, ResourceVersion: 12, Error: "the stream ended"}},
		"another one lists the write": {func(w *visibleWatch) {
			w.lose(lost)
			synctest.Wait()
			w.open(8)
			w.changed("a", 12, 9)
		}, history.Shown{Sent: 8, At: 9, ResourceVersion: 12, Error: "the stream ended"}},
		"another one does not list it": {func(w *visibleWatch) {
			w.lose(lost)
			synctest.Wait()
			w.open(8)
			w.changed("a", 11, 9)
		}, history.Shown{Sent: 8, Error: "the stream ended"}},
		"another one is opened at once": {func(w *visibleWatch) { w.open(8) }, history.Shown{Sent: 8, Error: "the watch was lost, and opened again"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newVisibleWatch()
				w.open(5)
				w.changed("a", 11, 6)
				ctx, cancel := context.WithTimeout(t.Context(), VisibilityWait)
				defer cancel()
				waited := make(chan history.Shown, 1)
				go func() { waited <- w.await(ctx, "a", 12) }()
				synctest.Wait()
				c.after(w)
				if seen := <-waited; seen != c.want {
					t.Errorf("seen %+v, want %+v", seen, c.want)
				}
			})
		})
	}
	t.Run("none is open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), VisibilityWait)
			defer cancel()
			if seen := newVisibleWatch().await(ctx, "a", 12); seen != (history.Shown{}) || ctx.Err() != nil {
				t.Errorf("seen %+v, %v", seen, ctx.Err())
			}
		})
	})
}

func TestVisibilityNeedsTwoMembers(t *testing.T) {
	m := newMemory()
	NewVisibility(VisibilityOptions{Members: []string{"cp1"}, Recorder: m, Clock: clocktesting.NewFakeClock(time.Now())}).Run(t.Context())
	if len(m.events) != 0 {
		t.Errorf("recorded %+v", m.events)
	}
}
