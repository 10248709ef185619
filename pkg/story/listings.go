package story

import (
	"encoding/json"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// omitRepeatedListings leaves out what a history has told before, as recorders do.
func omitRepeatedListings(events []history.Event) {
	told := map[string]bool{}
	for i := range events {
		d := events[i].DiscoveryDocument
		if d == nil || d.Listing == nil {
			continue
		}
		copied := *d
		events[i].DiscoveryDocument = &copied
		if told[d.Content] {
			copied.Listing = nil
			continue
		}
		told[d.Content] = true
		raw, err := json.Marshal(d.Listing)
		if err != nil {
			panic(err)
		}
		copied.Listing = &history.Listing{}
		if err := json.Unmarshal(raw, copied.Listing); err != nil {
			panic(err)
		}
		for g := range copied.Listing.Groups {
			versions := copied.Listing.Groups[g].Versions
			for v := range versions {
				if told[versions[v].Inventory] {
					versions[v].Resources = nil
				}
				told[versions[v].Inventory] = true
				if told[versions[v].Accepted] {
					versions[v].Accepts = nil
				}
				told[versions[v].Accepted] = versions[v].Accepted != ""
			}
		}
	}
}
