package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

type groupKind struct{ group, kind string }

type groupResource struct{ group, resource string }

// hosting is what is known of how a resource is hosted.
type hosting string

const (
	hostedUnknown hosting = ""         // no discovery has listed it so far
	hostedBuiltIn hosting = "built-in" // KEP-2339 has its servers publish it
	hostedElse    hosting = "else"     // custom, aggregated or not persisted
)

// resources is what discovery has told of resources, and the header of those
// that the harness writes.
type resources struct {
	// written are those that the harness writes; empty if the header lists none.
	written map[groupResource]bool
	byKind  map[groupKind]groupResource
	hosting map[groupResource]hosting
	// names of StorageVersions that there may be: of all resources that some
	// server hosts, and of those once hosted whose object is still there.
	names map[string]bool
}

func newResources(h history.Header) *resources {
	r := &resources{
		written: map[groupResource]bool{}, byKind: map[groupKind]groupResource{},
		hosting: map[groupResource]hosting{}, names: map[string]bool{},
	}
	for _, x := range h.Writes {
		gr := groupResource{x.Group, x.Resource}
		r.written[gr] = true
		r.byKind[groupKind{x.Group, x.Kind}] = gr
	}
	return r
}

// learn reads anew what all servers host. What none hosts any more is
// forgotten, else a churn of custom resources would pile up, except for what
// the harness writes itself and for names whose objects are left.
func (w *World) learn() {
	old := w.resources
	now := newResources(w.Header)
	for gr := range now.written {
		if h := old.hosting[gr]; h != hostedUnknown {
			now.hosting[gr] = h
		}
	}
	for name := range old.names {
		if v := w.versions[name]; v != nil && !v.deleted {
			now.names[name] = true
		}
	}
	said := map[groupResource]string{}
	for _, member := range w.order {
		for _, r := range w.servers[member].hosted {
			gr := groupResource{r.Group, r.Resource}
			now.byKind[groupKind{r.Group, r.Kind}] = gr
			now.names[objectName(r.Group, r.Resource)] = true
			// What one server calls built in is, whatever another one says: none
			// may talk itself out of what it is judged on.
			built := hostedElse
			if guardedByBarrier(r) {
				built = hostedBuiltIn
			}
			if before := said[gr]; before != "" && before != member && now.hosting[gr] != built {
				w.dispute(gr, member, "%s and %s do not agree on whether %s is a persisted built-in resource", before, member, objectName(gr.group, gr.resource))
			}
			if said[gr] == "" || built == hostedBuiltIn {
				now.hosting[gr] = built
			}
			said[gr] = member
		}
	}
	w.resources = now
}

// resourceOf gives the resource of a stored object, by its kind.
func (w *World) resourceOf(s *history.Stored) (gr groupResource, ok bool) {
	if s.Type != history.StoredPut || s.ObjectKind == "" {
		return gr, false
	}
	group, _, found := strings.Cut(s.APIVersion, "/")
	if !found {
		group = ""
	}
	gr, ok = w.resources.byKind[groupKind{group, s.ObjectKind}]
	return gr, ok
}

// tagged gives the resource of a stored object that the harness wrote. An
// object of a kind that the harness does not write has its tag from elsewhere:
// controllers copy annotations to what they make.
func (w *World) tagged(s *history.Stored) (gr groupResource, ok bool) {
	if s.Writer == "" {
		return gr, false
	}
	gr, ok = w.resourceOf(s)
	if len(w.resources.written) > 0 && !w.resources.written[gr] {
		return gr, false
	}
	return gr, ok
}

// objectName is the name of a resource's StorageVersion by KEP-2339.
func objectName(group, resource string) string {
	if group == "" {
		group = coreGroup
	}
	return group + "." + resource
}

// coreGroup stands in StorageVersion names for the empty core group.
const coreGroup = "core"

// sharedStorage are resources that are stored as those of another group, and
// so have no StorageVersion of their own: whoever migrates the one migrates the
// other. Kubernetes has this one pair left.
var sharedStorage = map[groupResource]bool{{"events.k8s.io", "events"}: true}

// guardedByBarrier is whether KEP-2339 has a server publish a resource.
func guardedByBarrier(r history.HostedResource) bool {
	return r.Persisted && !r.Custom && !r.Aggregated && !sharedStorage[groupResource{r.Group, r.Resource}]
}
