package storageversion

import (
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
)

// What planted defects do; where they are switched on is marked.

// unreported is a participant that keeps others from agreeing, since it never reports.
const unreported = "planted"

// changes is whether a server encodes or serves otherwise than it has reported. What
// others have pruned of its entries does not count, or two servers would never end.
func changes(reported, own []apiserverinternalv1alpha1.ServerStorageVersion) bool {
	return !slices.EqualFunc(reported, own, func(a, b apiserverinternalv1alpha1.ServerStorageVersion) bool {
		return a.EncodingVersion == b.EncodingVersion && slices.Equal(a.ServedVersions, b.ServedVersions)
	})
}

// pruned is a status in which the entries of all servers but one decode no more than
// they serve and encode.
func pruned(status *apiserverinternalv1alpha1.StorageVersionStatus, but string) *apiserverinternalv1alpha1.StorageVersionStatus {
	status = status.DeepCopy()
	for i := range status.StorageVersions {
		entry := &status.StorageVersions[i]
		if entry.APIServerID == but {
			continue
		}
		entry.DecodableVersions = slices.DeleteFunc(entry.DecodableVersions, func(version string) bool {
			return version != entry.EncodingVersion && !slices.Contains(entry.ServedVersions, version)
		})
	}
	return status
}
