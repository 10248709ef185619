// Package release is the table of releases that the one reference binary plays.
// What distinguishes two releases is which versions of the built-in
// multi-version resources they serve, decode and store, so that replacing a
// member really changes what is written to etcd, and rolling it back really
// depends on what the older release can still read.
package release

import (
	"fmt"
	"slices"
	"strings"
)

// Group is the API group of the resources whose versions differ by release.
const Group = "reference.evenkeel.dev"

// Ballasts is the resource whose versions differ by release.
const Ballasts = "ballasts"

// AggregatedGroup is the one in which a sample of an aggregated server hosts ballasts
// once more.
const AggregatedGroup = "aggregated.reference.evenkeel.dev"

// MigrationGroup and Migrations are KEP-25's resource. Its newer version came
// between 1.2 and 1.3, as it did in Kubernetes between 1.36 and 1.37: every release
// serves both, and members of different releases store what they find in the
// version of the other.
const (
	MigrationGroup = "storagemigration.k8s.io"
	Migrations     = "storageversionmigrations"
)

// Versions of the Ballast kind, in the order in which they were introduced.
const (
	V1alpha1 = "v1alpha1"
	V1beta1  = "v1beta1"
	V1       = "v1"
)

// Versions of the aggregated discovery document. KEP-3352 has a server serve the
// beta beside v2 for some releases after v2 came, for clients that know no other.
const (
	DiscoveryV2      = "v2"
	DiscoveryV2beta1 = "v2beta1"
)

// Release is one row of the table.
type Release struct {
	// Name is major.minor, which --release takes.
	Name string `json:"name"`
	// Resources are those whose versions are a matter of the release; all
	// others are the same in every release.
	Resources []Resource `json:"resources"`
	// Coordination is whether this release supports coordinated leader election. A
	// release without it serves the same resources, and ignores their fields of
	// coordination.
	Coordination bool `json:"coordination"`
	// Discovery are the versions in which the release serves the aggregated
	// discovery document.
	Discovery []string `json:"discovery"`
	// Emulates is the release whose behavior this one has, where Emulating gave it another
	// one's, and Compatible the oldest one that can read what is stored, where that was set.
	Emulates   string `json:"emulates,omitempty"`
	Compatible string `json:"compatible,omitempty"`
}

// Resource says how a release treats the versions of one resource. Versions
// are without their group.
type Resource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
	// Served versions are those that clients may use, preferred first.
	Served []string `json:"served"`
	// Decodable versions are those that the release can read from etcd. An
	// object stored in any other one is unreadable to it.
	Decodable []string `json:"decodable"`
	// Encoding is the one version that the release writes to etcd.
	Encoding string `json:"encoding"`
}

// Major is the first number of the release's name.
func (r Release) Major() string {
	major, _, _ := strings.Cut(r.Name, ".")
	return major
}

// Minor is the second number of the release's name.
func (r Release) Minor() string { return MinorOf(r.Name) }

// GitVersion is what /version reports for the release.
func (r Release) GitVersion() string {
	return "v" + r.Name + ".0"
}

// Ballasts is the release's treatment of the ballasts resource.
func (r Release) Ballasts() Resource { return r.find(Group, Ballasts) }

// Migrations is the release's treatment of StorageVersionMigrations.
func (r Release) Migrations() Resource { return r.find(MigrationGroup, Migrations) }

// Aggregated is how an aggregated server of the release treats its ballasts: as the
// API server does its own.
func (r Release) Aggregated() Resource {
	ballasts := r.Ballasts()
	ballasts.Group = AggregatedGroup
	return ballasts
}

// Changed is the release with another treatment of a resource.
func (r Release) Changed(group, name string, change func(*Resource)) Release {
	r.Resources = slices.Clone(r.Resources)
	for i := range r.Resources {
		if r.Resources[i].Group == group && r.Resources[i].Resource == name {
			change(&r.Resources[i])
		}
	}
	return r
}

func (r Release) find(group, name string) Resource {
	for _, resource := range r.Resources {
		if resource.Group == group && resource.Resource == name {
			return resource
		}
	}
	return Resource{Group: group, Resource: name}
}

// All returns the releases, oldest first. The caller owns the result.
func All() []Release {
	// 1.3 drops the beta of discovery, as Kubernetes did in 1.33.
	withBeta, withoutBeta := []string{DiscoveryV2, DiscoveryV2beta1}, []string{DiscoveryV2}
	return []Release{
		// 1.1 is where everything begins: one alpha version, stored, and its
		// beta already offered to clients. It is from before coordinated leader election.
		row("1.1", false, ballasts([]string{V1beta1, V1alpha1}, []string{V1alpha1, V1beta1}, V1alpha1), V1beta1, withBeta),
		// 1.2 begins to store the beta that 1.1 could already read, so that
		// going back to 1.1 loses nothing; and it offers v1.
		row("1.2", true, ballasts([]string{V1, V1beta1, V1alpha1}, []string{V1alpha1, V1beta1, V1}, V1beta1), V1beta1, withBeta),
		// 1.3 stores v1, which 1.2 can read and 1.1 cannot. It no longer serves
		// the alpha version, but can still read objects stored in it.
		row("1.3", true, ballasts([]string{V1, V1beta1}, []string{V1alpha1, V1beta1, V1}, V1), V1, withoutBeta),
		// 1.4 has forgotten the alpha: whatever is still stored in it must have
		// been migrated before.
		row("1.4", true, ballasts([]string{V1}, []string{V1beta1, V1}, V1), V1, withoutBeta),
	}
}

// row is a release with its ballasts, and the version in which it stores
// migrations.
func row(name string, coordination bool, ballasts Resource, migrations string, discovery []string) Release {
	return Release{Name: name, Coordination: coordination, Discovery: discovery, Resources: []Resource{ballasts, {
		Group: MigrationGroup, Resource: Migrations,
		Served: []string{V1, V1beta1}, Decodable: []string{V1beta1, V1}, Encoding: migrations,
	}}}
}

func ballasts(served, decodable []string, encoding string) Resource {
	return Resource{Group: Group, Resource: Ballasts, Served: served, Decodable: decodable, Encoding: encoding}
}

// Names returns the names of all releases, oldest first.
func Names() []string {
	var names []string
	for _, r := range All() {
		names = append(names, r.Name)
	}
	return names
}

// Lookup finds a release by its name. Its error names those that exist.
func Lookup(name string) (Release, error) {
	all := All()
	i := slices.IndexFunc(all, func(r Release) bool { return r.Name == name })
	if i < 0 {
		return Release{}, fmt.Errorf("there is no release %q; the releases are %s", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
}
