package migration

import (
	"slices"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Unknown is a persisted version that means any version: the controller did not watch
// from the beginning, or missed changes.
const Unknown = "Unknown"

// State is what is remembered of a resource from one migration to the next: the
// KEP's generations, and in which versions objects may be stored.
type State struct {
	// Generation counts the created migrations. KEP-25: incrementing it triggers a
	// migration, and the reason is given.
	Generation int64  `json:"generation"`
	Reason     string `json:"reason,omitempty"`
	// ObservedGeneration is the last one for which a worker was launched,
	// CompletedGeneration the greatest one whose worker has completed.
	ObservedGeneration  int64 `json:"observedGeneration"`
	CompletedGeneration int64 `json:"completedGeneration"`

	// Persisted are the versions that objects may be stored in, sorted.
	Persisted []string `json:"persisted"`

	// UID, ResourceVersion, Agreed and Transition are those of the StorageVersion
	// when it was last looked at. Agreed is empty where there was no agreement.
	UID             types.UID   `json:"uid,omitempty"`
	ResourceVersion string      `json:"resourceVersion,omitempty"`
	Agreed          string      `json:"agreed,omitempty"`
	Transition      metav1.Time `json:"transition,omitzero"`

	// StoppedAt is when the last migration failed or was aborted, StoppedFor the
	// resourceVersion of the StorageVersion at that time.
	StoppedAt  metav1.Time `json:"stoppedAt,omitzero"`
	StoppedFor string      `json:"stoppedFor,omitempty"`
}

// Observe adds the versions in an object: every server may store objects in the version
// that it has announced. watched means that the previous observation was of the previous
// revision. Otherwise agreements may have changed in between, and if the transition time
// shows that they did, objects may be stored in any version.
func (s State) Observe(sv *apiserverinternalv1alpha1.StorageVersion, watched bool) State {
	var transition metav1.Time
	for i := range sv.Status.Conditions {
		if sv.Status.Conditions[i].Type == apiserverinternalv1alpha1.AllEncodingVersionsEqual {
			transition = sv.Status.Conditions[i].LastTransitionTime
		}
	}
	agreed := ""
	if sv.Status.CommonEncodingVersion != nil {
		agreed = *sv.Status.CommonEncodingVersion
	}
	var versions []string
	for i := range sv.Status.StorageVersions {
		versions = append(versions, sv.Status.StorageVersions[i].EncodingVersion)
	}
	switch {
	case s.ResourceVersion == "":
		versions = append(versions, Unknown)
	case s.UID == sv.UID && s.ResourceVersion == sv.ResourceVersion:
	case s.UID != sv.UID,
		!watched && !s.Transition.Equal(&transition),
		// An agreement on the same version as before, but not the same agreement:
		// the versions between them are unknown.
		s.Agreed != "" && s.Agreed == agreed && !s.Transition.Equal(&transition):
		versions = append(versions, Unknown)
	}
	s.Persisted = union(s.Persisted, versions)
	s.UID, s.ResourceVersion, s.Agreed, s.Transition = sv.UID, sv.ResourceVersion, agreed, transition
	return s
}

// Settled reports whether everything is stored in one version.
func (s State) Settled(version string) bool {
	return len(s.Persisted) == 1 && s.Persisted[0] == version
}

// Asked returns the state after another migration was created.
func (s State) Asked(reason string) State {
	s.Generation++
	s.Reason = reason
	return s
}

// Launched is the state after a worker was launched for a generation.
func (s State) Launched(generation int64) State {
	s.Generation = max(s.Generation, generation)
	s.ObservedGeneration = max(s.ObservedGeneration, generation)
	return s
}

// Completed returns the state after the migration of a generation has succeeded on a
// basis. Versions that were announced after the basis stay possible.
func (s State) Completed(generation int64, basis Basis) State {
	s = s.Launched(generation)
	s.CompletedGeneration = max(s.CompletedGeneration, generation)
	if s.UID == basis.UID && s.ResourceVersion == basis.ResourceVersion {
		s.Persisted = []string{basis.Version}
	}
	s.StoppedAt, s.StoppedFor = metav1.Time{}, ""
	return s
}

// Stopped is the state after a migration failed or was aborted.
func (s State) Stopped(now time.Time) State {
	s.StoppedAt, s.StoppedFor = metav1.NewTime(now).Rfc3339Copy(), s.ResourceVersion
	return s
}

// resting reports whether it is too early for another automatic migration.
func (s State) resting(now time.Time) bool {
	return !s.StoppedAt.IsZero() && s.StoppedFor == s.ResourceVersion && now.Before(s.StoppedAt.Add(AutomaticRetry))
}

// singleVersion reports whether there is only one version that servers can read
// or write a resource in, so that no object can be stored in another one.
//
// KEP-25: the migration of such a resource is short-circuited.
func singleVersion(sv *apiserverinternalv1alpha1.StorageVersion, definition *Definition, basis Basis) bool {
	for i := range sv.Status.StorageVersions {
		if entry := &sv.Status.StorageVersions[i]; len(entry.DecodableVersions) != 1 || entry.DecodableVersions[0] != basis.Version {
			return false
		}
	}
	return definition == nil || len(definition.Versions) == 1 && len(definition.Stored) <= 1
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
