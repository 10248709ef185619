package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/workload/backend"
)

type memory struct {
	mu     sync.Mutex
	events []history.Event
	full   chan struct{} // closed at the event that want counts to
	want   int
}

func (m *memory) Now() int64 { return 1 }

func (m *memory) Record(e history.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
	if len(m.events) == m.want {
		close(m.full)
	}
}

// store is an API server that keeps objects of one group.
type store struct {
	mu      sync.Mutex
	rv      int64
	objects map[string]int64
	tags    []string
	code    int // if set, every answer has it
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := func(code int, rv int64) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Ballast","metadata":{"resourceVersion":"%d"}}`, rv)
	}
	if r.URL.Path == "/apis/g" {
		fmt.Fprint(w, `{"versions":[{"version":"v2"},{"version":"v9"},{"version":"v1"},{"version":"v3"}]}`)
		return
	}
	if version, ok := strings.CutPrefix(r.URL.Path, "/apis/g/"); ok && !strings.Contains(version, "/") {
		name := "ballasts"
		if version == "v3" {
			name = "others" // the group has the version, but not this resource in it
		}
		fmt.Fprintf(w, `{"resources":[{"name":%q},{"name":"ballasts/status"}]}`, name)
		return
	}
	if s.code != 0 {
		answer(s.code, 0)
		return
	}
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	var object struct {
		APIVersion string `json:"apiVersion"`
		Metadata   struct {
			Name            string            `json:"name"`
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if raw, _ := io.ReadAll(r.Body); len(raw) > 0 {
		_ = json.Unmarshal(raw, &object)
		s.tags = append(s.tags, object.Metadata.Annotations[observe.WriteAnnotation])
	}
	s.rv++
	switch rv, exists := s.objects[name]; r.Method {
	case http.MethodPost:
		if _, exists := s.objects[object.Metadata.Name]; exists {
			answer(409, 0)
			return
		}
		s.objects[object.Metadata.Name] = s.rv
		answer(201, s.rv)
	case http.MethodPut:
		if !exists || object.Metadata.ResourceVersion != fmt.Sprint(rv) {
			answer(409, 0)
			return
		}
		s.objects[name] = s.rv
		answer(200, s.rv)
	case http.MethodPatch:
		if !exists || r.Header.Get("Content-Type") != "application/merge-patch+json" || object.Metadata.Name != "" {
			answer(400, 0)
			return
		}
		s.objects[name] = s.rv
		answer(200, s.rv)
	case http.MethodDelete:
		delete(s.objects, name)
		answer(200, rv)
	default:
		if !exists {
			answer(404, 0)
			return
		}
		answer(200, rv)
	}
}

func begin(t *testing.T, handler http.Handler, m *memory) (func() (*rest.Config, error), *observe.Client) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := func() (*rest.Config, error) { return &rest.Config{Host: server.URL}, nil }
	c, _ := config()
	client, err := observe.NewClient("cp1", c, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return config, client
}

func two() *Workload {
	return &Workload{APIVersion: APIVersion, Kind: Kind, Metadata: Metadata{Name: "w"}, Spec: Spec{
		Group: "g", Resource: "ballasts", Kind: "Ballast", Namespace: "n", Rate: 500, ReadRate: 500, Keep: 2, DeleteEvery: 7,
		Versions: map[string][]map[string]any{"v1": nil, "v2": {{"spec": map[string]any{"a": 1}}}, "v3": nil},
	}}
}

// written is a source that has written thirty times, what was recorded of it, and the store.
func written(t *testing.T) (*Source, *observe.Client, *memory, *store) {
	t.Helper()
	m, s := &memory{}, &store{objects: map[string]int64{}}
	_, client := begin(t, s, m)
	source := NewSource(two(), "run", "cp1", "t", &Tagger{}, clock.RealClock{})
	for range 30 {
		if _, ok := source.Write(t.Context(), client); !ok {
			t.Fatal("the resource was not found")
		}
	}
	return source, client, m, s
}

func TestSource_NumbersItsWrites(t *testing.T) {
	_, _, m, s := written(t)
	versions, verbs := map[string]bool{}, map[string]int{}
	last := int64(0)
	for i, e := range m.events {
		r := e.Request
		if r.Code != 200 && r.Code != 201 || r.Class != history.ClassGuarded {
			t.Errorf("request %d: %+v", i, r)
		}
		versions[r.Version] = true
		verbs[r.Verb]++
		if !strings.HasPrefix(r.Name, "n/run-cp1-t") {
			t.Errorf("name %q", r.Name)
		}
		if (r.Verb == "delete") != (r.Write == 0) || r.Write != 0 && r.Write != last+1 {
			t.Errorf("request %d has the number %d after %d", i, r.Write, last)
		}
		last = max(last, r.Write)
	}
	if !versions["v1"] || !versions["v2"] || versions["v3"] || int(last) != len(s.tags) || s.tags[0] != "cp1/1" {
		t.Errorf("versions %v, %d writes, tags %v", versions, last, s.tags)
	}

	for _, verb := range []string{"create", "update", "patch", "delete"} {
		if verbs[verb] < 2 {
			t.Errorf("%d writes are a %s", verbs[verb], verb)
		}
	}

}

func TestSource_ReadsWhatBecameOfItsObjects(t *testing.T) {
	source, client, m, s := written(t)
	// A refusal changes nothing. After any other unexpected answer the source reads first.
	s.code = 503
	source.Write(t.Context(), client)
	s.code = 500
	for range 2 {
		source.Write(t.Context(), client)
	}
	s.code = 0
	m.events = nil
	for range 4 {
		source.Write(t.Context(), client)
	}
	verbs := map[string]int{}
	for _, e := range m.events {
		verbs[e.Request.Verb]++
		if e.Request.Code >= 400 && e.Request.Code != 404 {
			t.Errorf("after the trouble: %+v", e.Request)
		}
	}
	if verbs["get"] == 0 {
		t.Errorf("verbs %v: the workload has not read which objects exist", verbs)
	}
}

func TestSourceOfAResourceThatIsNotThere(t *testing.T) {
	m := &memory{}
	_, client := begin(t, http.NotFoundHandler(), m)
	source := NewSource(two(), "run", "cp1", "t", &Tagger{}, clock.RealClock{})
	if _, ok := source.Write(t.Context(), client); ok || len(m.events) != 0 {
		t.Errorf("recorded %v", m.events)
	}
	if _, ok := source.Read(t.Context(), client); ok {
		t.Error("was read")
	}
}

// A server that boots and hides what it has is not written to meanwhile, which
// must show: the traffic after that has time.
func TestAHiddenResourceLeavesAGap(t *testing.T) {
	for _, watched := range []bool{false, true} {
		m, s := &memory{}, &store{objects: map[string]int64{}}
		hidden := true
		_, client := begin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hidden {
				http.NotFound(w, r)
				return
			}
			s.ServeHTTP(w, r)
		}), m)
		passes := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
		source := NewSource(two(), "run", "cp1", "h", &Tagger{}, passes)
		source.watched = watched
		source.Write(t.Context(), client)
		hidden = false
		passes.SetTime(passes.Now().Add(2 * lookAgain))
		if _, ok := source.Write(t.Context(), client); !ok {
			t.Fatal("the resource was not found")
		}
		gaps := 0
		for _, e := range m.events {
			if e.RecorderMissed != nil && e.RecorderMissed.Source == "request" && e.Member == "cp1" {
				gaps++
			}
		}
		if want := map[bool]int{true: 1}[watched]; gaps != want {
			t.Errorf("%d gaps, want %d", gaps, want)
		}
	}
}

// What no workload writes is sent all the same, and changes nothing.
func TestOtherWrites(t *testing.T) {
	var sent []string
	m := &memory{}
	_, client := begin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		fmt.Fprint(w, "{}")
	}), m)
	var registered atomic.Bool
	probe := otherWritesProbe("default", &registered)
	probe.Step(t.Context(), client)
	probe.Step(t.Context(), client)
	registered.Store(true)
	probe.Step(t.Context(), client)
	probe.Step(t.Context(), client)
	collection := "DELETE /api/v1/namespaces/default/configmaps?labelSelector=evenkeel.dev%2Fnone%3Dselected "
	want := []string{collection, collection, collection, "PATCH /apis/apiregistration.k8s.io/v1/apiservices/v1.backend.evenkeel.dev/status {}"}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q", sent)
	}
	for _, e := range m.events {
		if e.Request.Class != history.ClassGuarded || e.Request.Write != 0 {
			t.Errorf("recorded %+v", e.Request)
		}
	}
}

func TestTrafficWritesAndReads(t *testing.T) {
	m := &memory{full: make(chan struct{}), want: 40}
	config, _ := begin(t, &store{objects: map[string]int64{}}, m)
	traffic := NewTraffic([]*Workload{two()}, "run", "cp1", config, m, &Tagger{}, clock.RealClock{}, rand.New(rand.NewPCG(1, 2)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		traffic.Run(ctx)
	}()
	<-m.full
	traffic.ProcessChanged(cluster.Change{Member: "cp1", Component: cluster.APIServer, What: history.ProcessStarted})
	cancel()
	<-done
	classes := map[string]int{}
	for _, e := range m.events {
		classes[e.Request.Class]++
		if e.Request.Error != "" {
			t.Errorf("a request was cut off: %+v", e.Request)
		}
	}
	if classes[history.ClassGuarded] == 0 || classes[history.ClassRead] == 0 {
		t.Errorf("classes %v", classes)
	}
}

func TestTaggerNeverRepeats(t *testing.T) {
	var tagger Tagger
	var mu sync.Mutex
	seen := map[int64]bool{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				n := tagger.Next("cp1")
				mu.Lock()
				if seen[n] {
					t.Errorf("%d was given twice", n)
				}
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if tagger.Next("cp2") != 1 || tagger.Next("cp1") != 401 {
		t.Error("members share their numbers")
	}
}

func TestShippedWorkloads(t *testing.T) {
	files, _ := fs.Glob(fixtures.Files, "workloads/*.yaml")
	if len(files) == 0 {
		t.Fatal("there are none")
	}
	for _, file := range files {
		raw, err := fs.ReadFile(fixtures.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		if w, err := Parse(file, raw); err != nil || file != "workloads/"+w.Metadata.Name+".yaml" {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, test := range []struct{ in, want string }{
		{"apiVersion: evenkeel.dev/v1alpha1\nkind: Workload\nspec:\n  rat: 1\n", `w.yaml:4: unknown key "rat"`},
		{"kind: Workload\n", "metadata.name is missing"},
		{"kind: Workload\nspec: {class: odd, rate: -1}\n", `spec.class "odd"`},
	} {
		if _, err := Parse("w.yaml", []byte(test.in)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

// TestBackend speaks to the backend as an API server would that hands on to it.
func TestBackend(t *testing.T) {
	server, err := backend.Start("localhost", BackendGroup, clock.RealClock{}.Now())
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{}
	client, err := observe.NewClient("cp1", &rest.Config{
		Host:            fmt.Sprintf("https://localhost:%d", server.Port()),
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}, m)
	if err != nil {
		t.Fatal(err)
	}
	source := NewSource(aggregatedWorkload(), "run", "cp1", "h", &Tagger{}, clock.RealClock{})
	for range 6 {
		if answer, ok := source.Write(t.Context(), client); !ok || !answer.OK() {
			t.Errorf("answer %+v", answer)
		}
	}
	for _, path := range []string{"/apis", "/apis/" + BackendGroup, "/apis/" + BackendGroup + "/v1", "/apis/" + BackendGroup + "/v1/echoes"} {
		if answer := client.Get(t.Context(), path); answer.Code != http.StatusOK {
			t.Errorf("%s was answered %d", path, answer.Code)
		}
	}
	if answer := client.Get(t.Context(), "/openapi/v2"); answer.Code != http.StatusNotFound {
		t.Errorf("answered %d", answer.Code)
	}
	client.Close()
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

func TestPrerequisitesThatCannotBeHostedAreLeftOut(t *testing.T) {
	m := &memory{}
	_, client := begin(t, http.NotFoundHandler(), m)
	var p Prerequisites
	crd, _ := fs.ReadFile(fixtures.Files, "crds/soundings.yaml")
	if err := p.SetUp(t.Context(), client, crd, "localhost", 1, clock.RealClock{}); err != nil || p.Custom() || p.Aggregated() {
		t.Errorf("%v %v %v", err, p.Custom(), p.Aggregated())
	}
	_, client = begin(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }), m)
	if err := p.SetUp(t.Context(), client, crd, "localhost", 1, clock.RealClock{}); err != nil || !p.Custom() || !p.Aggregated() {
		t.Errorf("%v %v %v", err, p.Custom(), p.Aggregated())
	}
}

func TestPrerequisitesAreAskedForAgain(t *testing.T) {
	m := &memory{}
	var asked atomic.Int64
	_, client := begin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && asked.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, "{}")
	}), m)
	var p Prerequisites
	crd, _ := fs.ReadFile(fixtures.Files, "crds/soundings.yaml")
	if err := p.SetUp(t.Context(), client, crd, "localhost", 1, clock.RealClock{}); err != nil || !p.Custom() || !p.Aggregated() || asked.Load() != 6 {
		t.Errorf("%v %v %v after %d writes", err, p.Custom(), p.Aggregated(), asked.Load())
	}
	_, client = begin(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }), m)
	if err := new(Prerequisites).SetUp(t.Context(), client, crd, "localhost", 1, clock.RealClock{}); err == nil {
		t.Error("what is forbidden was set up")
	}
}
