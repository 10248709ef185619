package migration

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Definition is what matters of a CustomResourceDefinition.
type Definition struct {
	Group string
	// Generation moves when the specification changes.
	Generation int64
	// Storage is the version that objects are to be stored in; Versions are all
	// that there are. Both without group.
	Storage  string
	Versions []string
	// Stored are the versions that objects may be stored in.
	Stored []string
}

// encoding is the storage version as objects name it.
func (d Definition) encoding() string {
	return schema.GroupVersion{Group: d.Group, Version: d.Storage}.String()
}

// Follows reports whether the servers agree on what the definition says. When it
// has just changed they may still agree on what it said before.
func (d *Definition) Follows(basis Basis) bool { return d == nil || d.encoding() == basis.Version }

// Trim is what storedVersions becomes after a migration to basis has succeeded
// that began at a generation of the definition. It is false if nothing may be
// trimmed: the definition changed meanwhile, so objects may have been stored in
// yet another version, or there is nothing to trim.
//
// Only the one version is left that etcd holds after a success, and it is among
// those that were listed; so the list never names less than what is stored.
func (d *Definition) Trim(basis Basis, generation int64) ([]string, bool) {
	if d == nil || d.Generation != generation || !d.Follows(basis) || !slices.Contains(d.Stored, d.Storage) || len(d.Stored) == 1 {
		return nil, false
	}
	return []string{d.Storage}, true
}
