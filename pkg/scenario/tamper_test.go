package scenario

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

// served is a fake cluster with an API server.
type served struct {
	*fakeCluster
	url string
}

func (s *served) ClientConfig(string, bool) (*rest.Config, error) {
	return &rest.Config{Host: s.url}, nil
}

// What etcd tells of after the step looks as if the control plane had done it.
func TestATamperStepEndsWhenEtcdHasToldOfIt(t *testing.T) {
	const key = "/registry/storageversions/core.configmaps"
	etcd := etcdtest.Start(t)
	client, err := clientv3.New(etcd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if _, err := client.Put(t.Context(), key, "{}"); err != nil {
		t.Fatal(err)
	}
	deleted := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := client.Delete(r.Context(), key); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte("{}"))
		close(deleted)
	}))
	t.Cleanup(server.Close)

	h := newHistory()
	r := newRunner(newFake(), h)
	r.cluster = &served{newFake(), server.URL}
	r.recorders.etcd = observe.NewEtcd([]string{"cp1"}, func(string) (clientv3.Config, error) { return etcd, nil }, h, clock.RealClock{})
	ended := make(chan error, 1)
	go func() {
		ended <- r.tamper(t.Context(), "cp1", &Tamper{DeleteStorageVersions: []string{"core.configmaps"}})
	}()
	<-deleted
	select {
	case err := <-ended:
		t.Fatalf("the step ended with %v while no recorder followed etcd", err)
	case <-time.After(100 * time.Millisecond): // a step that does not wait has ended by then
	}

	ctx, cancel := context.WithCancel(t.Context())
	following := make(chan struct{})
	go func() {
		defer close(following)
		r.recorders.etcd.Run(ctx)
	}()
	defer func() { cancel(); <-following }()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.ContainsFunc(h.events, func(e history.Event) bool {
		return e.Stored != nil && e.Stored.Type == history.StoredDelete && e.Stored.Key == key
	}) {
		t.Errorf("the history has no deletion: %+v", h.events)
	}
}
