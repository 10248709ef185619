package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// statusServer is an API server that keeps StorageVersions, in which all members have
// entries, and takes out those of a server whose Lease is deleted.
type statusServer struct {
	mu      sync.Mutex
	objects map[string]*apiserverinternalv1alpha1.StorageVersion
	patches int
}

func newStatusServer(names ...string) *statusServer {
	s := &statusServer{objects: map[string]*apiserverinternalv1alpha1.StorageVersion{}}
	for _, name := range names {
		object := new(apiserverinternalv1alpha1.StorageVersion)
		object.Name = name
		for _, id := range []string{"id-cp1", "id-cp2", "id-cp3"} {
			object.Status.StorageVersions = append(object.Status.StorageVersions, apiserverinternalv1alpha1.ServerStorageVersion{APIServerID: id, EncodingVersion: "v1"})
		}
		s.objects[name] = object
	}
	return s
}

func (s *statusServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.URL.Path == history.MetricsPath {
		fmt.Fprintf(w, "apiserver_request_total{code=\"409\",group=\"\",resource=\"storageversions\",verb=\"PUT\"} 3\n")
		return
	}
	if r.Method == http.MethodDelete {
		for _, object := range s.objects {
			object.Status.StorageVersions = slices.DeleteFunc(object.Status.StorageVersions, entryOf(path[len(path)-1]))
		}
		return
	}
	if len(path) == 4 {
		var list apiserverinternalv1alpha1.StorageVersionList
		for _, object := range s.objects {
			list.Items = append(list.Items, *object)
		}
		_ = json.NewEncoder(w).Encode(list)
		return
	}
	object := s.objects[path[4]]
	switch r.Method {
	case http.MethodPut:
		_ = json.NewDecoder(r.Body).Decode(object)
	case http.MethodPatch:
		s.patches++
	}
	_ = json.NewEncoder(w).Encode(object)
}

// keyed is a cluster that can hold requests to etcd by their keys. Its servers try
// to report at once.
type keyed struct {
	*fakeCluster
	address string
	held    chan struct{} // closed when what is held goes on; nil while nothing is
}

func (k *keyed) ClientConfig(string, bool) (*rest.Config, error) {
	return &rest.Config{Host: k.address}, nil
}

func (k *keyed) SetKeyFault(member string, f cluster.KeyFault) error {
	if f.None() {
		close(k.held)
	} else {
		k.held = make(chan struct{})
	}
	return k.did("keys of %s %v", member, f.Prefixes)
}

func (k *keyed) KeyFaultStats(string) (cluster.KeyFaultStats, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return cluster.KeyFaultStats{Met: int64(strings.Count(strings.Join(k.calls, ","), "start cp3"))}, nil
}

func (k *keyed) StartComponent(ctx context.Context, member string, component cluster.Component) error {
	err := k.fakeCluster.StartComponent(ctx, member, component)
	if k.held != nil {
		<-k.held
	}
	return err
}

func registering(t *testing.T, s *statusServer) (*Runner, *keyed, *fakeHistory) {
	t.Helper()
	h := newHistory()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	k := &keyed{fakeCluster: newFake(), address: server.URL}
	r := newRunner(k.fakeCluster, h)
	r.Clock, r.cluster = clock.RealClock{}, k
	r.faults = fault.NewExecutor(k, nil, h, r.Clock)
	return r, k, h
}

// phases are those of the faults that a history tells of.
func (h *fakeHistory) phases() (out []string) {
	for _, ev := range h.events {
		if ev.Fault != nil {
			out = append(out, fmt.Sprintf("%s %s %s %d", ev.Fault.Type, ev.Member, ev.Fault.Phase, ev.Fault.Count))
		}
	}
	return out
}

func TestAStormGoesOnWhileTheServerStarts(t *testing.T) {
	s := newStatusServer("a.io.as", "b.io.bs", "c.io.cs")
	r, k, h := registering(t, s)
	// The server is not back before it was stormed at.
	k.held = make(chan struct{})
	go func() {
		for {
			s.mu.Lock()
			enough := s.patches > 3
			s.mu.Unlock()
			if enough {
				close(k.held)
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	if err := r.play(t.Context(), 1, &Step{Action: &ConflictStorm{Members: []string{"@cp2"}, Objects: 2, Interval: time.Millisecond}}); err != nil {
		t.Fatal(err)
	}
	want := []string{"ConflictStorm cp2 inject 0", "ConflictStorm cp2 witness 3", "ConflictStorm cp2 heal 0"}
	if got := h.phases(); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	for _, ev := range h.events {
		if ev.Request != nil && ev.Member != "cp3" {
			t.Errorf("an edit went through %s", ev.Member)
		}
	}
	for name, entries := range map[string]int{"a.io.as": 2, "b.io.bs": 2, "c.io.cs": 3} {
		if got := len(s.objects[name].Status.StorageVersions); got != entries {
			t.Errorf("%s has %d entries, want %d", name, got, entries)
		}
	}
	if err := r.play(t.Context(), 2, &Step{Action: &ConflictStorm{Members: []string{"@cp2"}, Objects: 2, Interval: time.Millisecond}}); err == nil || !strings.Contains(err.Error(), "only 1 StorageVersions") {
		t.Errorf("too few to edit: %v", err)
	}
}

func TestWhoJoinsSilentlyHasLeftBefore(t *testing.T) {
	s := newStatusServer("a.io.as")
	r, k, h := registering(t, s)
	r.Scenario.Faults = map[string]*fault.Fault{"hold.yaml": {Name: "hold", Type: fault.TypeKeys, Action: history.FaultKeysHold, Member: fault.StepMember,
		Components: []cluster.Component{cluster.APIServer}, Prefixes: []string{"/k"}, Effect: fault.KeyFault{KeyFault: cluster.KeyFault{Requests: []cluster.KeyRequest{cluster.RequestTxn}, Prefixes: []string{"/k"}}}}}
	if err := r.play(t.Context(), 1, &Step{Action: &JoinWithoutReporting{Member: "@cp3", Fault: "hold.yaml", For: time.Millisecond}}); err != nil {
		t.Fatal(err)
	}
	want := []string{"EtcdKeyFault cp3 inject 0", "EtcdKeyFault cp3 witness 1", "EtcdKeyFault cp3 heal 0"}
	if got := h.phases(); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	if got, want := strings.Join(k.calls, ", "), "stop cp3 apiserver, keys of cp3 [/k], start cp3 apiserver, keys of cp3 []"; got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
	if got := len(s.objects["a.io.as"].Status.StorageVersions); got != 2 {
		t.Errorf("%d entries are left", got)
	}
}

func TestAFlipSaysInWhichVersionIsStored(t *testing.T) {
	r, _, h := onShelf(t)
	for i, stored := range []string{"v1beta1", ""} {
		step := Step{Action: &RegisterAPI{Member: "@cp1", CRD: "buoys", Group: "sea.io", Versions: []string{"v1", "v1beta1"}, Storage: stored}}
		if err := r.play(t.Context(), i+1, &step); err != nil {
			t.Fatal(err)
		}
	}
	var stored []string
	for _, ev := range h.events {
		if ev.Request != nil && ev.Request.Defines != nil {
			stored = append(stored, ev.Request.Defines.Stored)
		}
	}
	if want := []string{"v1beta1", "v1"}; !slices.Equal(stored, want) {
		t.Errorf("stored in %v, want %v", stored, want)
	}
	if err := (&RegisterAPI{CRD: "buoys", Group: "sea.io", Versions: []string{"v1"}, Storage: "v2"}).validate(); err == nil {
		t.Error("a version that is not served can be stored")
	}
}
