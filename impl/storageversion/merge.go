package storageversion

import (
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// merge is the status that a server writes to report its entries.
//
// KEP-2339: a server creates or replaces its own entry, removes the entries of
// servers that are not participants, and sets the agreed version and the
// condition accordingly. Its entry keeps its place and those of others are left
// as they are, so that reporting the same again changes nothing. Without own
// entries the server takes its report back.
func merge(old *apiserverinternalv1alpha1.StorageVersionStatus, serverID string, own []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants, now time.Time) apiserverinternalv1alpha1.StorageVersionStatus {
	entries := make([]apiserverinternalv1alpha1.ServerStorageVersion, 0, len(old.StorageVersions)+len(own))
	placed := false
	place := func() {
		if !placed {
			entries = append(entries, own...)
		}
		placed = true
	}
	for i := range old.StorageVersions {
		entry := &old.StorageVersions[i]
		switch {
		case entry.APIServerID == serverID:
			place()
		case participants.Has(entry.APIServerID):
			entries = append(entries, *entry)
		}
	}
	place()
	return settle(old, entries, participants, now)
}

// settle completes entries to a status.
func settle(old *apiserverinternalv1alpha1.StorageVersionStatus, entries []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants, now time.Time) apiserverinternalv1alpha1.StorageVersionStatus {
	agreed := agreedVersion(entries, participants)
	status := apiserverinternalv1alpha1.StorageVersionStatus{
		StorageVersions:       entries,
		CommonEncodingVersion: agreed,
		Conditions:            withCondition(old, entries, agreed, now),
	}
	return *status.DeepCopy()
}

// sameStatus reports whether writing b over a changes nothing. The server skips such a
// write: the resourceVersion of the object shows consumers whether its reports have
// changed.
func sameStatus(a, b *apiserverinternalv1alpha1.StorageVersionStatus) bool {
	return apiequality.Semantic.DeepEqual(a, b)
}

// ownEntries are the entries that a server has in a status.
func ownEntries(status *apiserverinternalv1alpha1.StorageVersionStatus, serverID string) []apiserverinternalv1alpha1.ServerStorageVersion {
	var own []apiserverinternalv1alpha1.ServerStorageVersion
	for i := range status.StorageVersions {
		if status.StorageVersions[i].APIServerID == serverID {
			own = append(own, status.StorageVersions[i])
		}
	}
	return own
}

// damaged reports whether an object does not contain the server's report.
func damaged(status *apiserverinternalv1alpha1.StorageVersionStatus, serverID string, want []apiserverinternalv1alpha1.ServerStorageVersion) bool {
	return !apiequality.Semantic.DeepEqual(ownEntries(status, serverID), want)
}
