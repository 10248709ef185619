package apiserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
)

// emptied is an emptier of a namespace "hold" that is being deleted, with one object each of
// "configmaps" and of "widgets.test.dev".
func emptied(t *testing.T) (*emptier, *fake.Clientset, *metadatafake.FakeMetadataClient) {
	t.Helper()
	now := metav1.NewTime(time.Unix(1000, 0))
	client := fake.NewSimpleClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "hold", DeletionTimestamp: &now, Finalizers: []string{registry.ContentsFinalizer}},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}})
	verbs := metav1.Verbs{"list", "deletecollection"}
	client.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Namespaced: true, Kind: "ConfigMap", Verbs: verbs}}},
		{GroupVersion: "test.dev/v1", APIResources: []metav1.APIResource{{Name: "widgets", Namespaced: true, Kind: "Widget", Verbs: verbs}}},
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object := func(version, kind, name string) runtime.Object {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: kind}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "hold"}}
	}
	contents := metadatafake.NewSimpleMetadataClient(scheme, object("v1", "ConfigMap", "c"), object("test.dev/v1", "Widget", "w"))
	// The fake client knows no deletion of collections.
	contents.PrependReactor("delete-collection", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		name := map[string]string{"configmaps": "c", "widgets": "w"}[action.GetResource().Resource]
		return true, nil, contents.Tracker().Delete(action.GetResource(), action.GetNamespace(), name)
	})
	c := clocktesting.NewFakeClock(time.Unix(2000, 0))
	return newEmptier(client, contents, c, newTroubles(c)), client, contents
}

// left are the resources of which an object exists.
func left(t *testing.T, contents *metadatafake.FakeMetadataClient) []string {
	t.Helper()
	var all []string
	for _, resource := range []schema.GroupVersionResource{{Version: "v1", Resource: "configmaps"}, {Group: "test.dev", Version: "v1", Resource: "widgets"}} {
		list, err := contents.Resource(resource).Namespace("hold").List(context.Background(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > 0 {
			all = append(all, resource.Resource)
		}
	}
	return all
}

func conditionOf(t *testing.T, client *fake.Clientset, kind corev1.NamespaceConditionType) corev1.NamespaceCondition {
	t.Helper()
	namespace, err := client.CoreV1().Namespaces().Get(context.Background(), "hold", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(namespace.Status.Conditions, func(c corev1.NamespaceCondition) bool { return c.Type == kind })
	if at < 0 {
		t.Fatalf("the namespace has no condition %s", kind)
	}
	return namespace.Status.Conditions[at]
}

// A resource that cannot be deleted keeps the namespace and says so, and all else is deleted.
func TestEmptier_TellsWhatKeepsANamespace(t *testing.T) {
	e, client, contents := emptied(t)
	contents.PrependReactor("delete-collection", "widgets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("refused for the test")
	})
	if err := e.empty(t.Context(), "hold"); err == nil || !strings.Contains(err.Error(), "refused for the test") {
		t.Fatalf("got %v", err)
	}
	if got := left(t, contents); !slices.Equal(got, []string{"widgets"}) {
		t.Errorf("%q are left", got)
	}
	if got := conditionOf(t, client, corev1.NamespaceDeletionContentFailure); got.Status != corev1.ConditionTrue || !strings.Contains(got.Message, "widgets.test.dev") || strings.Contains(got.Message, "configmaps") {
		t.Errorf("the condition is %+v", got)
	}
	writes := len(client.Actions())
	if err := e.empty(t.Context(), "hold"); err == nil {
		t.Error("the second attempt did not fail")
	}
	for _, action := range client.Actions()[writes:] {
		if action.GetVerb() == "update" {
			t.Error("conditions that have not changed were written again")
		}
	}
}

// A group that cannot be discovered keeps the namespace, and what is known is deleted.
func TestEmptier_AGroupThatIsSilentDelaysNoOther(t *testing.T) {
	e, client, contents := emptied(t)
	soundly, silent := e.discover, schema.GroupVersion{Group: "silent.dev", Version: "v1"}
	e.discover = func() ([]*metav1.APIResourceList, error) {
		lists, err := soundly()
		if err != nil {
			return nil, err
		}
		return lists, &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{silent: errors.New("silent for the test")}}
	}
	if err := e.empty(t.Context(), "hold"); err == nil {
		t.Fatal("the namespace was let go")
	}
	if got := left(t, contents); len(got) > 0 {
		t.Errorf("%q are left", got)
	}
	if got := conditionOf(t, client, corev1.NamespaceDeletionDiscoveryFailure); got.Status != corev1.ConditionTrue || !strings.Contains(got.Message, "silent.dev/v1") {
		t.Errorf("the condition is %+v", got)
	}
}

// Objects that still exist for their finalizers keep the namespace; when they have gone it is let go.
func TestEmptier_LetsANamespaceGoThatIsEmpty(t *testing.T) {
	e, client, contents := emptied(t)
	var kept bool
	contents.PrependReactor("delete-collection", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		kept = !kept
		return kept, nil, nil
	})
	if err := e.empty(t.Context(), "hold"); !errors.Is(err, errNotEmpty) {
		t.Fatalf("got %v", err)
	}
	if got := conditionOf(t, client, corev1.NamespaceContentRemaining); got.Status != corev1.ConditionTrue || !strings.Contains(got.Message, "configmaps") {
		t.Errorf("the condition is %+v", got)
	}
	if err := e.empty(t.Context(), "hold"); err != nil {
		t.Fatal(err)
	}
	namespace, err := client.CoreV1().Namespaces().Get(t.Context(), "hold", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || len(namespace.Finalizers) > 0) {
		t.Errorf("the namespace was not let go: %v", err)
	}
}

// A namespace that cannot be created delays no other; its attempts come in growing pauses.
func TestNamespaceCreator_OneThatFailsDelaysNoOther(t *testing.T) {
	client := fake.NewSimpleClientset()
	attempts := 0
	refuse := make(chan struct{})
	client.PrependReactor("create", "namespaces", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.(clienttesting.CreateAction).GetObject().(*corev1.Namespace).Name != systemNamespaces[0] {
			return false, nil, nil
		}
		attempts++
		select {
		case <-refuse:
			return false, nil, nil
		default:
			return true, nil, errors.New("refused for the test")
		}
	})
	c := clocktesting.NewFakeClock(time.Unix(0, 0))
	troubles := newTroubles(c)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		namespaceCreator{client, c, troubles}.run(t.Context())
	}()
	await := func() {
		for !c.HasWaiters() {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
	await()
	for _, name := range systemNamespaces[1:] {
		if _, err := client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("%s does not exist before a pause: %v", name, err)
		}
	}
	if err := troubles.Longest(); err == nil || !strings.Contains(err.Error(), "creating namespace "+systemNamespaces[0]) {
		t.Errorf("it tells %v", err)
	}
	for range 20 {
		c.Step(namespaceRetryMax / 2)
		await()
	}
	if attempts > 20 || attempts < 10 {
		t.Errorf("%d attempts in ten minutes", attempts)
	}
	close(refuse)
	c.Step(namespaceRetryMax)
	<-ended
	if err := troubles.Longest(); err != nil {
		t.Errorf("it still tells %v", err)
	}
}
