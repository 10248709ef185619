// Package chaosmeshtest has a stand-in for the API and the controller of Chaos Mesh, for tests. It
// defaults and validates objects by the code of Chaos Mesh itself, sets the conditions that its
// controller sets, and holds an object by a finalizer until its fault is recovered. What a fault
// does is for the test to say.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package chaosmeshtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// Namespace is the only one in which the stand-in takes objects.
const Namespace = "chaos-mesh"

// finalizer is that of Chaos Mesh.
const finalizer = "chaos-mesh/records"

// Mesh is a stand-in. Its fields are set before it is asked.
type Mesh struct {
	// Inject injects a fault; its error is why Chaos Mesh does not. Nil does nothing.
	Inject func(object runtime.Object) error
	// Recover takes a fault away. Nil does nothing.
	Recover func(object runtime.Object)
	// NoController sets no condition, and lets no object go that is deleted.
	NoController bool

	server *httptest.Server
	mu     sync.Mutex
	kept   map[string]chaos.InnerObject
	// Given are the objects that were taken, in their order.
	given []runtime.Object
}

// Start starts a stand-in, which ends with the test.
func Start(t *testing.T) *Mesh {
	t.Helper()
	m := &Mesh{kept: map[string]chaos.InnerObject{}}
	m.server = httptest.NewServer(m)
	t.Cleanup(m.server.Close)
	return m
}

// Config reaches the stand-in.
func (m *Mesh) Config() *rest.Config { return &rest.Config{Host: m.server.URL, QPS: -1} }

// Given are the objects that were given to it.
func (m *Mesh) Given() []runtime.Object {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]runtime.Object{}, m.given...)
}

// Left is how many objects are still there.
func (m *Mesh) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kept)
}

// ServeHTTP implements http.Handler.
func (m *Mesh) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path, ok := strings.CutPrefix(r.URL.Path, "/apis/chaos-mesh.org/v1alpha1/namespaces/"+Namespace+"/")
	resource, name, _ := strings.Cut(path, "/")
	object := kind(resource)
	if !ok || object == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		return
	}
	switch key := resource + "/" + name; r.Method {
	case http.MethodPost:
		m.create(w, r, resource, object)
	case http.MethodGet:
		if m.kept[key] == nil {
			refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "not found")
			return
		}
		answer(w, m.kept[key])
	case http.MethodDelete:
		m.remove(w, key)
	}
}

func kind(resource string) chaos.InnerObject {
	switch resource {
	case "podchaos":
		return &chaos.PodChaos{}
	case "networkchaos":
		return &chaos.NetworkChaos{}
	}
	return nil
}

func (m *Mesh) create(w http.ResponseWriter, r *http.Request, resource string, object chaos.InnerObject) {
	if err := json.NewDecoder(r.Body).Decode(object); err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	key := resource + "/" + object.GetName()
	if m.kept[key] != nil {
		refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, "already exists")
		return
	}
	// As the webhooks of Chaos Mesh.
	err := object.Default(r.Context(), object)
	if err == nil {
		_, err = object.ValidateCreate(r.Context(), object)
	}
	if err != nil {
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "admission webhook denied the request: "+err.Error())
		return
	}
	m.kept[key], m.given = object, append(m.given, object.DeepCopyObject())
	answer(w, object)
	object.SetFinalizers([]string{finalizer})
	if !m.NoController {
		m.run(object)
	}
}

// run is what the controller does with a new object.
func (m *Mesh) run(object chaos.InnerObject) {
	status := object.GetStatus()
	record := &chaos.Record{Id: "kube-system/" + object.GetName(), SelectorKey: ".", Phase: chaos.Injected, InjectedCount: 1}
	injected := corev1.ConditionTrue
	if m.Inject != nil {
		if err := m.Inject(object); err != nil {
			injected, record.Phase, record.InjectedCount = corev1.ConditionFalse, chaos.NotInjected, 0
			record.Events = []chaos.RecordEvent{{Type: chaos.TypeFailed, Operation: chaos.Apply, Message: err.Error(), Timestamp: &metav1.Time{Time: time.Now()}}}
		}
	}
	status.Experiment = chaos.ExperimentStatus{DesiredPhase: chaos.RunningPhase, Records: []*chaos.Record{record}}
	status.Conditions = []chaos.ChaosCondition{
		{Type: chaos.ConditionSelected, Status: corev1.ConditionTrue}, {Type: chaos.ConditionAllInjected, Status: injected},
		{Type: chaos.ConditionAllRecovered, Status: corev1.ConditionFalse}, {Type: chaos.ConditionPaused, Status: corev1.ConditionFalse},
	}
}

// remove marks an object as deleted; it goes when it is asked about next, as the controller takes
// a moment to recover it.
func (m *Mesh) remove(w http.ResponseWriter, key string) {
	object := m.kept[key]
	if object == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "not found")
		return
	}
	answer(w, object)
	now := metav1.Now()
	first := object.GetDeletionTimestamp() == nil
	object.SetDeletionTimestamp(&now)
	if first || m.NoController {
		return
	}
	if m.Recover != nil {
		m.Recover(object)
	}
	delete(m.kept, key)
}

func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(object); err != nil {
		panic(fmt.Sprint("write the answer: ", err))
	}
}

func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message})
}
