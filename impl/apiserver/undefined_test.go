package apiserver

import (
	"fmt"
	"net/http"
	"testing"
)

// A definition that is being deleted goes once its objects have: a controller can take the finalizer
// of its object away meanwhile, and no client can create another one.
func TestADefinitionGoesWithTheLastFinalizer(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a real server, which takes some seconds")
	}
	const (
		definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		widgets     = "/apis/held.dev/v1/namespaces/default/widgets"
	)
	widget := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"held.dev/v1","kind":"Widget","metadata":{"name":%q,"finalizers":["held.dev/here"]}}`, name)
	}
	server := newLive(t).start("s1", "1.3")
	server.waitReady()
	server.create(definitions, `{
		"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.held.dev"},
		"spec":{"group":"held.dev","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
	server.create(widgets, widget("a"))
	server.remove(definitions + "/widgets.held.dev")
	server.until("no more can be created", func() error {
		if code, body := server.do(http.MethodPost, widgets, "application/json", widget("b")); code != http.StatusForbidden {
			return fmt.Errorf("%d: %s", code, body)
		}
		return nil
	})
	if code, body := server.do(http.MethodPatch, widgets+"/a", "application/merge-patch+json", `{"metadata":{"finalizers":null}}`); code != http.StatusOK {
		t.Fatalf("taking the finalizer away was answered %d: %s", code, body)
	}
	server.until("the definition is gone", func() error {
		if code, body := server.do(http.MethodGet, definitions+"/widgets.held.dev", "application/json", ""); code != http.StatusNotFound {
			return fmt.Errorf("%d: %s", code, body)
		}
		return nil
	})
}
