package scenario

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// shelf is an API server that stores what it is given, by path.
type shelf struct {
	mu      sync.Mutex
	objects map[string]map[string]any
	calls   []string
	// lag is how many reads a deleted object stays visible for.
	lag int
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := r.URL.Path
	answer := func(code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	var object map[string]any
	if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
			answer(400, nil)
			return
		}
	}
	switch r.Method {
	case http.MethodPost:
		path += "/" + object["metadata"].(map[string]any)["name"].(string)
		s.objects[path] = object
		answer(201, object)
	case http.MethodPut:
		s.objects[path] = object
		answer(200, object)
	case http.MethodDelete:
		if s.objects[path] == nil {
			answer(404, nil)
			return
		}
		if metadata, ok := s.objects[path]["metadata"].(map[string]any); ok && metadata["finalizers"] != nil {
			metadata["deletionTimestamp"] = "2026-01-02T03:04:05Z" // and it stays
		} else {
			s.objects[path]["deleted"] = true
		}
		answer(200, nil)
	case http.MethodPatch: // only to take finalizers away
		delete(s.objects, path)
		answer(200, nil)
	default:
		found := s.objects[path]
		if found != nil && found["deleted"] == true {
			if s.lag--; s.lag < 0 {
				delete(s.objects, path)
				found = nil
			}
		}
		if found == nil {
			answer(404, nil)
			return
		}
		answer(200, found)
		return // reads are not worth telling
	}
	s.calls = append(s.calls, r.Method+" "+path[strings.LastIndex(path, "/")+1:])
}

// shelved is a cluster whose members all have the shelf for an API server.
type shelved struct {
	*fakeCluster
	address string
}

func (s shelved) ClientConfig(string, bool) (*rest.Config, error) {
	return &rest.Config{Host: s.address}, nil
}

func onShelf(t *testing.T, backends ...string) (*Runner, *shelf, *fakeHistory) {
	t.Helper()
	s, h := &shelf{objects: map[string]map[string]any{}, lag: 1}, newHistory()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	r := newRunner(newFake(), h)
	r.Clock = clock.RealClock{}
	r.cluster = shelved{newFake(), server.URL}
	r.Scenario.Discovery.Backends = backends
	if err := r.startBackends("localhost"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stopBackends)
	return r, s, h
}

// defined are what the accepted requests define, in their order.
func (h *fakeHistory) defined() (out []string) {
	for _, e := range h.events {
		if e.Request != nil && e.Request.Defines != nil && e.Request.Code < 300 {
			d := e.Request.Defines
			out = append(out, fmt.Sprintf("%s %s %v %v", e.Request.Verb, d.Group, d.Remote, d.Versions))
		}
	}
	return out
}

func TestDefinitionsAreMadeChangedAndTakenBack(t *testing.T) {
	r, s, h := onShelf(t, "tides")
	for i, step := range []Step{
		{Action: &RegisterAPI{Member: "@cp1", CRD: "buoys", Group: "sea.io", Versions: []string{"v1"}}},
		{Action: &RegisterAPI{Member: "@cp2", CRD: "buoys", Group: "sea.io", Versions: []string{"v1beta1"}}},
		{Action: &RegisterAPI{Member: "@cp3", Backend: "tides"}},
		{Action: &UnregisterAPI{Member: "@cp1", CRD: "buoys", Group: "sea.io"}},
		{Action: &UnregisterAPI{Member: "@cp1", Backend: "tides"}},
	} {
		if err := r.play(t.Context(), i+1, &step); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"create sea.io false [v1]", "update sea.io false [v1beta1]", "create tides.aggregated.evenkeel.dev true [v1]",
		"delete sea.io false []", "delete tides.aggregated.evenkeel.dev true []",
	}
	if got := h.defined(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(s.objects) != 1 {
		t.Errorf("all but the Service was to go: %v", s.objects)
	}
}

// What a definition calls its resource is recorded as it is sent.
func TestShortNamesAreSentAndTold(t *testing.T) {
	r, s, h := onShelf(t)
	for i, names := range [][]string{{"by", "bo"}, nil} {
		step := Step{Action: &RegisterAPI{Member: "@cp1", CRD: "buoys", Group: "sea.io", Versions: []string{"v1"}, ShortNames: names}}
		if err := r.play(t.Context(), i+1, &step); err != nil {
			t.Fatal(err)
		}
		var sent []string
		for _, object := range s.objects {
			sent, _, _ = unstructured.NestedStringSlice(object, "spec", "names", "shortNames")
		}
		told := h.events[slices.IndexFunc(h.events, func(ev history.Event) bool { return ev.Request != nil && ev.Request.Defines != nil })].Request.Defines.ShortNames
		if !slices.Equal(sent, names) || i == 0 && !slices.Equal(told, []string{"bo", "by"}) {
			t.Errorf("sent %v and told %v of %v", sent, told, names)
		}
	}
}

// Each version has an APIService, and all of them one Service; their order stays while priorities change.
func TestVersionsOfABackendAreRegisteredOneByOne(t *testing.T) {
	r, s, h := onShelf(t, "tides")
	play := func(step Action) {
		t.Helper()
		if err := r.play(t.Context(), 1, &Step{Action: step}); err != nil {
			t.Fatal(err)
		}
	}
	play(&RegisterAPI{Member: "@cp1", Backend: "tides", BackendVersions: []string{"v1", "v1alpha1"}})
	play(&SetBackendBehavior{Name: "tides", Behavior: history.BackendRefuse})
	priorities := map[string]any{}
	for path, object := range s.objects {
		if spec, ok := object["spec"].(map[string]any); ok && strings.Contains(path, "/apiservices/") {
			priorities[spec["version"].(string)] = spec["versionPriority"]
		}
	}
	if want := map[string]any{"v1": 16.0, "v1alpha1": 6.0}; !reflect.DeepEqual(priorities, want) {
		t.Errorf("the priorities are %v, want %v", priorities, want)
	}
	play(&UnregisterAPI{Member: "@cp1", Backend: "tides"})
	of := " tides.aggregated.evenkeel.dev true "
	want := []string{
		"create" + of + "[v1]", "create" + of + "[v1 v1alpha1]", "update" + of + "[v1 v1alpha1]", "update" + of + "[v1 v1alpha1]",
		"delete" + of + "[v1alpha1]", "delete" + of + "[]",
	}
	if got := h.defined(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(s.objects) != 1 {
		t.Errorf("all but the Service was to go: %v", s.objects)
	}
	for _, bad := range []*RegisterAPI{
		{Member: "@cp1", Backend: "tides", BackendVersions: []string{"v3"}},
		{Member: "@cp1", CRD: "buoys", Group: "sea.io", Versions: []string{"v1"}, BackendVersions: []string{"v1"}},
	} {
		if err := bad.validate(); err == nil || !strings.Contains(err.Error(), "backend") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// A member asks for the aggregated document alone, as published aggregators do.
func TestABackendHasUnaggregatedDiscoveryAloneUntilItIsTold(t *testing.T) {
	r, _, _ := onShelf(t, "tides")
	for _, unaggregated := range []bool{true, false} {
		if err := r.play(t.Context(), 1, &Step{Action: &SetBackendBehavior{Name: "tides", Behavior: doesAnswer, Unaggregated: unaggregated}}); err != nil {
			t.Fatal(err)
		}
		if code := askAggregated(t, r.backends["tides"]); (code == http.StatusNotAcceptable) != unaggregated {
			t.Errorf("unaggregated %v: it answers %d", unaggregated, code)
		}
	}
}

func askAggregated(t *testing.T, backend *aggregated) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://%s:%d/apis", backend.Host(), backend.Port()), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // G402: the server makes its own certificate.
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestAChurnLeavesNothingBehind(t *testing.T) {
	r, s, h := onShelf(t, "tides")
	if err := r.play(t.Context(), 1, &Step{Action: &Churn{Members: []string{"@all"}, Rounds: 4, Backend: "tides"}}); err != nil {
		t.Fatal(err)
	}
	if n := len(h.defined()); n < 4 {
		t.Errorf("only %d changes were made", n)
	}
	for path := range s.objects {
		if !strings.Contains(path, "/services/") {
			t.Errorf("%s was left", path)
		}
	}
}

func TestAChurnThatKeepsIsTakenBackByTheNext(t *testing.T) {
	r, s, _ := onShelf(t, "tides")
	custom := func() (n int) {
		for path := range s.objects {
			if strings.Contains(path, "/"+crdResource+"/") {
				n++
			}
		}
		return n
	}
	if err := r.play(t.Context(), 1, &Step{Action: &Churn{Members: []string{"@all"}, Rounds: 12, Resources: 40, Keep: true}}); err != nil {
		t.Fatal(err)
	}
	if custom() <= len(churnNames) {
		t.Errorf("of 40 resources only %d are there", custom())
	}
	if err := r.play(t.Context(), 2, &Step{Action: &Churn{Members: []string{"@all"}, Rounds: 1}}); err != nil {
		t.Fatal(err)
	}
	if custom() != 0 {
		t.Errorf("%d were left", custom())
	}
}

func TestAChurnGoesOnForAsLongAsItIsTold(t *testing.T) {
	r, _, h := onShelf(t, "tides")
	const lasts = ChurnPauseMost
	began := time.Now()
	if err := r.play(t.Context(), 1, &Step{Action: &Churn{Members: []string{"@all"}, For: lasts}}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < lasts || len(h.defined()) < 2 {
		t.Errorf("%d changes in %s, want some for %s", len(h.defined()), took, lasts)
	}
	if got := (&Churn{For: time.Hour}).within(nil, 1); got <= time.Hour {
		t.Errorf("it may take %s in all", got)
	}
}

func TestAMisbehavingBackendHasAWitness(t *testing.T) {
	r, _, h := onShelf(t, "tides")
	refuse := &Step{Action: &SetBackendBehavior{Name: "tides", Behavior: history.BackendRefuse}}
	for i, step := range []*Step{refuse, {Action: &RegisterAPI{Member: "@cp1", Backend: "tides"}}, {Action: &SetBackendBehavior{Name: "tides", Behavior: doesAnswer, For: time.Millisecond}}} {
		if err := r.play(t.Context(), i+1, step); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for _, e := range h.events {
		if e.Fault != nil {
			told = append(told, fmt.Sprintf("%s %s %s %s %v", e.Fault.ID, e.Fault.Action, e.Fault.Group, e.Fault.Phase, e.Fault.Proof != ""))
		}
	}
	want := []string{
		"backend-tides-1 refuse tides.aggregated.evenkeel.dev inject false",
		"backend-tides-1 refuse tides.aggregated.evenkeel.dev witness true",
		"backend-tides-1 refuse tides.aggregated.evenkeel.dev heal false",
	}
	if !slices.Equal(told, want) {
		t.Errorf("got %q, want %q", told, want)
	}
	if err := r.play(t.Context(), 4, &Step{Action: &SetBackendBehavior{Name: "wrecks", Behavior: doesAnswer}}); err == nil {
		t.Error("a backend that was not started behaves")
	}
}

func TestEveryDefinitionOfABackendIsNews(t *testing.T) {
	r, s, _ := onShelf(t, "tides")
	const path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.tides.aggregated.evenkeel.dev"
	var before any
	for range 3 {
		if err := r.play(t.Context(), 1, &Step{Action: &RegisterAPI{Member: "@cp1", Backend: "tides"}}); err != nil {
			t.Fatal(err)
		}
		now := s.objects[path]["spec"].(map[string]any)["versionPriority"]
		if now == before {
			t.Errorf("the priority stays %v, so API servers do not ask the backend again", now)
		}
		before = now
	}
}

func TestMistakesInStepsOfDiscovery(t *testing.T) {
	for _, test := range []struct{ step, want string }{
		{"registerAPI: {member: cp1}", "needs either crd and group, or backend"},
		{"registerAPI: {member: cp1, crd: a, versions: [v1]}", "needs either crd and group, or backend"},
		{"registerAPI: {member: cp1, crd: a, group: g.io}", "versions belongs to a crd"},
		{"registerAPI: {member: cp1, crd: a, group: g.io, versions: [v9]}", `"v9" is none of the versions`},
		{"registerAPI: {crd: a, group: g.io, versions: [v1]}", "member is missing"},
		{"registerAPI: {member: cp1, backend: tides, shortNames: [t]}", "shortNames belongs to a crd"},
		{"registerAPI: {member: cp1, backend: tides}", `there is no backend "tides"`},
		{"unregisterAPI: {member: cp1, crd: a, backend: b}", "needs either"},
		{"churn: {rounds: 3}", "members must be there"},
		{"churn: {members: [cp1]}", "either rounds or for"},
		{"churn: {members: [cp1], rounds: 1, for: 1s}", "either rounds or for"},
		{"churn: {members: [cp1], for: -1s}", "must be positive"},
		{"churn: {members: [cp1], rounds: 1, resources: -1}", "resources not negative"},
		{"setBackendBehavior: {name: b, behavior: sulk}", "behavior must be answer or one of"},
		{"setBackendBehavior: {name: b, behavior: hang, for: -1s}", "for must not be negative"},
	} {
		_, err := LoadFS(fstest.MapFS{"s/x.yaml": {Data: []byte(head + "steps:\n- " + test.step + "\n")}}, "s/x.yaml")
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "s/x.yaml:5") {
			t.Errorf("%s: error %v\nwant one with %s", test.step, err, test.want)
		}
	}
}
