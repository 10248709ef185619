package migrator

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apiregistrationclient "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/published"
)

// clients are what a Migrator reads and writes through.
type clients struct {
	kubernetes.Interface
	migrations *published.Migrations
	extensions apiextensionsclient.Interface
	objects    objects
	// targets asks what is served.
	targets func(context.Context) (migration.Targets, error)
}

// objects are those that are migrated, of any resource.
type objects interface {
	list(ctx context.Context, resource schema.GroupVersionResource, options metav1.ListOptions) (*unstructured.UnstructuredList, error)
	// update writes an object as it is.
	update(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error
}

// newClients makes clients whose writes keep to the pace and to the leadership.
func newClients(config *rest.Config, pacer *pacer, leading func() error, d defects.Set) (clients, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(paced(config, pacer, leading))
	if err != nil {
		return clients{}, err
	}
	extensions, err := apiextensionsclient.NewForConfig(paced(config, pacer, leading))
	if err != nil {
		return clients{}, err
	}
	// Its reads are lists of the objects that are migrated.
	anything, err := dynamic.NewForConfig(wrapped(config, transport{pacer: pacer, leading: leading, reads: true}))
	if err != nil {
		return clients{}, err
	}
	return clients{
		Interface: client, migrations: published.For(client), extensions: extensions, objects: plantObjects(dynamicObjects{anything}, anything, d),
		targets: func(context.Context) (migration.Targets, error) {
			lists, silent, err := served(client.Discovery())
			if err != nil {
				return migration.Targets{}, err
			}
			// Who hosts a resource makes no difference to its migration.
			return migration.Discover(lists, silent, nil, nil), nil
		},
	}, nil
}

// Targets asks what is served, and by whom.
func Targets(ctx context.Context, config *rest.Config) (migration.Targets, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return migration.Targets{}, err
	}
	extensions, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return migration.Targets{}, err
	}
	registration, err := apiregistrationclient.NewForConfig(config)
	if err != nil {
		return migration.Targets{}, err
	}
	return discover(ctx, client, extensions, registration)
}

func paced(config *rest.Config, pacer *pacer, leading func() error) *rest.Config {
	return wrapped(config, transport{pacer: pacer, leading: leading})
}

func wrapped(config *rest.Config, t transport) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		t := t
		t.next = next
		return t
	})
	return config
}

type dynamicObjects struct {
	client dynamic.Interface
}

func (o dynamicObjects) list(ctx context.Context, resource schema.GroupVersionResource, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return o.client.Resource(resource).List(ctx, options)
}

func (o dynamicObjects) update(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	_, err := o.client.Resource(resource).Namespace(object.GetNamespace()).Update(ctx, object, metav1.UpdateOptions{})
	return err
}

// served reads what is served. The group-versions of silent could not be read.
func served(client discovery.DiscoveryInterface) (lists []*metav1.APIResourceList, silent []schema.GroupVersion, err error) {
	lists, err = discovery.ServerPreferredResources(client)
	var failed *discovery.ErrGroupDiscoveryFailed
	switch {
	case errors.As(err, &failed):
		for version := range failed.Groups {
			silent = append(silent, version)
		}
	case err != nil:
		return nil, nil, fmt.Errorf("reading discovery: %w", err)
	}
	tellStorage(client, lists)
	return lists, silent, nil
}

// tellStorage adds to resources with namesakes what tells whether they share their storage,
// which the aggregated document does not have. Where that cannot be read, each counts as
// stored by itself: it is migrated by its own StorageVersion, or not at all.
func tellStorage(client discovery.DiscoveryInterface, lists []*metav1.APIResourceList) {
	for _, version := range migration.Namesakes(lists) {
		full, err := client.ServerResourcesForGroupVersion(version)
		if err != nil {
			continue
		}
		hashes := map[string]string{}
		for i := range full.APIResources {
			hashes[full.APIResources[i].Name] = full.APIResources[i].StorageVersionHash
		}
		for _, list := range lists {
			for i := range list.APIResources {
				if list.GroupVersion == version {
					list.APIResources[i].StorageVersionHash = hashes[list.APIResources[i].Name]
				}
			}
		}
	}
}

// discover reads what is served, and by whom.
func discover(ctx context.Context, client discovery.DiscoveryInterface, extensions apiextensionsclient.Interface, registration apiregistrationclient.Interface) (migration.Targets, error) {
	lists, silent, err := served(client)
	if err != nil {
		return migration.Targets{}, err
	}
	crds, err := extensions.ApiextensionsV1().CustomResourceDefinitions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return migration.Targets{}, fmt.Errorf("listing custom resource definitions: %w", err)
	}
	custom := sets.New[schema.GroupResource]()
	for i := range crds.Items {
		custom.Insert(schema.GroupResource{Group: crds.Items[i].Spec.Group, Resource: crds.Items[i].Spec.Names.Plural})
	}
	services, err := registration.ApiregistrationV1().APIServices().List(ctx, metav1.ListOptions{})
	if err != nil {
		return migration.Targets{}, fmt.Errorf("listing APIServices: %w", err)
	}
	aggregated := sets.New[schema.GroupVersion]()
	for i := range services.Items {
		if spec := &services.Items[i].Spec; spec.Service != nil {
			aggregated.Insert(schema.GroupVersion{Group: spec.Group, Version: spec.Version})
		}
	}
	return migration.Discover(lists, silent, custom, aggregated), nil
}

// storageVersion reads an object from the API server; nil means that it does not exist.
func (c clients) storageVersion(ctx context.Context, name string) (*apiserverinternalv1alpha1.StorageVersion, error) {
	sv, err := c.InternalV1alpha1().StorageVersions().Get(ctx, name, metav1.GetOptions{})
	if migration.IsAbout(err, apiserverinternalv1alpha1.Resource("storageversions"), name) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("getting storage version %s: %w", name, err)
	}
	return sv, nil
}

// crd reads the definition of a resource from the API server; nil means that it does not
// exist.
func (c clients) crd(ctx context.Context, resource schema.GroupResource) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd, err := c.extensions.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, resource.String(), metav1.GetOptions{})
	if migration.IsAbout(err, apiextensionsv1.Resource("customresourcedefinitions"), resource.String()) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("getting custom resource definition %s: %w", resource, err)
	}
	return crd, nil
}

// definitionOf is what matters of a definition; nil gives nil.
func definitionOf(crd *apiextensionsv1.CustomResourceDefinition) *migration.Definition {
	if crd == nil {
		return nil
	}
	definition := &migration.Definition{Group: crd.Spec.Group, Generation: crd.Generation, Stored: crd.Status.StoredVersions}
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		definition.Versions = append(definition.Versions, version.Name)
		if version.Storage {
			definition.Storage = version.Name
		}
	}
	return definition
}
