package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/discovery"
)

// libraryDiscovery is the hook by which kube-aggregator would run its own
// aggregated discovery, and put off readiness until every aggregated server was
// asked once. KEP-3352's health check waits for local servers only.
const libraryDiscovery = "apiservice-discovery-controller"

// catalogs are the documents of this server: /api and /apis.
type catalogs struct{ core, groups *discovery.Catalog }

// newCatalogs makes the two catalogs. A server without aggregated discovery derives the
// list that is not aggregated from them, and has no metrics of them: by these metrics
// operators determine whether the feature is in use (KEP-3352, Monitoring Requirements).
func newCatalogs(o Options) (catalogs, error) {
	made := discovery.NewCatalog
	if o.WithoutAggregatedDiscovery {
		made = discovery.NewUnmeasuredCatalog
	}
	core, err := made("api", clock.RealClock{})
	if err != nil {
		return catalogs{}, err
	}
	groups, err := made("apis", clock.RealClock{})
	return catalogs{core: core, groups: groups}, err
}

// rank orders the built-in group-versions like their APIServices, and publishes
// them: they are there before the first request.
func (c catalogs) rank(services []*apiregistrationv1.APIService) error {
	for _, service := range services {
		version := schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version}
		c.groups.Rank(discovery.Builtin, version, priorityOf(service))
	}
	return errors.Join(c.core.Publish(), c.groups.Publish())
}

func priorityOf(service *apiregistrationv1.APIService) discovery.Priority {
	return discovery.Priority{Group: service.Spec.GroupPriorityMinimum, Version: service.Spec.VersionPriority}
}

// serveDiscovery puts discovery in front of the servers, and makes readiness
// wait for the group-versions that this process hosts. Those of aggregated
// servers are listed by then too, but nothing waits until they are fetched.
func (s *server) serveDiscovery() error {
	remotes, err := newRemotes(s.catalogs.groups, s.resolver, s.options)
	if err != nil {
		return err
	}
	remotes.Plant(s.options.Defects)
	servicesSynced, err := followServices(s.aggregator.APIRegistrationInformers.Apiregistration().V1().APIServices(), remotes)
	if err != nil {
		return err
	}
	groups := discovery.Local(s.catalogs.groups)
	if s.options.PeerCAFile != "" {
		if s.neighbors, err = newNeighbors(s.options, s.catalogs.groups); err != nil {
			return err
		}
		groups = s.neighbors.view
	}
	handler := discovery.NewHandler(discovery.Local(s.catalogs.core), groups, s.options.offered(), s.inner)
	planted := plantDiscovery(remotes, s.options.Defects)
	s.inner = planted.handler(handler)
	var complete atomic.Bool
	outer := s.aggregator.GenericAPIServer
	if err := outer.AddReadyzChecks(healthz.NamedCheck("aggregated-discovery", planted.readiness(func(*http.Request) error {
		if !complete.Load() {
			return errors.New("not every group-version is listed yet")
		}
		return nil
	}))); err != nil {
		return err
	}
	crds := s.extension.Informers.Apiextensions().V1().CustomResourceDefinitions()
	lister, crdsSynced := crds.Lister(), crds.Informer().HasSynced
	established := func() []schema.GroupVersion {
		all, err := lister.List(labels.Everything())
		if err != nil {
			utilruntime.HandleError(fmt.Errorf("list CRDs for discovery: %w", err))
		}
		return establishedVersions(all)
	}
	return outer.AddPostStartHook("aggregated-discovery", func(hook genericapiserver.PostStartHookContext) error {
		go s.catalogs.core.Run(hook)
		go s.catalogs.groups.Run(hook)
		go remotes.Run(hook)
		go func() {
			if cache.WaitForCacheSync(hook.Done(), crdsSynced, servicesSynced) && s.catalogs.groups.WaitFor(hook, discovery.Custom, established) == nil {
				planted.listed(hook)
				complete.Store(true)
			}
		}()
		return nil
	})
}

// establishedVersions are the group-versions in which CRDs are really served.
func establishedVersions(crds []*apiextensionsv1.CustomResourceDefinition) []schema.GroupVersion {
	var versions []schema.GroupVersion
	for _, crd := range crds {
		if !apiextensionshelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			continue
		}
		for _, version := range crd.Spec.Versions {
			if version.Served {
				versions = append(versions, schema.GroupVersion{Group: crd.Spec.Group, Version: version.Name})
			}
		}
	}
	return versions
}
