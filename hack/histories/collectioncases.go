package main

import (
	"slices"
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
		id: "SV-17", reads: either(collection, kinds(history.KindReady)),
		fails: "cp2 was ready at revision",
		fail: func(e *edit) {
			// It is ready before it has come to one object.
			last := e.last(ballastVersions)
			late := e.events[last]
			e.dropAt(last)
			ready := e.last(kinds(history.KindReady))
			s := *late.Stored
			s.Revision = e.events[ready].Ready.Revision + 1
			late.Stored = &s
			e.insert(e.last(looks), late)
		},
		why: "saw 0 stale entries that a server found as it started, with no controller manager and no other API server there, and needs at least 5",
		weak: func(e *edit) {
			// The other API server was there all the time.
			e.dropAt(e.last(both(kinds(history.KindProcess), of("cp1"), apiservers)))
		},
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
	{
		id: "SV-19", reads: either(collection, kinds(history.KindExchange, history.KindFault), reports, looks),
		fails: "the removal of " + racesName + " took the entry of apiserver-evenkeel-visitor away",
		fail: func(e *edit) {
			// It deletes whatever is there by then.
			answered := e.find(1, exchanged("DELETE"))
			x := *e.events[answered].Exchange
			x.Code = 200
			e.events[answered].Exchange = &x
			cleaned := e.find(3, both(about(racesName), filled))
			s := *e.events[cleaned].Stored
			s.Type, s.APIVersion, s.ObjectKind, s.StorageVersion = history.StoredDelete, "", "", nil
			e.events[cleaned].Stored = &s
		},
		why:  "saw 0 removals by a collector that were held back until a participant had put its entry in, and needs at least 1",
		weak: func(e *edit) { e.drop(exchanged("DELETE")) },
	},
	{
		id: "SV-20", reads: either(collection, kinds(history.KindExchange, history.KindFault), looks),
		fails: configName + " lost the entry of apiserver-evenkeel-visitor, which takes part",
		fail: func(e *edit) {
			// It takes a failure for a sign that a server has gone.
			cleaned := e.find(1, func(ev *history.Event) bool {
				return about(configName)(ev) && ev.At > e.events[e.last(exchanged("GET"))].At
			})
			sv := clone(e.events[cleaned].Stored.StorageVersion)
			sv.Entries = sv.Entries[:len(sv.Entries)-1]
			s := *e.events[cleaned].Stored
			s.StorageVersion = sv
			e.events[cleaned].Stored = &s
		},
		why:  "saw 0 look-ups of identity Leases by a controller manager that failed, and needs at least 5",
		weak: func(e *edit) { e.drop(exchanged("GET")) },
	},
}

// reports are the answers to entries that the harness puts in.
func reports(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Resource == "storageversions/status" && ev.Request.Class == history.ClassGuarded
}

// filled fits revisions with entries.
func filled(ev *history.Event) bool {
	return versions(ev) && len(ev.Stored.StorageVersion.Entries) > 0
}

func exchanged(method string) keep {
	return func(ev *history.Event) bool { return ev.Exchange != nil && ev.Exchange.Method == method }
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

// about fits all changes of StorageVersions.
func about(names ...string) keep {
	return func(ev *history.Event) bool {
		if ev.Stored == nil {
			return false
		}
		name, is := strings.CutPrefix(ev.Stored.Key, "/registry/storageversions/")
		return is && slices.Contains(names, name)
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

func apiservers(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentAPIServer
}

// last finds the last event that fits.
func (e *edit) last(fits keep) int {
	for i := len(e.events) - 1; i >= 0; i-- {
		if fits(&e.events[i]) {
			return i
		}
	}
	panic("the story has no such event")
}
