package apiserver

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// persisted collects which built-in resources the servers of this process
// really keep in etcd, and how, while they open their storage. KEP-2339 wants
// all of them published, those of the extension and aggregation servers too.
// Custom resources open theirs through another door and are not seen here.
type persisted struct {
	mu        sync.Mutex
	resources map[schema.GroupResource]opened
}

// opened is what is known of a resource once its storage is open.
type opened struct {
	kind   schema.GroupKind
	prefix string
	// encoding and decodable are as objects name them in apiVersion.
	encoding  string
	decodable []string
}

func newPersisted() *persisted {
	return &persisted{resources: map[schema.GroupResource]opened{}}
}

// watching returns a getter that records what it hands out.
func (p *persisted) watching(getter generic.RESTOptionsGetter, scheme *runtime.Scheme) generic.RESTOptionsGetter {
	return recordingGetter{RESTOptionsGetter: getter, scheme: scheme, persisted: p}
}

type recordingGetter struct {
	generic.RESTOptionsGetter
	scheme    *runtime.Scheme
	persisted *persisted
}

// GetRESTOptions records the resource when a store asks on its behalf; others
// ask without an example of the object, to learn the prefix only.
func (g recordingGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil || example == nil {
		return options, err
	}
	kinds, _, err := g.scheme.ObjectKinds(example)
	if err != nil {
		return options, err
	}
	encoding, ok := options.StorageConfig.EncodeVersioner.KindForGroupVersionKinds(kinds)
	if !ok {
		return options, fmt.Errorf("%s: no version is configured for storage", resource)
	}
	record := opened{kind: encoding.GroupKind(), prefix: options.ResourcePrefix, encoding: encoding.GroupVersion().String()}
	for version := range g.scheme.AllKnownTypes() {
		if version.GroupKind() == record.kind && version.Version != runtime.APIVersionInternal {
			record.decodable = append(record.decodable, version.GroupVersion().String())
		}
	}
	slices.Sort(record.decodable)
	g.persisted.mu.Lock()
	defer g.persisted.mu.Unlock()
	g.persisted.resources[resource] = record
	return options, nil
}

// IsBuiltInPersisted reports whether the resource is one that this process
// keeps in etcd by itself, which is to say that it is neither a custom
// resource, nor hosted by another server, nor answered without being stored.
func (p *persisted) IsBuiltInPersisted(group, resource string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, found := p.resources[schema.GroupResource{Group: group, Resource: resource}]
	return found
}

// list is what has to be published: every recorded resource with the versions
// in which the servers serve it, sorted by name. Resources that share their
// storage count once.
func (p *persisted) list(servers ...*genericapiserver.GenericAPIServer) []storageversion.Resource {
	served := servedVersions(servers)
	p.mu.Lock()
	defer p.mu.Unlock()

	var names []schema.GroupResource
	for name := range p.resources {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b schema.GroupResource) int {
		return strings.Compare(a.Group+"/"+a.Resource, b.Group+"/"+b.Resource)
	})
	stored := map[string]bool{}
	var list []storageversion.Resource
	for _, name := range names {
		record := p.resources[name]
		if stored[record.prefix] {
			continue
		}
		stored[record.prefix] = true
		list = append(list, storageversion.Resource{
			Group: name.Group, Resource: name.Resource,
			Encoding: record.encoding, Decodable: record.decodable, Served: served[name],
		})
	}
	return list
}

// servedVersions reads from the routes that the servers installed in which
// versions each resource can be used.
func servedVersions(servers []*genericapiserver.GenericAPIServer) map[schema.GroupResource][]string {
	served := map[schema.GroupResource][]string{}
	for _, server := range servers {
		for _, service := range server.Handler.GoRestfulContainer.RegisteredWebServices() {
			version, ok := parseRoot(service.RootPath())
			if !ok {
				continue
			}
			for _, route := range service.Routes() {
				resource, ok := resourceOfRoute(strings.TrimPrefix(route.Path, service.RootPath()))
				if !ok {
					continue
				}
				name := version.WithResource(resource).GroupResource()
				if !slices.Contains(served[name], version.String()) {
					served[name] = append(served[name], version.String())
				}
			}
		}
	}
	return served
}

// parseRoot reads /api/<version> and /apis/<group>/<version>.
func parseRoot(path string) (schema.GroupVersion, bool) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(segments) == 2 && segments[0] == "api":
		return schema.GroupVersion{Version: segments[1]}, true
	case len(segments) == 3 && segments[0] == "apis":
		return schema.GroupVersion{Group: segments[1], Version: segments[2]}, true
	default:
		return schema.GroupVersion{}, false
	}
}

// resourceOfRoute reads the resource from /<resource>/… and from
// /namespaces/{namespace}/<resource>/…, as routes spell their paths.
func resourceOfRoute(path string) (string, bool) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if len(segments) >= 3 && segments[0] == "namespaces" && segments[1] == "{namespace}" {
		segments = segments[2:]
	}
	if segments[0] == "" || segments[0] == "watch" || strings.HasPrefix(segments[0], "{") {
		return "", false
	}
	return segments[0], true
}
