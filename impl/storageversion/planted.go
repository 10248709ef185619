package storageversion

import (
	"context"
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/impl/defects"
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

// plantedConflict comes after a report that met another writer.
func (m *Manager) plantedConflict(ctx context.Context, client kubernetes.Interface, name string) {
	if m.config.Defects.Has(defects.SV10WaitsForQuiet) {
		m.awaitQuiet(ctx, client, name) // defect: SV-10-waits-for-quiet
	}
	if m.config.Defects.Has(defects.SV10RegistersLate) {
		m.wait(ctx, m.started.Add(m.config.Defects.Delay(defects.SV10RegistersLate)).Sub(m.config.Clock.Now())) // defect: SV-10-registers-late
	}
}

// awaitQuiet waits until an object has not changed for a while, for a planted
// defect.
func (m *Manager) awaitQuiet(ctx context.Context, client kubernetes.Interface, name string) {
	for before := ""; ; {
		sv, err := client.InternalV1alpha1().StorageVersions().Get(ctx, name, metav1.GetOptions{})
		if err == nil && sv.ResourceVersion == before || !m.wait(ctx, quietWindow) {
			return
		}
		if err == nil {
			before = sv.ResourceVersion
		}
	}
}
