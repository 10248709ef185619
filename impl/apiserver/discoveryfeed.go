package apiserver

import (
	"net/http"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"

	"github.com/evenkeel/evenkeel/impl/discovery"
)

// discoveryFeed receives what the servers of this process host. It replaces the
// libraries' manager of aggregated discovery, and only passes entries on to the
// catalog. Each server has its own source.
type discoveryFeed struct {
	catalog *discovery.Catalog
	source  discovery.Source
}

var _ aggregated.ResourceManager = discoveryFeed{}

// newDiscoveryFeed is the feed of the built-in servers.
func newDiscoveryFeed(catalog *discovery.Catalog) discoveryFeed {
	return discoveryFeed{catalog: catalog, source: discovery.Builtin}
}

// WithSource is the feed of another server.
func (f discoveryFeed) WithSource(source aggregated.Source) aggregated.ResourceManager {
	switch source {
	case aggregated.CRDSource:
		f.source = discovery.Custom
	case aggregated.BuiltinSource:
		f.source = discovery.Builtin
	default:
		f.source = discovery.Remote
	}
	return f
}

// AddGroupVersion is called when a server hosts a group-version, or hosts it in
// another way than before.
func (f discoveryFeed) AddGroupVersion(group string, version apidiscoveryv2.APIVersionDiscovery) {
	f.catalog.Set(f.entry(group, version))
}

func (f discoveryFeed) entry(group string, version apidiscoveryv2.APIVersionDiscovery) discovery.Entry {
	// Built-in group-versions get their ranks once all servers have added theirs.
	priority := discovery.Priority{Group: builtinGroupPriority, Version: topVersionPriority}
	if f.source == discovery.Custom {
		priority.Group = customGroupPriority
	}
	return discovery.Entry{Source: f.source, Group: group, Priority: priority, Version: version}
}

// SetGroupVersionPriority ranks a group-version.
func (f discoveryFeed) SetGroupVersionPriority(version metav1.GroupVersion, group, rank int) {
	//nolint:gosec // G115: the callers have both as int32.
	f.catalog.Rank(f.source, schema.GroupVersion(version), discovery.Priority{Group: int32(group), Version: int32(rank)})
}

// RemoveGroup is called when a server hosts nothing of a group any more.
func (f discoveryFeed) RemoveGroup(group string) { f.catalog.RemoveGroup(f.source, group) }

// RemoveGroupVersion is called when a server no longer hosts a group-version.
func (f discoveryFeed) RemoveGroupVersion(version metav1.GroupVersion) {
	f.catalog.Remove(f.source, schema.GroupVersion(version))
}

// SetGroups replaces all entries of a server.
func (f discoveryFeed) SetGroups(groups []apidiscoveryv2.APIGroupDiscovery) {
	var entries []discovery.Entry
	for _, group := range groups {
		for _, version := range group.Versions {
			entries = append(entries, f.entry(group.Name, version))
		}
	}
	f.catalog.Replace(f.source, entries)
}

// AddInvalidationCallback calls back whenever the catalog changes.
func (f discoveryFeed) AddInvalidationCallback(callback func()) { f.catalog.Notify(callback) }

// ServeHTTP serves the entries of the catalog. The front of the server answers the
// requests that pass through it, so they do not reach this handler.
func (f discoveryFeed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	view := discovery.Local(f.catalog)
	discovery.NewHandler(view, view, []string{discovery.V2}, http.NotFoundHandler()).ServeHTTP(w, r)
}
