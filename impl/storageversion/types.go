package storageversion

import (
	"fmt"
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
)

// Resource is a persisted resource that a server hosts. Versions are written as
// stored objects name them in apiVersion: "v1", "apps/v1".
type Resource struct {
	// Group is empty for the core group.
	Group    string
	Resource string
	// Encoding is the version that the server stores objects in.
	Encoding string
	// Decodable are the versions that it can read from storage.
	Decodable []string
	// Served are the versions that clients can use.
	Served []string
}

// Name is the name of the object that describes the resource.
func (r Resource) Name() string { return Name(r.Group, r.Resource) }

// validate checks a resource by the rules that its entry has to meet.
func (r Resource) validate() error {
	if errs := ValidateName(r.Name()); len(errs) > 0 {
		return fmt.Errorf("resource %q of group %q: %w", r.Resource, r.Group, errs.ToAggregate())
	}
	entry := entryOf("server", r)
	if errs := ValidateStatus(&apiserverinternalv1alpha1.StorageVersionStatus{
		StorageVersions: []apiserverinternalv1alpha1.ServerStorageVersion{entry},
	}); len(errs) > 0 {
		return fmt.Errorf("resource %s: %w", r.Name(), errs.ToAggregate())
	}
	return nil
}

// entryOf is what a server reports of a resource. Versions are sorted, so that
// equal content always looks equal.
func entryOf(serverID string, r Resource) apiserverinternalv1alpha1.ServerStorageVersion {
	return apiserverinternalv1alpha1.ServerStorageVersion{
		APIServerID:       serverID,
		EncodingVersion:   r.Encoding,
		DecodableVersions: slices.Sorted(slices.Values(r.Decodable)),
		ServedVersions:    slices.Sorted(slices.Values(r.Served)),
	}
}

// report is what a server wants to see in one object: its own entries.
type report struct {
	name    string
	entries []apiserverinternalv1alpha1.ServerStorageVersion
}

// reportsOf is what a server publishes about a resource: one entry in one object.
func reportsOf(serverID string, r Resource) []report {
	return []report{{name: r.Name(), entries: []apiserverinternalv1alpha1.ServerStorageVersion{entryOf(serverID, r)}}}
}
