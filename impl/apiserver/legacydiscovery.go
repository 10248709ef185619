package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationhelper "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	listers "k8s.io/kube-aggregator/pkg/client/listers/apiregistration/v1"
)

// groupsRoot is the path that lists all groups; one group is listed below it.
const groupsRoot = "/apis"

// groupDirectory lists API groups and their versions, in the form that is not
// aggregated. The aggregator's own list says what the shared APIServices say,
// which is what the server that started last hosts; while releases are mixed
// that is wrong for some server. This one says what this server hosts.
type groupDirectory struct {
	lister listers.APIServiceLister
	// local are the APIServices of what this process serves by itself.
	local []*apiregistrationv1.APIService
	// custom tells whether a CRD of this process serves a group-version.
	custom func(schema.GroupVersion) bool
	// next serves everything else.
	next http.Handler
	// root serves the list of all groups to those who do not ask for the
	// aggregated form, which next has.
	root http.Handler
}

func newGroupDirectory(lister listers.APIServiceLister, local []*apiregistrationv1.APIService, custom func(schema.GroupVersion) bool, next http.Handler) *groupDirectory {
	d := &groupDirectory{lister: lister, local: local, custom: custom, next: next}
	d.root = aggregated.WrapAggregatedDiscoveryToHandler(http.HandlerFunc(d.serveAll), next, nil)
	return d
}

// ServeHTTP answers /apis and /apis/<group>, and passes on the rest.
func (d *groupDirectory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	group, below := strings.CutPrefix(strings.TrimSuffix(path, "/"), groupsRoot+"/")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		d.next.ServeHTTP(w, r)
	case path == groupsRoot:
		d.root.ServeHTTP(w, r)
	case path == groupsRoot+"/":
		d.serveAll(w, r)
	case below && group != "" && !strings.Contains(group, "/"):
		d.serveOne(w, r, group)
	default:
		d.next.ServeHTTP(w, r)
	}
}

func (d *groupDirectory) serveAll(w http.ResponseWriter, r *http.Request) {
	groups, err := d.groups()
	if err != nil {
		responsewriters.InternalError(w, r, err)
		return
	}
	write(w, r, &metav1.APIGroupList{Groups: groups})
}

func (d *groupDirectory) serveOne(w http.ResponseWriter, r *http.Request, name string) {
	groups, err := d.groups()
	if err != nil {
		responsewriters.InternalError(w, r, err)
		return
	}
	for i := range groups {
		if groups[i].Name == name {
			write(w, r, &groups[i])
			return
		}
	}
	d.next.ServeHTTP(w, r)
}

func write(w http.ResponseWriter, r *http.Request, document runtime.Object) {
	responsewriters.WriteObjectNegotiated(aggregatorscheme.Codecs, negotiation.DefaultEndpointRestrictions, schema.GroupVersion{}, w, r, http.StatusOK, document, false)
}

// groups are all groups that requests to this server can reach.
func (d *groupDirectory) groups() ([]metav1.APIGroup, error) {
	shared, err := d.lister.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list APIServices: %w", err)
	}
	var groups []metav1.APIGroup
	for _, services := range apiregistrationhelper.SortedByGroupAndVersion(reachable(shared, d.local, d.custom)) {
		if name := services[0].Spec.Group; name != "" {
			groups = append(groups, groupOf(name, services))
		}
	}
	return groups, nil
}

// reachable corrects the shared APIServices for one server: what another
// server hosts for everybody stays, what leads to the process itself counts if
// the process has it, and what the process has counts in any case.
func reachable(shared, local []*apiregistrationv1.APIService, custom func(schema.GroupVersion) bool) []*apiregistrationv1.APIService {
	var services []*apiregistrationv1.APIService
	remote := map[schema.GroupVersion]bool{}
	for _, service := range shared {
		version := schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version}
		switch {
		case service.Spec.Service != nil:
			remote[version] = true
			services = append(services, service)
		case custom(version):
			services = append(services, service)
		}
	}
	for _, service := range local {
		if !remote[schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version}] {
			services = append(services, service)
		}
	}
	return services
}

// groupOf lists the versions of a group, preferred first.
func groupOf(name string, services []*apiregistrationv1.APIService) metav1.APIGroup {
	group := metav1.APIGroup{Name: name}
	for _, service := range services {
		version := schema.GroupVersion{Group: name, Version: service.Spec.Version}
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: version.String(), Version: version.Version})
	}
	group.PreferredVersion = group.Versions[0]
	return group
}
