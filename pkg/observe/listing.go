package observe

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Kinds of discovery documents.
const (
	kindAggregated = "APIGroupDiscoveryList"
	kindGroups     = "APIGroupList"
	kindCore       = "APIVersions"
	kindResources  = "APIResourceList"
	kindStatus     = "Status"
)

// protobufDiscovery reads the aggregated document from protobuf, in which it
// cannot be read without its types.
var protobufDiscovery = newProtobufDiscovery()

func newProtobufDiscovery() *protobuf.Serializer {
	scheme := runtime.NewScheme()
	utilruntime.Must(apidiscoveryv2.AddToScheme(scheme))
	utilruntime.Must(apidiscoveryv2beta1.AddToScheme(scheme))
	return protobuf.NewSerializer(scheme, scheme)
}

// wireDocument has the fields of all kinds of discovery documents and of a
// Status, as JSON spells them.
type wireDocument struct {
	Kind       string         `json:"kind"`
	APIVersion string         `json:"apiVersion"`
	Metadata   map[string]any `json:"metadata"`
	Reason     string         `json:"reason"`

	// Items are those of the aggregated document.
	Items []struct {
		Metadata map[string]any `json:"metadata"`
		Versions []wireVersion  `json:"versions"`
	} `json:"items"`
	// Groups are those of an APIGroupList.
	Groups []metav1.APIGroup `json:"groups"`
	// Versions are those of APIVersions.
	Versions []string `json:"versions"`
	// GroupVersion and Resources are those of an APIResourceList.
	GroupVersion string               `json:"groupVersion"`
	Resources    []metav1.APIResource `json:"resources"`
}

type wireVersion struct {
	Version   string         `json:"version"`
	Freshness string         `json:"freshness"`
	Resources []wireResource `json:"resources"`
}

type wireResource struct {
	Resource         string                   `json:"resource"`
	SingularResource string                   `json:"singularResource"`
	ResponseKind     *metav1.GroupVersionKind `json:"responseKind"`
	Scope            string                   `json:"scope"`
	Verbs            []string                 `json:"verbs"`
	ShortNames       []string                 `json:"shortNames"`
	Categories       []string                 `json:"categories"`
	Subresources     []struct {
		Subresource   string                    `json:"subresource"`
		ResponseKind  *metav1.GroupVersionKind  `json:"responseKind"`
		AcceptedTypes []metav1.GroupVersionKind `json:"acceptedTypes"`
		Verbs         []string                  `json:"verbs"`
	} `json:"subresources"`
}

// errNoDocument says that a body is none of the kinds that are known.
var errNoDocument = errors.New("the body is no discovery document")

// readListing reads what a body of a content type tells. The status is the
// reason of a Status in it, which then is all that there is. Every version has
// its resources.
func readListing(contentType string, body []byte) (listing *history.Listing, status string, err error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, "", fmt.Errorf("the content type cannot be read: %w", err)
	}
	switch mediaType {
	case runtime.ContentTypeJSON:
	case runtime.ContentTypeYAML:
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, "", fmt.Errorf("read the YAML: %w", err)
		}
	case runtime.ContentTypeProtobuf:
		object, kind, err := protobufDiscovery.Decode(body, nil, nil)
		if err != nil {
			return nil, "", fmt.Errorf("read the protobuf: %w", err)
		}
		object.GetObjectKind().SetGroupVersionKind(*kind)
		if body, err = json.Marshal(object); err != nil {
			return nil, "", fmt.Errorf("read the protobuf: %w", err)
		}
	default:
		return nil, "", fmt.Errorf("the encoding %s is not known", mediaType)
	}
	var wire wireDocument
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, "", fmt.Errorf("read the JSON: %w", err)
	}
	if wire.Kind == kindStatus {
		return nil, cmp.Or(wire.Reason, "Unknown"), nil
	}
	listing = &history.Listing{APIVersion: wire.APIVersion, Kind: wire.Kind, Metadata: fieldsOf(wire.Metadata)}
	switch wire.Kind {
	case kindAggregated:
		listing.Groups = aggregatedGroups(&wire)
	case kindGroups:
		for _, group := range wire.Groups {
			one := history.ListedGroup{Name: group.Name, Preferred: group.PreferredVersion.Version}
			for _, version := range group.Versions {
				one.Versions = append(one.Versions, history.ListedVersion{Version: version.Version})
			}
			listing.Groups = append(listing.Groups, one)
		}
	case kindCore:
		one := history.ListedGroup{}
		for _, version := range wire.Versions {
			one.Versions = append(one.Versions, history.ListedVersion{Version: version})
		}
		listing.Groups = []history.ListedGroup{one}
	case kindResources:
		at := parseGroupVersion(wire.GroupVersion)
		listing.Groups = []history.ListedGroup{{Name: at.Group, Versions: []history.ListedVersion{
			listed(wireVersion{Version: at.Version}, unaggregatedResources(at, wire.Resources)),
		}}}
	default:
		return nil, "", errNoDocument
	}
	return listing, "", nil
}

func aggregatedGroups(wire *wireDocument) []history.ListedGroup {
	var groups []history.ListedGroup
	for _, item := range wire.Items {
		name, _ := item.Metadata["name"].(string)
		group := history.ListedGroup{Name: name, Metadata: slices.DeleteFunc(fieldsOf(item.Metadata), func(f string) bool { return f == "name" })}
		for _, version := range item.Versions {
			at := groupVersion{name, version.Version}
			one := listed(version, aggregatedResources(at, version.Resources))
			if one.Accepts = accepts(at, version.Resources); one.Accepts != nil {
				one.Accepted = nameOf(one.Accepts)
			}
			group.Versions = append(group.Versions, one)
		}
		groups = append(groups, group)
	}
	return groups
}

// fieldsOf are the names of the fields that are there; null is not.
func fieldsOf(metadata map[string]any) []string {
	var names []string
	for name, value := range metadata {
		if value != nil && value != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func parseGroupVersion(text string) groupVersion {
	if group, version, ok := strings.Cut(text, "/"); ok {
		return groupVersion{group, version}
	}
	return groupVersion{Version: text}
}

// listed is a version with its resources, which are in the order of the document.
func listed(version wireVersion, resources []history.ListedResource) history.ListedVersion {
	var names []string
	for _, resource := range resources {
		names = append(names, resource.Name)
	}
	byName := func(a, b history.ListedResource) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(resources, byName)
	for i := range resources {
		slices.SortStableFunc(resources[i].Subresources, byName)
		resources[i] = bare(resources[i])
	}
	return history.ListedVersion{
		Version: version.Version, Freshness: version.Freshness,
		Inventory: nameOf(resources), Order: nameOf(names), Resources: resources,
	}
}

// bare leaves of a resource that has subresources only what both kinds of
// documents say of it: the one that is not aggregated does not list it at all.
func bare(resource history.ListedResource) history.ListedResource {
	if len(resource.Verbs) == 0 && len(resource.Subresources) > 0 {
		return history.ListedResource{Name: resource.Name, Subresources: resource.Subresources}
	}
	return resource
}

func aggregatedResources(at groupVersion, wire []wireResource) []history.ListedResource {
	resources := make([]history.ListedResource, 0, len(wire))
	for _, r := range wire {
		one := history.ListedResource{
			Name: r.Resource, Singular: r.SingularResource, Kind: fullKind(at, r.ResponseKind), Namespaced: r.Scope == string(apidiscoveryv2.ScopeNamespace),
			Verbs: sorted(r.Verbs), ShortNames: sorted(r.ShortNames), Categories: sorted(r.Categories),
		}
		for _, s := range r.Subresources {
			one.Subresources = append(one.Subresources, history.ListedResource{Name: s.Subresource, Kind: fullKind(at, s.ResponseKind), Verbs: sorted(s.Verbs)})
		}
		resources = append(resources, one)
	}
	return resources
}

// accepts are the kinds that subresources accept which can be written.
func accepts(at groupVersion, wire []wireResource) map[string][]string {
	out := map[string][]string{}
	for _, r := range wire {
		for _, s := range r.Subresources {
			if !slices.ContainsFunc(s.Verbs, func(verb string) bool { return verb == "create" || verb == "update" || verb == "patch" }) {
				continue
			}
			kinds := []string{}
			for i := range s.AcceptedTypes {
				kinds = append(kinds, fullKind(at, &s.AcceptedTypes[i]))
			}
			out[r.Resource+"/"+s.Subresource] = sorted(kinds)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// unaggregatedResources puts subresources below what they belong to.
func unaggregatedResources(at groupVersion, wire []metav1.APIResource) []history.ListedResource {
	resources := make([]history.ListedResource, 0, len(wire))
	found := map[string]int{}
	parent := func(name string) *history.ListedResource {
		if _, ok := found[name]; !ok {
			found[name] = len(resources)
			resources = append(resources, history.ListedResource{Name: name})
		}
		return &resources[found[name]]
	}
	for _, r := range wire {
		kind := fullKind(at, &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
		name, subresource, below := strings.Cut(r.Name, "/")
		if below {
			one := parent(name)
			one.Subresources = append(one.Subresources, history.ListedResource{Name: subresource, Kind: kind, Verbs: sorted(r.Verbs)})
			continue
		}
		one := parent(name)
		one.Singular, one.Kind, one.Namespaced = r.SingularName, kind, r.Namespaced
		one.Verbs, one.ShortNames, one.Categories = sorted(r.Verbs), sorted(r.ShortNames), sorted(r.Categories)
	}
	return resources
}

// fullKind writes a kind in full: documents leave out what is the same as that
// of the group-version.
func fullKind(at groupVersion, kind *metav1.GroupVersionKind) string {
	if kind == nil || kind.Kind == "" {
		return ""
	}
	group, version := kind.Group, kind.Version
	switch {
	case group == "" && version == "":
		group, version = at.Group, at.Version
	case version == "":
		version = at.Version
	}
	return strings.Join([]string{group, version, kind.Kind}, "/")
}

// sorted is a sorted copy; one of nothing is nil.
func sorted(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	words = slices.Clone(words)
	slices.Sort(words)
	return words
}
