package chaosmesh_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/chaosmesh"
	"github.com/evenkeel/evenkeel/pkg/chaosmesh/chaosmeshtest"
)

// short are bounds for tests in which Chaos Mesh does not do what is waited for.
const short = 300 * time.Millisecond

func engine(t *testing.T, m *chaosmeshtest.Mesh, namespace string) *chaosmesh.Engine {
	t.Helper()
	e, err := chaosmesh.New(m.Config(), namespace, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	chaosmesh.Shorten(e, short, short)
	return e
}

func podKill() *chaos.PodChaos {
	return &chaos.PodChaos{
		TypeMeta: metav1.TypeMeta{APIVersion: chaos.SchemeGroupVersion.String(), Kind: "PodChaos"},
		Spec: chaos.PodChaosSpec{Action: chaos.PodKillAction, ContainerSelector: chaos.ContainerSelector{PodSelector: chaos.PodSelector{
			Mode: chaos.OneMode, Selector: chaos.PodSelectorSpec{Nodes: []string{"node-1"}},
		}}},
	}
}

func TestApply_WaitsForTheConditionsAndRemoves(t *testing.T) {
	m := chaosmeshtest.Start(t)
	var order []string
	m.Inject = func(runtime.Object) error { order = append(order, "inject"); return nil }
	m.Recover = func(runtime.Object) { order = append(order, "recover") }
	applied, err := engine(t, m, chaosmeshtest.Namespace).Apply(t.Context(), podKill(), "evenkeel-x-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := applied.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "inject recover" || m.Left() != 0 {
		t.Errorf("it did %q, and %d objects are left", got, m.Left())
	}
	given := m.Given()[0].(*chaos.PodChaos)
	if given.Name != "evenkeel-x-1" || given.Labels[chaosmesh.Managed] != "evenkeel" {
		t.Errorf("the object is %+v", given.ObjectMeta)
	}
	if err := applied.Remove(t.Context()); err != nil {
		t.Errorf("removing it once more: %v", err)
	}
}

// What a killed run has left under the name gives way.
func TestApply_ReplacesWhatAKilledRunHasLeft(t *testing.T) {
	m := chaosmeshtest.Start(t)
	e := engine(t, m, chaosmeshtest.Namespace)
	for range 2 {
		if _, err := e.Apply(t.Context(), podKill(), "evenkeel-x-1"); err != nil {
			t.Fatal(err)
		}
	}
	if m.Left() != 1 || len(m.Given()) != 2 {
		t.Errorf("%d objects are left of %d", m.Left(), len(m.Given()))
	}
}

func TestApply_NotInjectedSaysWhatChaosMeshSays(t *testing.T) {
	for _, tc := range []struct {
		name   string
		inject error
		off    bool
		want   string
	}{
		{"refused", errors.New("dangerous: the Pod is on the host's network"), false, "it says of kube-system/evenkeel-x-1: dangerous: the Pod"},
		{"no controller", nil, true, "its controller has set no condition within 300ms"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := chaosmeshtest.Start(t)
			m.NoController, m.Inject = tc.off, func(runtime.Object) error { return tc.inject }
			applied, err := engine(t, m, chaosmeshtest.Namespace).Apply(t.Context(), podKill(), "evenkeel-x-1")
			var refused *chaosmesh.NotInjectedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), tc.want) || applied == nil {
				t.Fatalf("error %v, want one with %q; there is an object to remove: %v", err, tc.want, applied != nil)
			}
			err = applied.Remove(t.Context())
			if !tc.off && (err != nil || m.Left() != 0) {
				t.Errorf("error %v, and %d objects are left", err, m.Left())
			}
			if tc.off && (err == nil || !strings.Contains(err.Error(), "kubectl describe podchaos evenkeel-x-1 -n chaos-mesh")) {
				t.Errorf("what stays is not named: %v", err)
			}
		})
	}
}

func TestApply_RefusesWhatChaosMeshDoesNotTake(t *testing.T) {
	m := chaosmeshtest.Start(t)
	if applied, err := engine(t, m, "elsewhere").Apply(t.Context(), podKill(), "evenkeel-x-1"); applied != nil || err == nil || !strings.Contains(err.Error(), "install Chaos Mesh there, or name its namespace with spec.external.faults.namespace") {
		t.Errorf("error %v", err)
	}
	// The webhook of Chaos Mesh wants a container's name.
	wrong := podKill()
	wrong.Spec.Action = chaos.ContainerKillAction
	if applied, err := engine(t, m, chaosmeshtest.Namespace).Apply(t.Context(), wrong, "evenkeel-x-1"); applied != nil || err == nil || !strings.Contains(err.Error(), "the name of container is required") {
		t.Errorf("error %v", err)
	}
}
