package discovery

import (
	"cmp"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Hosting is what one member of a control plane hosts by itself.
type Hosting struct {
	// Server is the member's ID.
	Server string
	Groups []apidiscoveryv2.APIGroupDiscovery
}

// Rank is the priority of the built-in group-version that a member prefers as
// the one of the given number in its group, from 0. All members rank alike.
type Rank func(version schema.GroupVersion, number int) Priority

// Unite adds to the group-versions of this server those that only its peers
// host, and to those that both host the resources that only peers have
// (KEP-4020). All servers that know the same members come to the same result:
// members are gone through in the order of their IDs, this one among them, and
// priorities are the highest that a member gives.
//
// Where this server has a CRD or an APIService for a group-version, requests
// reach that, so nothing of a peer is added to it; nor to the core group.
func Unite(entries []Entry, self string, peers []Hosting, rank Rank) []Entry {
	own := Hosting{Server: self}
	taken := map[schema.GroupVersion]bool{}
	var united []Entry
	for _, entry := range entries {
		if entry.Source != Builtin {
			taken[entry.GroupVersion()] = true
			united = append(united, entry)
		}
	}
	own.Groups = Merge(slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Source != Builtin }))

	members := append([]Hosting{own}, peers...)
	slices.SortStableFunc(members, func(a, b Hosting) int { return strings.Compare(a.Server, b.Server) })
	at := map[schema.GroupVersion]int{}
	for _, member := range members {
		for _, group := range member.Groups {
			for number, one := range group.Versions {
				version := schema.GroupVersion{Group: group.Name, Version: one.Version}
				if version.Group == "" || taken[version] && member.Server != self {
					continue
				}
				// In one shape, whether a member speaks of itself or is spoken of.
				one, priority := adopt(version, one), rank(version, number)
				i, known := at[version]
				if !known {
					at[version] = len(united)
					united = append(united, Entry{Source: Builtin, Group: group.Name, Priority: priority, Version: one})
					continue
				}
				united[i].Priority = Priority{
					Group:   max(united[i].Priority.Group, priority.Group),
					Version: max(united[i].Priority.Version, priority.Version),
				}
				united[i].Version.Resources = uniteResources(united[i].Version.Resources, one.Resources)
			}
		}
	}
	return united
}

// uniteResources returns the resources of both lists. If both have a resource, the
// first list describes it, and it has the verbs and subresources of both.
func uniteResources(a, b []apidiscoveryv2.APIResourceDiscovery) []apidiscoveryv2.APIResourceDiscovery {
	return unite(a, b,
		func(r apidiscoveryv2.APIResourceDiscovery) string { return r.Resource },
		func(one, other apidiscoveryv2.APIResourceDiscovery) apidiscoveryv2.APIResourceDiscovery {
			one.Verbs = uniteVerbs(one.Verbs, other.Verbs)
			one.Subresources = unite(one.Subresources, other.Subresources,
				func(s apidiscoveryv2.APISubresourceDiscovery) string { return s.Subresource },
				func(one, other apidiscoveryv2.APISubresourceDiscovery) apidiscoveryv2.APISubresourceDiscovery {
					one.Verbs = uniteVerbs(one.Verbs, other.Verbs)
					return one
				})
			return one
		})
}

// unite puts two lists together, sorted by name; both makes one of two of a name.
func unite[T any](a, b []T, name func(T) string, both func(T, T) T) []T {
	at := map[string]int{}
	var united []T
	for _, one := range slices.Concat(a, b) {
		if i, twice := at[name(one)]; twice {
			united[i] = both(united[i], one)
			continue
		}
		at[name(one)] = len(united)
		united = append(united, one)
	}
	slices.SortFunc(united, func(x, y T) int { return strings.Compare(name(x), name(y)) })
	return united
}

func uniteVerbs(a, b metav1.Verbs) metav1.Verbs {
	if slices.Equal(a, b) {
		return a
	}
	verbs := slices.Concat(a, b)
	slices.Sort(verbs)
	return slices.Compact(verbs)
}

// Hosted is a resource, or with an empty name a group-version as a whole, or
// with an empty version too a group.
type Hosted struct {
	schema.GroupVersion
	Resource string
}

// RoutesOf are the members that host what this server does not, for each such
// resource, group-version and group, in the order of their IDs.
func RoutesOf(entries []Entry, peers []Hosting) map[Hosted][]string {
	here := map[Hosted]bool{}
	closed := map[schema.GroupVersion]bool{}
	for _, entry := range entries {
		version := entry.GroupVersion()
		here[Hosted{GroupVersion: version}] = true
		here[groupAlone(version)] = true
		closed[version] = closed[version] || entry.Source != Builtin
		for _, resource := range entry.Version.Resources {
			here[Hosted{version, resource.Resource}] = true
		}
	}
	routes := map[Hosted][]string{}
	for _, peer := range slices.SortedFunc(slices.Values(peers), func(a, b Hosting) int { return cmp.Compare(a.Server, b.Server) }) {
		for _, group := range peer.Groups {
			for _, one := range group.Versions {
				version := schema.GroupVersion{Group: group.Name, Version: one.Version}
				if version.Group == "" || closed[version] {
					continue
				}
				wanted := []Hosted{{GroupVersion: version}}
				if alone := groupAlone(version); !slices.Contains(routes[alone], peer.Server) {
					wanted = append(wanted, alone)
				}
				for _, resource := range one.Resources {
					wanted = append(wanted, Hosted{version, resource.Resource})
				}
				for _, hosted := range wanted {
					if !here[hosted] {
						routes[hosted] = append(routes[hosted], peer.Server)
					}
				}
			}
		}
	}
	return routes
}

func groupAlone(version schema.GroupVersion) Hosted {
	return Hosted{GroupVersion: schema.GroupVersion{Group: version.Group}}
}
