package chaosmesh

import (
	"context"
	"testing"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

const (
	namespace = "chaos-mesh"
	finalizer = "chaos-mesh/records"
	// controllerPoll is the pause between two looks of the stand-in.
	controllerPoll = 100 * time.Millisecond
)

var podChaos = schema.GroupVersionResource{Group: "chaos-mesh.org", Version: "v1alpha1", Resource: "podchaos"}

// define has the API servers keep objects of Chaos Mesh: of any form, since the module of its types
// has no schemas.
func define(t *testing.T, config *rest.Config) {
	t.Helper()
	client, err := extensions.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	keep := true
	for plural, kind := range map[string]string{"podchaos": "PodChaos", "networkchaos": "NetworkChaos"} {
		_, err := client.CustomResourceDefinitions().Create(t.Context(), &extensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".chaos-mesh.org"},
			Spec: extensionsv1.CustomResourceDefinitionSpec{
				Group: "chaos-mesh.org", Scope: extensionsv1.NamespaceScoped,
				Names: extensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: plural, Kind: kind, ListKind: kind + "List"},
				Versions: []extensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1", Served: true, Storage: true,
					Schema: &extensionsv1.CustomResourceValidation{OpenAPIV3Schema: &extensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}}}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	space := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
	_, err = objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), space, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// controller is the stand-in.
type controller struct {
	t       *testing.T
	cluster cluster.Cluster
	objects dynamic.ResourceInterface
	// killed and deleted count the containers that were ended and the Pods that were deleted.
	killed, deleted int
}

// runController runs a stand-in until the test ends.
func runController(t *testing.T, c cluster.Cluster, config *rest.Config) *controller {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	out := &controller{t: t, cluster: c, objects: client.Resource(podChaos).Namespace(namespace)}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(controllerPoll)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				out.sync(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return out
}

func (c *controller) sync(ctx context.Context) {
	list, err := c.objects.List(ctx, metav1.ListOptions{})
	if err != nil {
		return // it is asked again soon
	}
	for i := range list.Items {
		one := &list.Items[i]
		switch {
		case one.GetDeletionTimestamp() != nil:
			c.release(ctx, one)
		case len(one.GetFinalizers()) == 0:
			one.SetFinalizers([]string{finalizer})
			if _, err := c.objects.Update(ctx, one, metav1.UpdateOptions{}); err == nil {
				c.apply(ctx, one.GetName())
			}
		}
	}
}

// apply does what chaos-daemon and a kubelet would do, and sets the conditions.
func (c *controller) apply(ctx context.Context, name string) {
	one, err := c.objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	nodes, _, _ := unstructured.NestedStringSlice(one.Object, "spec", "selector", "nodes")
	action, _, _ := unstructured.NestedString(one.Object, "spec", "action")
	selected := len(nodes) == 1
	switch {
	case !selected:
	case action == string(chaos.ContainerKillAction):
		c.killed++
		member := memberAt(c.cluster, nodes[0])
		err = c.cluster.Kill(ctx, member, cluster.APIServer)
		if err == nil {
			err = c.cluster.StartComponent(ctx, member, cluster.APIServer)
		}
	case action == string(chaos.PodKillAction):
		c.deleted++ // a mirror Pod, which the kubelet makes again
	}
	if err != nil {
		c.t.Errorf("the stand-in for Chaos Mesh: %v", err)
	}
	c.report(ctx, name, map[string]bool{"Selected": selected, "AllInjected": selected, "AllRecovered": false, "Paused": false})
}

func memberAt(c cluster.Cluster, host string) string {
	for _, m := range c.Members() {
		if m.Host == host {
			return m.Name
		}
	}
	return ""
}

func (c *controller) report(ctx context.Context, name string, conditions map[string]bool) {
	one, err := c.objects.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	var list []any
	for condition, holds := range conditions {
		status := map[bool]string{true: "True", false: "False"}[holds]
		list = append(list, map[string]any{"type": condition, "status": status})
	}
	if err := unstructured.SetNestedField(one.Object, map[string]any{"conditions": list, "experiment": map[string]any{"desiredPhase": "Run"}}, "status"); err != nil {
		c.t.Error(err)
	}
	if _, err := c.objects.Update(ctx, one, metav1.UpdateOptions{}); err != nil {
		c.t.Logf("the stand-in for Chaos Mesh: %v", err)
	}
}

// release recovers a fault, and lets its object go.
func (c *controller) release(ctx context.Context, one *unstructured.Unstructured) {
	one.SetFinalizers(nil)
	if _, err := c.objects.Update(ctx, one, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		c.t.Logf("the stand-in for Chaos Mesh: %v", err)
	}
}
