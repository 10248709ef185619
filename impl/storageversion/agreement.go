package storageversion

import (
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
)

// agreedVersion is the version that all participants store the resource in, or
// nil if there is none.
//
// KEP-2339: the agreed version is set when all participating servers agree on
// one version, and is left empty otherwise. So it takes at least one entry, all
// entries equal, and an entry of each participant, except of those that are
// fully registered without one: they do not host the resource. A participant
// that has neither may be about to report another version.
func agreedVersion(entries []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants) *string {
	if len(entries) == 0 {
		return nil
	}
	agreed := entries[0].EncodingVersion
	reported := make(map[string]bool, len(entries))
	for i := range entries {
		if entries[i].EncodingVersion != agreed {
			return nil
		}
		reported[entries[i].APIServerID] = true
	}
	for id, registered := range participants {
		if !reported[id] && !registered {
			return nil
		}
	}
	return &agreed
}
