package check

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// What others list is not to suffer from a server that misbehaves, and may arrive
// meanwhile.
func TestAD22TakesAnArrivalForNoHarm(t *testing.T) {
	one := func(freshness, inventory string) *history.Listing {
		return &history.Listing{Groups: []history.ListedGroup{{Name: "steady.io", Versions: []history.ListedVersion{
			{Version: "v1", Freshness: freshness, Inventory: inventory},
		}}}}
	}
	for _, test := range []struct {
		before, during *history.Listing
		want           string
	}{
		{one(history.FreshnessStale, "none"), one(history.FreshnessCurrent, "some"), ""},
		{one(history.FreshnessCurrent, "some"), one(history.FreshnessCurrent, "some"), ""},
		{one(history.FreshnessCurrent, "some"), one(history.FreshnessStale, "some"), `calls steady.io/v1 "Stale"`},
		{one(history.FreshnessCurrent, "some"), one(history.FreshnessCurrent, "none"), "lists other resources in steady.io/v1"},
		{one(history.FreshnessStale, "some"), one(history.FreshnessStale, "none"), "lists other resources in steady.io/v1"},
		{one(history.FreshnessStale, "none"), &history.Listing{}, "does not list steady.io/v1 any more"},
	} {
		ev := &history.Event{Member: "a", Document: &history.Document{}}
		if got := newAD22().harm(newWorld(history.Header{}), ev, test.during, &sighting{listing: test.before}, 0); got != test.want {
			t.Errorf("%+v after %+v: %q, want %q", test.during, test.before, got, test.want)
		}
	}
}
