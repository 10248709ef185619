package scenario

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// recordingTransport keeps the body of the last request.
type recordingTransport struct{ body string }

func (r *recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(request.Body)
	r.body = string(raw)
	return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody}, err
}

func TestMarker_LabelsAndNotesWhatIsCreated(t *testing.T) {
	const labels = `"labels":{"evenkeel.dev/run":"evenkeel-run"}`
	for _, tc := range []struct{ name, method, url, body, noted, sent string }{
		{"cluster-scoped", "POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", `{"metadata":{"name":"x"}}`, "storage.k8s.io/v1 volumeattributesclasses x", labels},
		{"another namespace", "POST", "/api/v1/namespaces/kube-system/configmaps", `{"metadata":{"name":"x"}}`, "/v1 configmaps kube-system/x", labels},
		{"the run's namespace", "POST", "/api/v1/namespaces/evenkeel-run/configmaps", `{"metadata":{"name":"x"}}`, "", labels},
		{"a dry run", "POST", "/api/v1/namespaces/a/configmaps?dryRun=All", `{"metadata":{"name":"x"}}`, "", labels},
		{"a label of its own", "POST", "/api/v1/namespaces", `{"metadata":{"name":"x","labels":{"a":"b"}}}`, "/v1 namespaces x", `"a":"b"`},
		{"a review", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"metadata":{"name":"x"}}`, "", `{"metadata":{"name":"x"}}`},
		{"an update", "PUT", "/apis/storage.k8s.io/v1/volumeattributesclasses/evenkeel-run-cp1-t0", `{"metadata":{"name":"evenkeel-run-cp1-t0"}}`, "", labels},
		{"an update in a namespace", "PUT", "/api/v1/namespaces/evenkeel-run/configmaps/evenkeel-run-cp1-t0", `{"metadata":{"name":"evenkeel-run-cp1-t0"}}`, "", labels},
		{"an update of what a coordinator made", "PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/evenkeel-rowers", `{"metadata":{"name":"evenkeel-rowers"}}`, "", labels},
		{"an update of a status", "PUT", "/apis/a.evenkeel.dev/v1/bs/evenkeel-run-cp1-t0/status", `{"metadata":{"name":"evenkeel-run-cp1-t0"}}`, "", `{"metadata":{"name":"evenkeel-run-cp1-t0"}}`},
		{"an update of another's object", "PUT", "/api/v1/namespaces/a/configmaps/x", `{"metadata":{"name":"x"}}`, "", `{"metadata":{"name":"x"}}`},
		{"no object", "POST", "/api/v1/namespaces", `nothing`, "", `nothing`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var noted []string
			next := &recordingTransport{}
			m := &marker{run: "evenkeel-run", owner: new(atomic.Pointer[metav1.OwnerReference]), next: next, note: func(object observe.Call) {
				noted = append(noted, object.Group+"/"+object.Version+" "+describeObject(object))
			}}
			request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://localhost"+tc.url, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			response, err := m.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if got := strings.Join(noted, ", "); strings.TrimPrefix(got, "/") != strings.TrimPrefix(tc.noted, "/") {
				t.Errorf("noted %q, want %q", got, tc.noted)
			}
			if !strings.Contains(next.body, tc.sent) {
				t.Errorf("sent %s, want %s in it", next.body, tc.sent)
			}
		})
	}
}

// What lies outside of the run's namespace goes with that.
func TestMarker_GivesWhatIsCreatedToTheRunsOwner(t *testing.T) {
	const owned = `"ownerReferences":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","name":"evenkeel-run","uid":"u"}]`
	for _, tc := range []struct {
		name, method, url, body string
		owned                   bool
	}{
		{"cluster-scoped", "POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", `{"metadata":{"name":"x"}}`, true},
		{"another namespace", "POST", "/api/v1/namespaces/kube-system/configmaps", `{"metadata":{"name":"x"}}`, true},
		{"the run's namespace itself", "POST", "/api/v1/namespaces", `{"metadata":{"name":"evenkeel-run"}}`, true},
		{"the run's namespace", "POST", "/api/v1/namespaces/evenkeel-run/configmaps", `{"metadata":{"name":"x"}}`, false},
		{"an update", "PUT", "/apis/storage.k8s.io/v1/volumeattributesclasses/evenkeel-run-t0", `{"metadata":{"name":"evenkeel-run-t0"}}`, true},
		{"an update in the run's namespace", "PUT", "/api/v1/namespaces/evenkeel-run/configmaps/evenkeel-run-t0", `{"metadata":{"name":"evenkeel-run-t0"}}`, false},
		{"an update of the owner", "PUT", "/apis/rbac.authorization.k8s.io/v1/clusterroles/evenkeel-run", `{"metadata":{"name":"evenkeel-run"}}`, false},
		{"an update of another's object", "PUT", "/api/v1/namespaces/a/configmaps/x", `{"metadata":{"name":"x"}}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next := &recordingTransport{}
			owner := new(atomic.Pointer[metav1.OwnerReference])
			m := &marker{run: "evenkeel-run", owner: owner, next: next, note: func(observe.Call) {}}
			for _, there := range []bool{false, true} {
				if there {
					owner.Store(&metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "evenkeel-run", UID: "u"})
				}
				request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://localhost"+tc.url, strings.NewReader(tc.body))
				if err != nil {
					t.Fatal(err)
				}
				response, err := m.RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				if got := strings.Contains(next.body, owned); got != (there && tc.owned) {
					t.Errorf("with an owner, %t: sent %s", there, next.body)
				}
			}
		})
	}
}

// Clients of client-go send built-in kinds in protobuf by themselves, which nothing is added to.
func TestMarking_MarksWhatTypedClientsCreate(t *testing.T) {
	next := &recordingTransport{}
	r := &Runner{foreign: lacksNothing{}}
	r.Run = "run"
	config := r.marking(&rest.Config{Host: "https://localhost", Transport: next})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel-x"}}, metav1.CreateOptions{})
	if !strings.Contains(next.body, `"labels":{"evenkeel.dev/run":"evenkeel-run"}`) || len(r.made.objects) != 1 {
		t.Errorf("sent %q, and noted %v", next.body, r.made.objects)
	}
}

type lacksNothing struct{}

func (lacksNothing) Lacks(cluster.Means) string { return "" }

func TestOwnName_FitsALabel(t *testing.T) {
	for run, want := range map[string]string{
		"quick-20260101-000000":                      "evenkeel-quick-20260101-000000",
		strings.Repeat("x", 60) + "-20260101-000000": "evenkeel-" + strings.Repeat("x", 38) + "-20260101-000000",
	} {
		if got := ownName(run); got != want || len(got) > longestName {
			t.Errorf("%s is %s, want %s", run, got, want)
		}
	}
}
