package storageversion

import (
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// PlantCollect gives how a collector decides with the defects of a set.
func PlantCollect(d defects.Set) Collector {
	if len(d) == 0 {
		return Collect
	}
	return func(sv *apiserverinternalv1alpha1.StorageVersion, participants Participants, now time.Time) Collection {
		if d.Has(defects.SV16NeverCollects) {
			participants = withReported(participants, &sv.Status) // defect: SV-16-never-collects
		}
		if d.Has(defects.SV08CountsReportedOnly) {
			participants = onlyReported(participants, &sv.Status, "") // defect: SV-08-counts-reported-only
		}
		decision := collectInverted(sv, participants, now, d)
		if decision.Action == Delete && d.Has(defects.SV18KeepsEmpty) {
			decision = writing(sv, settle(&sv.Status, nil, participants, now)) // defect: SV-18-keeps-empty
		}
		if decision.Action != Update {
			return decision
		}
		entries := decision.Status.StorageVersions
		if len(entries) == len(sv.Status.StorageVersions) && d.Has(defects.SV08DeafToJoining) {
			return Collection{Action: Keep} // defect: SV-08-deaf-to-joining
		}
		if d.Has(defects.SV16KeepsDisagreement) && sv.Status.CommonEncodingVersion == nil {
			status := *sv.Status.DeepCopy()
			status.StorageVersions = entries
			return writing(sv, status) // defect: SV-16-keeps-disagreement
		}
		return decision
	}
}

// writing is the decision to give an object a status, unless it has that already.
func writing(sv *apiserverinternalv1alpha1.StorageVersion, status apiserverinternalv1alpha1.StorageVersionStatus) Collection {
	if sameStatus(&sv.Status, &status) {
		return Collection{Action: Keep}
	}
	return Collection{Action: Update, Status: status}
}

// collectInverted decides as Collect does, with the condition that the defect writes.
func collectInverted(sv *apiserverinternalv1alpha1.StorageVersion, participants Participants, now time.Time, d defects.Set) Collection {
	if !d.Has(defects.SV06InvertedCondition) {
		return Collect(sv, participants, now)
	}
	right := sv.DeepCopy()
	right.Status = *righted(&sv.Status)
	decision := Collect(right, participants, now)
	switch {
	case decision.Action == Update:
		return writing(sv, inverted(decision.Status)) // defect: SV-06-inverted-condition
	case decision.Action == Keep && len(sv.Status.StorageVersions) > 0:
		return writing(sv, inverted(*right.Status.DeepCopy()))
	}
	return decision
}
