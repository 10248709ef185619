package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfElection is what must be said of the histories of elections that do not
// pass.
var wantedOfElection = map[requirement.ID]struct{ fail, weak string }{
	"CLE-01": {`candidate kube-system/cp1_2 says that it is "1.0.0", and cp1 runs 1.3`, "processes that declared themselves candidates, of the member with the fewest"},
	"CLE-03": {"candidate kube-system/cp2_2 did not answer a ping within", "pings answered, of the member with the fewest"},
	"CLE-04": {"there is no Lease kube-system/kube-controller-manager for", "Leases that had been deleted"},
	"CLE-05": {"evenkeel-rowers-mute was elected for kube-system/evenkeel-rowers, and had not answered", "elections beside a candidate that had not answered"},
	"CLE-06": {"evenkeel-rowers-newer (1.3.0, behaving like 1.3.0) was elected", "elections among candidates of different versions"},
	"CLE-07": {"evenkeel-rowers-twin was elected of", "elections of the same one among equal candidates"},
	"CLE-08": {"cp1_2 (1.3.0) has held kube-system/kube-controller-manager for", "leaders that were told to give way"},
	"CLE-16": {"evenkeel-rowers-dead was elected", "expired candidates that were removed"},
	"CLE-21": {"kube-system/evenkeel-draft was given to evenkeel-draft-a", "holders that somebody else had given and that stayed"},
	"CLE-23": {"answered 500 to an odd Lease", "odd Leases that were stored"},
}

func init() {
	for id, want := range wantedOfElection {
		wanted[id] = want
	}
}
