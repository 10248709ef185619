package apiserver

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/evenkeel/evenkeel/impl/apis/scheme"
	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
	"github.com/evenkeel/evenkeel/impl/release"
)

func TestParseRoot(t *testing.T) {
	tests := []struct {
		path string
		want schema.GroupVersion
		ok   bool
	}{
		{"/api/v1", schema.GroupVersion{Version: "v1"}, true},
		{"/apis/apps/v1", schema.GroupVersion{Group: "apps", Version: "v1"}, true},
		{"/api", schema.GroupVersion{}, false},
		{"/apis/apps", schema.GroupVersion{}, false},
		{"/version", schema.GroupVersion{}, false},
	}
	for _, test := range tests {
		if got, ok := parseRoot(test.path); got != test.want || ok != test.ok {
			t.Errorf("parseRoot(%q) = %v, %v; want %v, %v", test.path, got, ok, test.want, test.ok)
		}
	}
}

func TestResourceOfRoute(t *testing.T) {
	tests := []struct {
		path, want string
		ok         bool
	}{
		{"/namespaces", "namespaces", true},
		{"/namespaces/{name}", "namespaces", true},
		{"/namespaces/{namespace}/configmaps/{name}", "configmaps", true},
		{"/storageversions/{name}/status", "storageversions", true},
		{"/watch/configmaps", "", false},
		{"/", "", false},
	}
	for _, test := range tests {
		if got, ok := resourceOfRoute(test.path); got != test.want || ok != test.ok {
			t.Errorf("resourceOfRoute(%q) = %q, %v; want %q, %v", test.path, got, ok, test.want, test.ok)
		}
	}
}

// The record must agree with the table of releases: it is what a server
// publishes about itself.
func TestPersistedRecordsWhatTheReleaseSays(t *testing.T) {
	for _, r := range release.All() {
		versions := encoding{scheme: scheme.New(r), release: r}
		config := genericapiserver.NewConfig(serializer.NewCodecFactory(versions.scheme))
		etcd := etcdOptions(Options{EtcdServers: []string{"https://127.0.0.1:1"}}, config)
		etcd.SkipHealthEndpoints = true
		if err := useBuiltinStorage(etcd, config, serializer.NewCodecFactory(versions.scheme), versions); err != nil {
			t.Fatal(err)
		}
		persisted := newPersisted()
		getter := persisted.watching(config.RESTOptionsGetter, versions.scheme)
		ballasts := registry.Reference()[0]
		if _, err := getter.GetRESTOptions(ballasts.Resource, nil); err != nil {
			t.Fatal(err)
		}
		if persisted.IsBuiltInPersisted(release.Group, release.Ballasts) {
			t.Errorf("%s: asking for the prefix counts as opening the storage", r.Name)
		}
		if _, err := getter.GetRESTOptions(ballasts.Resource, ballasts.New()); err != nil {
			t.Fatal(err)
		}
		if !persisted.IsBuiltInPersisted(release.Group, release.Ballasts) {
			t.Errorf("%s: an open storage is not persisted", r.Name)
		}
		list := persisted.list()
		if len(list) != 1 {
			t.Fatalf("%s: got %d resources, want 1", r.Name, len(list))
		}
		if want := release.Group + "/" + r.Ballasts().Encoding; list[0].Encoding != want {
			t.Errorf("%s: encoding is %s, want %s", r.Name, list[0].Encoding, want)
		}
		if got, want := len(list[0].Decodable), len(r.Ballasts().Decodable); got != want {
			t.Errorf("%s: %d decodable versions, want %d: %v", r.Name, got, want, list[0].Decodable)
		}
	}
}

func TestUnannounced(t *testing.T) {
	for _, r := range release.All() {
		resource := r.Ballasts()
		if got := unannounced(resource); got == resource.Encoding {
			t.Errorf("%s: the defect would store the announced version %s", r.Name, got)
		}
	}
}
