package apiserver

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdlisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// registered are the APIServices that a registrar wants.
type registered map[string]bool

func (r registered) AddAPIServiceToSyncOnStart(service *apiregistrationv1.APIService) {
	r[service.Name] = true
}
func (r registered) AddAPIServiceToSync(service *apiregistrationv1.APIService) {
	r[service.Name] = true
}
func (r registered) RemoveAPIServiceToSync(name string) { delete(r, name) }

func definition(plural string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.org"},
		Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.org"},
	}
	for _, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: version, Served: true})
	}
	return crd
}

// A group-version is registered as long as any definition serves it, whatever came
// between two looks.
func TestRegistrarFollowsDefinitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store, services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), registered{}
		r := &registrar{
			registration: services, crds: crdlisters.NewCustomResourceDefinitionLister(store),
			crdsSynced: func() bool { return true }, news: make(chan struct{}, 1), custom: map[schema.GroupVersion]bool{},
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		want := func(when string, names ...string) {
			t.Helper()
			synctest.Wait()
			if got := slices.Sorted(maps.Keys(services)); !slices.Equal(got, names) {
				t.Errorf("%s: %q registered, want %q", when, got, names)
			}
		}
		must(store.Add(definition("boats", "v1")))
		if !r.waitForCRDs(ctx) {
			t.Fatal("the definitions that there are were not awaited")
		}
		want("at the start", "v1.example.org")
		go r.run(ctx)
		must(store.Add(definition("buoys", "v1", "v2")))
		r.tell()
		must(store.Delete(definition("boats", "v1")))
		r.tell()
		want("while another definition serves it", "v1.example.org", "v2.example.org")
		must(store.Update(definition("buoys", "v2")))
		r.tell()
		want("when none does", "v2.example.org")
	})
}
