package migration

import (
	"fmt"
	"strings"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
)

// Trigger is whether the controller starts a migration of a resource automatically.
type Trigger string

// What there is to do about a resource.
const (
	// Nothing: everything is stored in the agreed version, as far as is known, or
	// a migration is under way.
	Nothing Trigger = "nothing"
	// Await: the servers do not agree, or it is too early after a failure.
	Await Trigger = "await"
	// ShortCircuit: there is only one version, so that nothing needs rewriting.
	ShortCircuit Trigger = "short-circuit"
	// Begin: a migration is due.
	Begin Trigger = "begin"
)

// Decide whether a resource is to be migrated. definition is nil unless it is a
// custom one; underWay is whether a migration of it is not finished.
//
// KEP-2339: a migration is started if the agreed version differs from what is
// persisted.
func Decide(state State, sv *apiserverinternalv1alpha1.StorageVersion, definition *Definition, underWay bool, now time.Time) (Trigger, string) {
	basis, agreed := BasisOf(sv)
	switch {
	case !agreed || !definition.Follows(basis):
		return Await, "the servers have not agreed on a storage version"
	case state.Settled(basis.Version) && !definition.leftovers():
		return Nothing, ""
	case underWay:
		return Nothing, ""
	case singleVersion(sv, definition, basis):
		return ShortCircuit, fmt.Sprintf("%s is the only version", basis.Version)
	case state.resting(now):
		return Await, fmt.Sprintf("the last migration was stopped at %s", state.StoppedAt.UTC().Format(time.RFC3339))
	}
	return Begin, fmt.Sprintf("the agreed version is %s, objects may be stored as %s", basis.Version, strings.Join(state.Persisted, ", "))
}

// leftovers reports whether a definition still names other versions than the one
// that is stored now.
func (d *Definition) leftovers() bool {
	if d == nil {
		return false
	}
	for _, version := range d.Stored {
		if version != d.Storage {
			return true
		}
	}
	return false
}
