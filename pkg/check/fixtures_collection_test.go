package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfCollection is what must be said of the histories of garbage collection
// that do not pass.
var wantedOfCollection = map[requirement.ID]struct{ fail, inconclusive string }{
	"SV-16": {"reference.evenkeel.dev.ballasts still has an entry of apiserver-cp3", "saw 0 agreements that were formed when the entry of a departed server went, and needs at least 1"},
	"SV-17": {"cp2 was ready at revision", "saw 0 stale entries that a server found as it started, with no controller manager and no other API server there, and needs at least 5"},
	"SV-19": {"the removal of races.evenkeel.dev.ships took the entry of apiserver-evenkeel-visitor away", "saw 0 removals by a collector that were held back until a participant had put its entry in, and needs at least 1"},
	"SV-20": {"core.configmaps lost the entry of apiserver-evenkeel-visitor, which takes part", "saw 0 look-ups of identity Leases by a controller manager that failed, and needs at least 5"},
	"SV-18": {"ghosts.evenkeel.dev.ships lost its last entry, and was not removed", "saw 0 StorageVersions removed in which no participant had an entry, and needs at least 1"},
}

func init() {
	for id, want := range wantedOfCollection {
		wanted[id] = want
	}
}
