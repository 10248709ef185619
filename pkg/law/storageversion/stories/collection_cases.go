package stories

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// collectionCases are how the story of collection is changed.
var collectionCases = []story.Case{
	{
		Requirement: "SV-16", Reads: collection,
		Fail: func(e *story.Edit) {
			// The collector forgets one object.
			e.DropAt(findAfterDeparture(e, story.BallastVersionWrites))
		},
		Weak: func(e *story.Edit) { e.StopAt(findAfterDeparture(e, story.BallastVersionWrites)) },
	},
	{
		Requirement: "SV-17", Reads: story.AnyOf(collection, story.OfKind(history.KindReady)),
		Fail: func(e *story.Edit) {
			// It is ready before it has come to one object.
			last := e.FindLast(story.BallastVersionWrites)
			late := e.Events[last]
			e.DropAt(last)
			ready := e.FindLast(story.OfKind(history.KindReady))
			s := *late.Stored
			s.Revision = e.Events[ready].Ready.Revision + 1
			late.Stored = &s
			e.InsertAfter(e.FindLast(story.DiscoveryReads), late)
		},
		Weak: func(e *story.Edit) {
			// The other API server was there all the time.
			e.DropAt(e.FindLast(story.AllOf(story.OfKind(history.KindProcess), story.OfMember("cp1"), apiservers)))
		},
	},
	{
		Requirement: "SV-18", Reads: collection,
		Fail: func(e *story.Edit) {
			// It writes the object without entries and leaves it there.
			s := e.Events[e.Find(1, deletionsOf(ghostsName))].Stored
			s.Type, s.StorageVersion = history.StoredPut, &history.StorageVersion{}
		},
		Weak: func(e *story.Edit) { e.Drop(about(ghostsName)) },
	},
	{
		Requirement: "SV-19", Reads: story.AnyOf(collection, story.OfKind(history.KindInterceptedRequest, history.KindFault), reports, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// It deletes whatever is there by then.
			answered := e.Find(1, exchanged("DELETE"))
			x := *e.Events[answered].InterceptedRequest
			x.Code = 200
			e.Events[answered].InterceptedRequest = &x
			cleaned := e.Find(3, story.AllOf(about(racesName), withEntries))
			s := *e.Events[cleaned].Stored
			s.Type, s.APIVersion, s.ObjectKind, s.StorageVersion = history.StoredDelete, "", "", nil
			e.Events[cleaned].Stored = &s
		},
		Weak: func(e *story.Edit) { e.Drop(exchanged("DELETE")) },
	},
	{
		Requirement: "SV-20", Reads: story.AnyOf(collection, story.OfKind(history.KindInterceptedRequest, history.KindFault), story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// It takes a failure for a sign that a server has gone.
			cleaned := e.Find(1, func(ev *history.Event) bool {
				return about(configName)(ev) && ev.At > e.Events[e.FindLast(exchanged("GET"))].At
			})
			sv := story.CloneStorageVersion(e.Events[cleaned].Stored.StorageVersion)
			sv.Entries = sv.Entries[:len(sv.Entries)-1]
			s := *e.Events[cleaned].Stored
			s.StorageVersion = sv
			e.Events[cleaned].Stored = &s
		},
		Weak: func(e *story.Edit) { e.Drop(exchanged("GET")) },
	},
}

// reports are the answers to entries that the harness puts in.
func reports(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Resource == "storageversions/status" && ev.Request.Class == history.ClassGuarded
}

// withEntries fits revisions with entries.
func withEntries(ev *history.Event) bool {
	return story.StorageVersionWrites(ev) && len(ev.Stored.StorageVersion.Entries) > 0
}

func exchanged(method string) story.Match {
	return func(ev *history.Event) bool {
		return ev.InterceptedRequest != nil && ev.InterceptedRequest.Method == method
	}
}

// collection is what the checks of collection read.
var collection = story.AnyOf(managerProcesses, story.OfKind(history.KindProcess), story.StorageVersionWrites, story.IdentitiesCreated, leadership, story.Deletions, lastRenewal)

func managerProcesses(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentControllerManager
}

func leadership(ev *history.Event) bool {
	return story.LeaseWrites(ev) && strings.HasSuffix(ev.Stored.Key, "/kube-controller-manager")
}

// about fits all changes of StorageVersions.
func about(names ...string) story.Match {
	return func(ev *history.Event) bool {
		if ev.Stored == nil {
			return false
		}
		name, is := strings.CutPrefix(ev.Stored.Key, "/registry/storageversions/")
		return is && slices.Contains(names, name)
	}
}

func deletionsOf(name string) story.Match { return story.AllOf(about(name), story.Deletions) }

// findAfterDeparture finds the first event that fits after an identity Lease was deleted.
func findAfterDeparture(e *story.Edit, fits story.Match) int {
	left := e.Find(1, func(ev *history.Event) bool {
		return story.Deletions(ev) && strings.Contains(ev.Stored.Key, "/leases/")
	})
	return e.Find(1, func(ev *history.Event) bool { return ev.At > e.Events[left].At && fits(ev) })
}

// lastRenewal is what shows that time has passed at the end.
func lastRenewal(ev *history.Event) bool {
	return story.LeaseWrites(ev) && ev.At > int64(40_000)*story.Millisecond
}

func apiservers(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentAPIServer
}
