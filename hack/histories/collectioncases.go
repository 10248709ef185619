package main

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// collectionCases are how the story of collection is changed.
var collectionCases = []testCase{
	{
		id: "SV-16", reads: collection,
		fails: "reference.evenkeel.dev.ballasts still has an entry of apiserver-cp3",
		fail: func(e *edit) {
			// The collector forgets one object.
			e.dropAt(e.departed(ballastVersions))
		},
		why:  "saw 0 agreements that were formed when the entry of a departed server went, and needs at least 1",
		weak: func(e *edit) { e.stopAt(e.departed(ballastVersions)) },
	},
	{
		id: "SV-18", reads: collection,
		fails: ghostsName + " lost its last entry, and was not removed",
		fail: func(e *edit) {
			// It writes the object without entries and leaves it there.
			s := e.events[e.find(1, gone(ghostsName))].Stored
			s.Type, s.StorageVersion = history.StoredPut, &history.StorageVersion{}
		},
		why:  "saw 0 StorageVersions removed that nobody who takes part had an entry in, and needs at least 1",
		weak: func(e *edit) { e.drop(about(ghostsName)) },
	},
}

// collection is what the checks of collection read.
var collection = either(managers, kinds(history.KindProcess), versions, joins, leadership, deletions, lastRenewal)

func managers(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentControllerManager
}

func leadership(ev *history.Event) bool {
	return leases(ev) && strings.HasSuffix(ev.Stored.Key, "/kube-controller-manager")
}

// deletions are of any key.
func deletions(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.Type == history.StoredDelete
}

// about fits all changes of a StorageVersion.
func about(name string) keep {
	return func(ev *history.Event) bool {
		return ev.Stored != nil && ev.Stored.Key == "/registry/storageversions/"+name
	}
}

func gone(name string) keep { return both(about(name), deletions) }

// departed finds the first event that fits after an identity Lease was deleted.
func (e *edit) departed(fits keep) int {
	left := e.find(1, func(ev *history.Event) bool { return deletions(ev) && strings.Contains(ev.Stored.Key, "/leases/") })
	return e.find(1, func(ev *history.Event) bool { return ev.At > e.events[left].At && fits(ev) })
}

// dropAt leaves the event at i out.
func (e *edit) dropAt(i int) { e.events = append(e.events[:i], e.events[i+1:]...) }

// lastRenewal is what shows that time has passed at the end.
func lastRenewal(ev *history.Event) bool {
	return leases(ev) && ev.At > int64(40_000)*ms
}
