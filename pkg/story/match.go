package story

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Match fits events of a story.
type Match func(*history.Event) bool

// AnyOf fits events that at least one of the matches fits.
func AnyOf(all ...Match) Match {
	return func(ev *history.Event) bool {
		return slices.ContainsFunc(all, func(k Match) bool { return k(ev) })
	}
}

// OfKind fits events of the kinds.
func OfKind(kinds ...history.Kind) Match {
	return func(ev *history.Event) bool { return slices.Contains(kinds, ev.Kind) }
}

// StorageVersionWrites fits changes of StorageVersions, but for deletions.
func StorageVersionWrites(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.StorageVersion != nil
}

// BallastVersionWrites fits changes of the StorageVersion of ballasts.
func BallastVersionWrites(ev *history.Event) bool {
	return StorageVersionWrites(ev) && ev.Stored.Name == BallastVersion
}

// LeaseWrites fits changes of Leases, but for deletions.
func LeaseWrites(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Lease != nil }

// IdentitiesCreated fits the creations of Leases.
func IdentitiesCreated(ev *history.Event) bool {
	return LeaseWrites(ev) && ev.Stored.Created == ev.Stored.Revision
}

// BallastWrites fits changes of ballasts in etcd.
func BallastWrites(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/"+BallastGroup+"/")
}

// RequestsOfClass fits requests of the classes.
func RequestsOfClass(classes ...string) Match {
	return func(ev *history.Event) bool { return ev.Request != nil && slices.Contains(classes, ev.Request.Class) }
}

// BallastRequests fits guarded requests for ballasts.
func BallastRequests(ev *history.Event) bool {
	return RequestsOfClass(history.ClassGuarded)(ev) && ev.Request.Resource == "ballasts"
}

// BallastVersionViews are the views of the StorageVersion of ballasts.
func BallastVersionViews(ev *history.Event) bool {
	return ev.Watch != nil && (ev.Watch.Name == "" || ev.Watch.Name == BallastVersion)
}

// OfMember fits events of a member.
func OfMember(member string) Match {
	return func(ev *history.Event) bool { return ev.Member == member }
}

// AllOf fits events that each of the matches fits.
func AllOf(all ...Match) Match {
	return func(ev *history.Event) bool {
		return !slices.ContainsFunc(all, func(k Match) bool { return !k(ev) })
	}
}

// UserWrites fits changes in etcd that a client of the harness made.
func UserWrites(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer != "" }

// RollbackSteps fits the begin and the end of rollbacks.
func RollbackSteps(ev *history.Event) bool { return ev.Step != nil && ev.Step.Action == "rollback" }

// DiscoveryReads fits what the recorder read of discovery.
func DiscoveryReads(ev *history.Event) bool { return ev.HostedResources != nil }

// Deletions are of any key.
func Deletions(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.Type == history.StoredDelete
}

// Lifecycle fits changes of processes and answers of /readyz.
func Lifecycle(ev *history.Event) bool { return ev.Process != nil || ev.Ready != nil }

// NthOf fits one event only.
func NthOf(e *Edit, nth int, fits Match) Match {
	at := e.Events[e.Find(nth, fits)].At
	return func(ev *history.Event) bool { return fits(ev) && ev.At == at }
}

// ExitsOf fits the end of a component's process.
func ExitsOf(component string) Match {
	return func(ev *history.Event) bool {
		return ev.Process != nil && ev.Process.Component == component && ev.Process.Change == history.ProcessExited
	}
}

// Later fits what is later than a time.
func Later(at int64) Match { return func(ev *history.Event) bool { return ev.At > at } }
