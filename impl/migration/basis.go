package migration

import (
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Basis is the agreement that a migration rests on.
type Basis struct {
	// UID and ResourceVersion of the StorageVersion object. The latter moves if
	// and only if what the object reports changes.
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
	// Version is what all participating servers store, as objects name it in
	// apiVersion.
	Version string `json:"version"`
}

// BasisOf is the agreement that an object reports; it is false where there is
// none.
//
// KEP-25: a migration must start after all servers have agreed.
func BasisOf(sv *apiserverinternalv1alpha1.StorageVersion) (Basis, bool) {
	if sv == nil || sv.Status.CommonEncodingVersion == nil {
		return Basis{}, false
	}
	return Basis{UID: sv.UID, ResourceVersion: sv.ResourceVersion, Version: *sv.Status.CommonEncodingVersion}, true
}

// Standing is what has become of a basis.
type Standing string

// The standings of a basis.
const (
	// Holds: nothing has changed.
	Holds Standing = "holds"
	// Moved: the same version is agreed on, but the agreement may have been
	// interrupted; the objects must be gone through again.
	Moved Standing = "moved"
	// Lost: there is no agreement, or it is on another version.
	Lost Standing = "lost"
)

// Precedes reports whether an object is certainly of a later revision than the
// basis. A watch may show older ones after the basis was read.
func (b Basis) Precedes(sv *apiserverinternalv1alpha1.StorageVersion) bool {
	order, err := resourceversion.CompareResourceVersion(b.ResourceVersion, sv.ResourceVersion)
	return err == nil && order < 0
}

// Check compares a basis with the object as it is now; nil means that there is
// none.
//
// KEP-2339: a migration is aborted if the agreed version is empty; comparing the
// resourceVersion before and after shows whether the storage version changed in the
// middle of a migration.
func (b Basis) Check(sv *apiserverinternalv1alpha1.StorageVersion) Standing {
	now, agreed := BasisOf(sv)
	switch {
	case !agreed || now.Version != b.Version:
		return Lost
	case now != b:
		return Moved
	}
	return Holds
}
