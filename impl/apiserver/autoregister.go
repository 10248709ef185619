package apiserver

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	crdlisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/controllers/autoregister"

	"github.com/evenkeel/evenkeel/impl/discovery"
)

// Priorities of the local group-versions in discovery, as in Kubernetes:
// groups of this server in front of custom ones.
const (
	aggregatorGroupPriority = 20000
	coreGroupPriority       = 18000
	builtinGroupPriority    = 17000
	customGroupPriority     = 1000
	topVersionPriority      = 100
)

// autoRegisterWorkers is how many APIServices are written at a time.
const autoRegisterWorkers = 3

// localServices are the APIServices that send the group-versions of the given
// servers to this process. That of the aggregator is for discovery only: it
// needs no APIService to find itself.
func localServices(servers ...*genericapiserver.GenericAPIServer) []*apiregistrationv1.APIService {
	seen := map[schema.GroupVersion]bool{}
	number := map[string]int{}
	var services []*apiregistrationv1.APIService
	for _, server := range servers {
		for _, service := range server.Handler.GoRestfulContainer.RegisteredWebServices() {
			version, ok := parseRoot(service.RootPath())
			if !ok || seen[version] {
				continue
			}
			seen[version] = true
			// Versions of a group come in the order of preference.
			priority := builtinRank(version, number[version.Group])
			services = append(services, localService(version, priority.Group, priority.Version))
			number[version.Group]++
		}
	}
	return services
}

// builtinRank is the priority of a built-in group-version, of which so many of
// its group are preferred. It is the same on every server.
func builtinRank(version schema.GroupVersion, number int) discovery.Priority {
	//nolint:gosec // G115: a group has fewer than topVersionPriority versions.
	priority := discovery.Priority{Group: builtinGroupPriority, Version: topVersionPriority - int32(number)}
	switch version.Group {
	case "":
		priority.Group = coreGroupPriority
	case apiregistrationv1.GroupName:
		priority.Group = aggregatorGroupPriority
	}
	return priority
}

func localService(version schema.GroupVersion, groupPriority, versionPriority int32) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: serviceName(version)},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: version.Group, Version: version.Version,
			GroupPriorityMinimum: groupPriority, VersionPriority: versionPriority,
		},
	}
}

func serviceName(version schema.GroupVersion) string { return version.Version + "." + version.Group }

// registrar keeps an APIService for every group-version that this process
// hosts, those of custom resources included, so that the aggregator lists them.
type registrar struct {
	registration autoregister.AutoAPIServiceRegistration
	crds         crdlisters.CustomResourceDefinitionLister
	crdsSynced   cache.InformerSynced
	// news holds something while a CRD has changed that was not looked at yet.
	news chan struct{}

	// custom are the group-versions that a CRD is responsible for now.
	custom map[schema.GroupVersion]bool
}

func newRegistrar(registration autoregister.AutoAPIServiceRegistration, crds crdinformers.CustomResourceDefinitionInformer) (*registrar, error) {
	r := &registrar{
		registration: registration,
		crds:         crds.Lister(),
		crdsSynced:   crds.Informer().HasSynced,
		news:         make(chan struct{}, 1),
		custom:       map[schema.GroupVersion]bool{},
	}
	_, err := crds.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { r.tell() },
		UpdateFunc: func(_, _ any) { r.tell() },
		DeleteFunc: func(any) { r.tell() },
	})
	return r, err
}

// tell triggers a pass over the definitions.
func (r *registrar) tell() {
	select {
	case r.news <- struct{}{}:
	default: // they will be
	}
}

// run keeps the registrations up to date until the context ends. All changes during a
// pass trigger one more pass: informers resync every CRD every few minutes, and with
// thousands of CRDs a pass for each of them takes seconds.
func (r *registrar) run(ctx context.Context) {
	for {
		select {
		case <-r.news:
			r.sync()
		case <-ctx.Done():
			return
		}
	}
}

// sync compares the group-versions that CRDs serve with those registered. It
// looks at all of them each time: several CRDs may share a group-version.
func (r *registrar) sync() {
	crds, err := r.crds.List(labels.Everything())
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("list CRDs to register their group-versions: %w", err))
		return
	}
	wanted := customVersions(crds)
	for version := range wanted {
		if !r.custom[version] {
			r.registration.AddAPIServiceToSync(localService(version, customGroupPriority, topVersionPriority))
		}
	}
	for version := range r.custom {
		if !wanted[version] {
			r.registration.RemoveAPIServiceToSync(serviceName(version))
		}
	}
	r.custom = wanted
}

// customVersions are the group-versions that CRDs serve.
func customVersions(crds []*apiextensionsv1.CustomResourceDefinition) map[schema.GroupVersion]bool {
	versions := map[schema.GroupVersion]bool{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if version.Served {
				versions[schema.GroupVersion{Group: crd.Spec.Group, Version: version.Name}] = true
			}
		}
	}
	return versions
}

// waitForCRDs returns once the CRDs that existed at the start are registered. The
// auto-register controller runs after that, and deletes the APIServices of unregistered
// groups.
func (r *registrar) waitForCRDs(ctx context.Context) bool {
	if !cache.WaitForCacheSync(ctx.Done(), r.crdsSynced) {
		return false
	}
	r.sync()
	return true
}

// informerResync is how often informers go over what they hold.
const informerResync = 10 * time.Minute
