package storageversion

import (
	"fmt"
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"

	"github.com/evenkeel/evenkeel/impl/defects"
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
	if errs := ValidateName(r.Name(), nil); len(errs) > 0 {
		return fmt.Errorf("resource %q of group %q: %w", r.Resource, r.Group, errs.ToAggregate())
	}
	entry := entryOf("server", r, nil)
	if errs := ValidateStatus(&apiserverinternalv1alpha1.StorageVersionStatus{
		StorageVersions: []apiserverinternalv1alpha1.ServerStorageVersion{entry},
	}, nil); len(errs) > 0 {
		return fmt.Errorf("resource %s: %w", r.Name(), errs.ToAggregate())
	}
	return nil
}

// entryOf is what a server reports of a resource. Versions are sorted, so that
// equal content always looks equal.
func entryOf(serverID string, r Resource, d defects.Set) apiserverinternalv1alpha1.ServerStorageVersion {
	entry := apiserverinternalv1alpha1.ServerStorageVersion{
		APIServerID:       serverID,
		EncodingVersion:   r.Encoding,
		DecodableVersions: slices.Sorted(slices.Values(r.Decodable)),
		ServedVersions:    slices.Sorted(slices.Values(r.Served)),
	}
	if d.Has(defects.SV05ServesMore) {
		entry.ServedVersions = slices.Clone(entry.DecodableVersions) // defect: SV-05-serves-more
	}
	return entry
}

// report is what a server wants to see in one object: its own entries.
type report struct {
	name    string
	entries []apiserverinternalv1alpha1.ServerStorageVersion
}

// reportsOf is what a server publishes about a resource: one entry in one object.
func reportsOf(serverID string, r Resource, d defects.Set) []report {
	if d.Has(defects.SV01SkipsAResource) && r.Group == "" && r.Resource == "secrets" {
		return nil // defect: SV-01-skips-a-resource
	}
	entries := []apiserverinternalv1alpha1.ServerStorageVersion{entryOf(serverID, r, d)}
	if d.Has(defects.SV03DuplicateEntry) {
		entries = append(entries, *entries[0].DeepCopy()) // defect: SV-03-duplicate-entry
	}
	reports := []report{{name: r.Name(), entries: entries}}
	if d.Has(defects.SV02NamelessCore) && r.Group == "" {
		reports = append(reports, report{name: r.Resource, entries: entries}) // defect: SV-02-nameless-core
	}
	return reports
}
