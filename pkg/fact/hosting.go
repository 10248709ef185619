package fact

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Resource is a resource of an API group.
type Resource struct{ Group, Resource string }

// coreGroup stands in names of StorageVersions for the empty core group.
const coreGroup = "core"

// StorageVersionName is the name of the resource's StorageVersion (KEP-2339, API).
func (r Resource) StorageVersionName() string {
	if r.Group == "" {
		return coreGroup + "." + r.Resource
	}
	return r.Group + "." + r.Resource
}

// sharedStorage are resources that are stored as those of another group, and so have no
// StorageVersion of their own. Kubernetes has this one pair left.
var sharedStorage = map[Resource]bool{{"events.k8s.io", "events"}: true}

// BuiltIn is whether KEP-2339 has a server publish the resource before it takes writes.
func BuiltIn(r history.HostedResource) bool {
	return r.Persisted && !r.Custom && !r.Aggregated && !sharedStorage[Resource{r.Group, r.Resource}]
}

// Look is what a member's API server said that it hosts.
type Look struct {
	Stamp
	Member string
	// EtcdRevision is one that etcd had right after.
	EtcdRevision int64
	Resources    []history.HostedResource
	// names has the StorageVersions of all resources, and whether they are built in.
	names map[string]bool
}

// Hosts is whether the built-in resource of a StorageVersion is among them.
func (l *Look) Hosts(name string) bool { return l.names[name] }

// Lists is whether any resource of that name is.
func (l *Look) Lists(name string) bool { _, ok := l.names[name]; return ok }

// Find gives what is said of a resource.
func (l *Look) Find(r Resource) (history.HostedResource, bool) {
	for _, x := range l.Resources {
		if x.Group == r.Group && x.Resource == r.Resource {
			return x, true
		}
	}
	return history.HostedResource{}, false
}

// Hosted is how a resource is hosted, by all that was ever said of it.
type Hosted int8

// A resource that one server calls built in is, whatever another one says: none may talk
// itself out of what it is judged on.
const (
	Unlisted Hosted = iota
	HostedOtherwise
	HostedBuiltIn
)

type groupKind struct{ group, kind string }

type hosting struct {
	looks  map[string][]*Look
	byKind map[groupKind]Resource
	hosted map[Resource]Hosted
	// said is what each member said of a resource first that it called built in, or did
	// not.
	said    map[Resource]map[string]Hosted
	written map[Resource]bool
	// custom are the custom resources that the harness defined, with the times in which it
	// had taken them away.
	custom map[Resource][]Span
	// proxied are the groups that the harness had API servers proxy, with the times in which
	// it had taken the last APIService of the group away; aggregated the resources that any
	// server said to be of an aggregated server.
	proxied    map[string][]Span
	aggregated map[Resource]bool
}

func newHosting(header history.Header) hosting {
	s := hosting{
		looks: map[string][]*Look{}, byKind: map[groupKind]Resource{}, hosted: map[Resource]Hosted{},
		said: map[Resource]map[string]Hosted{}, written: map[Resource]bool{}, custom: map[Resource][]Span{},
		proxied: map[string][]Span{}, aggregated: map[Resource]bool{},
	}
	for _, x := range header.Writes {
		r := Resource{x.Group, x.Resource}
		s.written[r] = true
		s.byKind[groupKind{x.Group, x.Kind}] = r
	}
	return s
}

func (s *hosting) observe(ev *history.Event) {
	d := ev.HostedResources
	look := &Look{Stamp: StampOf(ev), Member: ev.Member, EtcdRevision: d.Revision, Resources: d.Resources}
	before := s.looks[ev.Member]
	s.looks[ev.Member] = append(before, look)
	if n := len(before); n > 0 && reflect.DeepEqual(before[n-1].Resources, d.Resources) {
		look.Resources, look.names = before[n-1].Resources, before[n-1].names
		return
	}
	look.names = make(map[string]bool, len(d.Resources))
	for _, x := range d.Resources {
		r, how := Resource{x.Group, x.Resource}, HostedOtherwise
		if BuiltIn(x) {
			how = HostedBuiltIn
		}
		look.names[r.StorageVersionName()] = how == HostedBuiltIn
		if _, known := s.byKind[groupKind{x.Group, x.Kind}]; !known {
			s.byKind[groupKind{x.Group, x.Kind}] = r
		}
		s.hosted[r] = max(s.hosted[r], how)
		s.aggregated[r] = s.aggregated[r] || x.Aggregated
		if s.said[r] == nil {
			s.said[r] = map[string]Hosted{}
		}
		s.said[r][ev.Member] = max(s.said[r][ev.Member], how)
	}
}

// define notes custom resources and group-versions that the harness defines or takes away.
// Also a request without an answer may have come into force.
func (s *hosting) define(ev *history.Event) {
	d := ev.Request.Defines
	switch {
	case d == nil:
	case d.Remote:
		s.proxied[d.Group] = defined(s.proxied[d.Group], ev)
	default:
		r := Resource{d.Group, d.Resource}
		s.custom[r] = defined(s.custom[r], ev)
	}
}

// defined are the times in which something was away, with what a request did about that.
func defined(away []Span, ev *history.Event) []Span {
	refused := ev.Request.Code >= 400 && ev.Request.Code < 500
	switch n := len(away); {
	case refused:
	case ev.Request.Verb == "delete":
		return append(away, Span{ev.From, Forever})
	case ev.Request.Verb == "create" && n > 0:
		away[n-1].End = min(away[n-1].End, ev.From)
	}
	return away
}

// Looks are those at a member's API server, in the order of time.
func (h *History) Looks(member string) []*Look { return h.hosting.looks[member] }

// Hosted is how a resource is hosted.
func (h *History) Hosted(r Resource) Hosted { return h.hosting.hosted[r] }

// Aggregated is whether a server said that an aggregated server hosts the resource, and none
// that it does so itself.
func (h *History) Aggregated(r Resource) bool {
	return h.hosting.aggregated[r] && h.hosting.hosted[r] != HostedBuiltIn && !h.Defined(r)
}

// Unproxied are the times in which the harness had taken away the APIServices by which API
// servers proxy a group to aggregated servers.
func (h *History) Unproxied(group string) []Span { return h.hosting.proxied[group] }

// Defined is whether the harness has defined the custom resource.
func (h *History) Defined(r Resource) bool { _, ok := h.hosting.custom[r]; return ok }

// DefinedName is Defined by the name of the StorageVersion.
func (h *History) DefinedName(name string) bool { return h.Defined(h.customOf(name)) }

// Undefined is whether the harness may have taken the custom resource of a StorageVersion
// away at a moment.
func (h *History) Undefined(name string, m Moment) bool {
	return slices.ContainsFunc(h.hosting.custom[h.customOf(name)], func(away Span) bool {
		return away.Begin <= m.Latest && away.End >= m.Earliest
	})
}

// Redefined is whether the harness may have taken the custom resource of a StorageVersion away
// after one moment, and defined it again within some time before another one.
func (h *History) Redefined(name string, after, before Moment, within time.Duration) bool {
	return slices.ContainsFunc(h.hosting.custom[h.customOf(name)], func(away Span) bool {
		return away.Begin > after.Earliest && away.End <= before.Latest && before.Earliest-away.End <= int64(within)
	})
}

func (h *History) customOf(name string) Resource {
	for r := range h.hosting.custom {
		if r.StorageVersionName() == name {
			return r
		}
	}
	return Resource{}
}

// ResourceOf is the resource of stored objects of a kind.
func (h *History) ResourceOf(apiVersion, kind string) (Resource, bool) {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	r, ok := h.hosting.byKind[groupKind{group, kind}]
	return r, ok
}

// HostingConflicts says where members disagree on whether a resource is a persisted
// built-in one: a server must not decide by its own word what it is judged on.
func (h *History) HostingConflicts() []string {
	var out []string
	for r, said := range h.hosting.said {
		for _, member := range h.Members() {
			if how := said[member]; how != Unlisted && how != h.hosting.hosted[r] {
				out = append(out, fmt.Sprintf("%s and other members do not agree on whether %s is a persisted built-in resource", member, r.StorageVersionName()))
			}
		}
	}
	slices.Sort(out)
	return out
}
