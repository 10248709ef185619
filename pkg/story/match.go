package story

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Match is which events of the story a check reads.
type Match func(*history.Event) bool

func AnyOf(all ...Match) Match {
	return func(ev *history.Event) bool {
		return slices.ContainsFunc(all, func(k Match) bool { return k(ev) })
	}
}

func OfKind(kinds ...history.Kind) Match {
	return func(ev *history.Event) bool { return slices.Contains(kinds, ev.Kind) }
}

func StorageVersionWrites(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.StorageVersion != nil
}

func BallastVersionWrites(ev *history.Event) bool {
	return StorageVersionWrites(ev) && ev.Stored.Name == BallastVersion
}

func LeaseWrites(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Lease != nil }

// IdentitiesCreated are the first writes of Leases.
func IdentitiesCreated(ev *history.Event) bool {
	return LeaseWrites(ev) && ev.Stored.Created == ev.Stored.Revision
}

func BallastWrites(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/"+BallastGroup+"/")
}

func RequestsOfClass(classes ...string) Match {
	return func(ev *history.Event) bool { return ev.Request != nil && slices.Contains(classes, ev.Request.Class) }
}

func BallastRequests(ev *history.Event) bool {
	return RequestsOfClass(history.ClassGuarded)(ev) && ev.Request.Resource == "ballasts"
}

// BallastVersionViews are the views of the StorageVersion of ballasts.
func BallastVersionViews(ev *history.Event) bool {
	return ev.Watch != nil && (ev.Watch.Name == "" || ev.Watch.Name == BallastVersion)
}

func OfMember(member string) Match {
	return func(ev *history.Event) bool { return ev.Member == member }
}

func AllOf(all ...Match) Match {
	return func(ev *history.Event) bool {
		return !slices.ContainsFunc(all, func(k Match) bool { return !k(ev) })
	}
}

func UserWrites(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer != "" }

func RollbackSteps(ev *history.Event) bool { return ev.Step != nil && ev.Step.Action == "rollback" }

func DiscoveryReads(ev *history.Event) bool { return ev.Discovery != nil }

// Deletions are of any key.
func Deletions(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.Type == history.StoredDelete
}

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
