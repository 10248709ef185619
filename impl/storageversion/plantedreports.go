package storageversion

import (
	"maps"
	"slices"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// plantReports has a server report something else, or merge it into something else.
func (m *Manager) plantReports() {
	d, id := m.config.Defects, m.config.ServerID
	m.decide.reports = func(serverID string, r Resource) []report { return plantedReports(serverID, r, d) }
	m.decide.sees = func(old *apiserverinternalv1alpha1.StorageVersionStatus, own []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants, why occasion) (*apiserverinternalv1alpha1.StorageVersionStatus, Participants) {
		participants = maps.Clone(participants)
		if d.Has(defects.SV11LateJoin) && !participants.Has(id) {
			participants[id] = false // defect: SV-11-late-join
		}
		if why == upkeep && (d.Has(defects.SV16NeverCollects) || d.Has(defects.SV16CollectsLate)) || d.Has(defects.SV17KeepsStaleAtBoot) {
			participants = withReported(participants, old) // defect: SV-16-never-collects, SV-17-keeps-stale-at-boot
		}
		if d.Has(defects.SV09PrunesOthers) && why == boot && changes(ownEntries(old, id), own) {
			old = pruned(old, id) // defect: SV-09-prunes-others
		}
		if d.Has(defects.SV08CountsReportedOnly) {
			participants = onlyReported(participants, old, id) // defect: SV-08-counts-reported-only
		}
		if d.Has(defects.SV06AgreesLate) && old.CommonEncodingVersion == nil {
			participants[unreported] = false // defect: SV-06-agrees-late
		}
		return old, participants
	}
	if d.Has(defects.SV06InvertedCondition) {
		soundly := m.decide.merge
		m.decide.merge = func(old *apiserverinternalv1alpha1.StorageVersionStatus, serverID string, own []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants, now time.Time) apiserverinternalv1alpha1.StorageVersionStatus {
			return inverted(soundly(righted(old), serverID, own, participants, now)) // defect: SV-06-inverted-condition
		}
	}
}

// plantedReports are what a server publishes about a resource with the defects.
func plantedReports(serverID string, r Resource, d defects.Set) []report {
	if d.Has(defects.SV01SkipsAResource) && r.Group == "" && r.Resource == "secrets" {
		return nil // defect: SV-01-skips-a-resource
	}
	reports := reportsOf(serverID, r)
	entries := reports[0].entries
	if d.Has(defects.SV05ServesMore) {
		entries[0].ServedVersions = slices.Clone(entries[0].DecodableVersions) // defect: SV-05-serves-more
	}
	if d.Has(defects.SV03DuplicateEntry) {
		entries = append(entries, *entries[0].DeepCopy())
		reports[0].entries = entries // defect: SV-03-duplicate-entry
	}
	if d.Has(defects.SV02NamelessCore) && r.Group == "" {
		reports = append(reports, report{name: r.Resource, entries: entries}) // defect: SV-02-nameless-core
	}
	return reports
}

// withReported are the participants and all servers that have an entry.
func withReported(participants Participants, status *apiserverinternalv1alpha1.StorageVersionStatus) Participants {
	all := maps.Clone(participants)
	for i := range status.StorageVersions {
		if id := status.StorageVersions[i].APIServerID; !all.Has(id) {
			all[id] = true
		}
	}
	return all
}

// onlyReported are the participants that have an entry, and one more.
func onlyReported(participants Participants, status *apiserverinternalv1alpha1.StorageVersionStatus, more string) Participants {
	reported := Participants{}
	for id, registered := range participants {
		if id == more || len(ownEntries(status, id)) > 0 {
			reported[id] = registered
		}
	}
	return reported
}

// inverted is a status whose condition says the opposite of the agreed version.
func inverted(status apiserverinternalv1alpha1.StorageVersionStatus) apiserverinternalv1alpha1.StorageVersionStatus {
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		switch {
		case !ours(*condition):
		case status.CommonEncodingVersion != nil:
			condition.Status, condition.Reason, condition.Message = apiserverinternalv1alpha1.ConditionFalse, ReasonNotAgreed, messageNotAgreed
		default:
			condition.Status, condition.Reason, condition.Message = apiserverinternalv1alpha1.ConditionTrue, ReasonAgreed, messageAgreed
		}
	}
	return status
}

// righted is a status whose condition says what the agreed version does.
func righted(status *apiserverinternalv1alpha1.StorageVersionStatus) *apiserverinternalv1alpha1.StorageVersionStatus {
	status = status.DeepCopy()
	for i := range status.Conditions {
		if condition := &status.Conditions[i]; ours(*condition) {
			right := conditionFor(status.StorageVersions, status.CommonEncodingVersion)
			condition.Status, condition.Reason, condition.Message = right.Status, right.Reason, right.Message
		}
	}
	return status
}

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
