package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfCollection is what must be said of the histories of garbage collection
// that do not pass.
var wantedOfCollection = map[requirement.ID]struct{ fail, weak string }{
	"SV-16": {"reference.evenkeel.dev.ballasts still has an entry of apiserver-cp3", "agreements that were formed when the entry of a departed server went"},
	"SV-17": {"cp2 was ready at revision", "stale entries that a server found as it started"},
	"SV-19": {"the removal of races.evenkeel.dev.ships took the entry of apiserver-evenkeel-visitor away", "removals by a collector that were held back"},
	"SV-20": {"core.configmaps lost the entry of apiserver-evenkeel-visitor", "look-ups of identity Leases by a controller manager that failed"},
	"SV-18": {"lost its last entry, and was not removed", "StorageVersions removed that nobody who takes part had an entry in"},
}

func init() {
	for id, want := range wantedOfCollection {
		wanted[id] = want
	}
}
