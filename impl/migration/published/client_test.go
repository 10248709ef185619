package published

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// kubeAPIServers is how kube-apiserver v1.35 answers who asks for a version that it does
// not serve, though it serves others.
const kubeAPIServers = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`

// serving answers as a server does that serves one version, of which it has "there".
func serving(t *testing.T, version *atomic.Value) *Migrations {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix := "/apis/storagemigration.k8s.io/" + version.Load().(string) + "/storageversionmigrations"
		switch {
		case !strings.HasPrefix(r.URL.Path, prefix) && r.Method == http.MethodPost:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(kubeAPIServers))
		case r.Method == http.MethodPost:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"StorageVersionMigration","apiVersion":"storagemigration.k8s.io/` + version.Load().(string) + `","metadata":{"name":"made"}}`))
		case !strings.HasPrefix(r.URL.Path, prefix):
			http.Error(w, "404 page not found", http.StatusNotFound)
		case strings.HasSuffix(r.URL.Path, "/there"):
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"StorageVersionMigration","apiVersion":"storagemigration.k8s.io/` + version.Load().(string) +
				`","metadata":{"name":"there"},"spec":{"resource":{"group":"g","resource":"widgets"}},"status":{"resourceVersion":"7","conditions":[{"type":"Running","status":"True"}]}}`))
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"absent","kind":"storageversionmigrations"}}`))
		}
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return For(client)
}

func TestTheVersionThatIsServed(t *testing.T) {
	var version atomic.Value
	version.Store("v1beta1")
	m := serving(t, &version)
	// The control plane is upgraded and taken back meanwhile.
	for _, now := range []string{"v1beta1", "v1", "v1", "v1beta1"} {
		version.Store(now)
		svm, err := m.Get(context.Background(), "there", metav1.GetOptions{})
		if err != nil {
			t.Fatalf("%s: %v", now, err)
		}
		if svm.Spec.Resource.Resource != "widgets" || svm.Status.ResourceVersion != "7" || !meta.IsStatusConditionTrue(svm.Status.Conditions, string(storagemigrationv1.MigrationRunning)) {
			t.Errorf("%s: got %+v", now, svm)
		}
		if _, err := m.Get(context.Background(), "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: what is absent answers %v", now, err)
		}
	}
}

func TestWhoServesAnotherVersionMaySaySoInAStatus(t *testing.T) {
	var version atomic.Value
	version.Store("v1beta1")
	made, err := serving(t, &version).Create(context.Background(), &storagemigrationv1.StorageVersionMigration{}, metav1.CreateOptions{})
	if err != nil || made.Name != "made" {
		t.Errorf("got %+v, %v", made, err)
	}
}

// If the API is not served, the client returns an error instead of an empty list.
func TestGet_UnservedAPIIsNotNotFound(t *testing.T) {
	var version atomic.Value
	version.Store("v1alpha1")
	if _, err := serving(t, &version).Get(context.Background(), "there", metav1.GetOptions{}); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}
