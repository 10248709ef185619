package storageversion

import (
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
)

// Action is what a collector does with an object.
type Action string

// The actions of a collector.
const (
	// Keep: the object is right as it is.
	Keep Action = "keep"
	// Update: the object gets a new status.
	Update Action = "update"
	// Delete: the object is garbage.
	Delete Action = "delete"
)

// Collection is the decision about one object.
type Collection struct {
	Action Action
	// Status is what to write, for Update.
	Status apiserverinternalv1alpha1.StorageVersionStatus
	// Recheck is when to look again although nothing changed; 0 for never.
	Recheck time.Duration
}

// Collector is a function that decides as Collect does.
type Collector func(sv *apiserverinternalv1alpha1.StorageVersion, participants Participants, now time.Time) Collection

// Collect decides whether the collector keeps, updates or deletes an object, given the
// participants that were read after it.
//
// KEP-2339: entries of servers that do not take part are removed; then the
// agreed version and the condition are set again; an object without entries is
// deleted. Collect sets the agreement again even if no entry was stale, because a
// server that just joined forbids it until it has reported.
//
// Collect keeps an object that has never had an entry for a while: the API server that
// created it is about to report.
func Collect(sv *apiserverinternalv1alpha1.StorageVersion, participants Participants, now time.Time) Collection {
	entries := make([]apiserverinternalv1alpha1.ServerStorageVersion, 0, len(sv.Status.StorageVersions))
	for i := range sv.Status.StorageVersions {
		entry := sv.Status.StorageVersions[i]
		if participants.Has(entry.APIServerID) {
			entries = append(entries, entry)
		}
	}
	if len(entries) == 0 {
		age := now.Sub(sv.CreationTimestamp.Time)
		if len(sv.Status.StorageVersions) == 0 && age < EmptyGrace {
			return Collection{Action: Keep, Recheck: EmptyGrace - age}
		}
		return Collection{Action: Delete}
	}
	status := settle(&sv.Status, entries, participants, now)
	if sameStatus(&sv.Status, &status) {
		return Collection{Action: Keep}
	}
	return Collection{Action: Update, Status: status}
}
