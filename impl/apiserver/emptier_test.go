package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
)

// TestNamespacesLive deletes a namespace with things of built-in and custom resources in
// it, of two servers: it goes when they have, and what is elsewhere stays.
func TestNamespacesLive(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts real servers, which takes some seconds")
	}
	live := newLive(t)
	one, other := live.start("s1", "1.2"), live.start("s2", "1.2")
	one.waitReady()
	other.waitReady()
	one.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{
		"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.group.dev"},
		"spec":{"group":"group.dev","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
	one.create("/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"hold"}}`)
	inside := []string{"/api/v1/namespaces/hold/configmaps/c", "/apis/reference.evenkeel.dev/v1/namespaces/hold/ballasts/b", "/apis/group.dev/v1/namespaces/hold/widgets/w"}
	create := func(namespace string) {
		one.create("/api/v1/namespaces/"+namespace+"/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`)
		one.create("/apis/reference.evenkeel.dev/v1/namespaces/"+namespace+"/ballasts",
			`{"apiVersion":"reference.evenkeel.dev/v1","kind":"Ballast","metadata":{"name":"b"},"spec":{"load":{"kilograms":1,"position":"aft"}}}`)
		one.create("/apis/group.dev/v1/namespaces/"+namespace+"/widgets", `{"apiVersion":"group.dev/v1","kind":"Widget","metadata":{"name":"w"}}`)
	}
	create("hold")
	create("default")

	gone := func(path string) error {
		switch response, _ := other.ask(path, "application/json"); response.StatusCode {
		case http.StatusNotFound:
			return nil
		case http.StatusOK:
			return fmt.Errorf("%s is still there", path)
		default:
			return errors.New(response.Status)
		}
	}
	for _, path := range inside {
		if gone(path) == nil {
			t.Fatalf("%s is not there to begin with", path)
		}
	}
	other.remove("/api/v1/namespaces/hold")
	live.until("the namespace has gone", func() error { return gone("/api/v1/namespaces/hold") })
	// It went last.
	for _, path := range inside {
		if err := gone(path); err != nil {
			t.Error(err)
		}
	}
	if gone("/api/v1/namespaces/default/configmaps/c") == nil || gone("/apis/group.dev/v1/namespaces/default/widgets/w") == nil {
		t.Error("what was in another namespace has gone too")
	}
}
