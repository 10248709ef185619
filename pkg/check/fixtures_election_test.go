package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfElection is what must be said of the histories of elections that do not
// pass.
var wantedOfElection = map[requirement.ID]struct{ fail, inconclusive string }{
	"CLE-01": {`candidate kube-system/cp1_2 says that it is "1.0.0", and cp1 runs 1.3`, "saw 0 processes that declared themselves candidates, of the member with the fewest, and needs at least 1"},
	"CLE-02": {"candidate kube-system/cp1_1 renewed without being asked", "saw 0 renewals of candidates that nobody had asked for, and needs at least 1"},
	"CLE-03": {"candidate kube-system/cp2_2 did not answer a ping within", "saw 0 pings answered, of the member with the fewest, and needs at least 1"},
	"CLE-04": {"there is no Lease kube-system/kube-controller-manager for", "saw 0 of those, Leases that had been deleted, and needs at least 1"},
	"CLE-05": {"kube-system/evenkeel-rowers-mute was elected for kube-system/evenkeel-rowers, and had not answered", "saw 0 elections beside a candidate that had not answered, and needs at least 1"},
	"CLE-06": {"kube-system/evenkeel-rowers-newer (1.3.0, behaving like 1.3.0) was elected", "saw 0 elections among candidates of different versions, and needs at least 2"},
	"CLE-07": {"kube-system/evenkeel-rowers-twin was elected of", "saw 0 elections of the same one among equal candidates, and needs at least 3"},
	"CLE-08": {"cp1_2 (1.3.0) has held kube-system/kube-controller-manager for", "saw 0 leaders that were told to give way to a better one, and did, and needs at least 1"},
	"CLE-09": {"took kube-system/kube-controller-manager from cp3_1", "saw 0 of those, Leases that had expired, and needs at least 1"},
	"CLE-10": {"cp3_1 acted as the leader of kube-system/kube-controller-manager", "saw 0 of those, changes while the one before was alive and could not renew, and needs at least 1"},
	"CLE-11": {"kube-system/kube-controller-manager has no leader", "saw 0 crashes of a leader after which there was another one, and needs at least 1"},
	"CLE-12": {"after its Lease had run out", "saw 0 leaders that could not renew and had stopped when their Lease ran out, and needs at least 1"},
	"CLE-13": {"cp3_c wrote to kube-system/cp1_1 as a coordinator", "saw 0 pings and elections by the coordinator that had the Lease, and needs at least 3"},
	"CLE-14": {"the API server of cp1 ended (exit status 1)", "saw 0 servers that coordinated again after that, and needs at least 1"},
	"CLE-15": {"candidate kube-system/cp1_1 was pinged, and nothing had happened", "saw 0 Leases that were renewed then, and needs at least 1"},
	"CLE-16": {"kube-system/evenkeel-rowers-dead was elected", "saw 0 expired candidates that were removed, and needs at least 1"},
	"CLE-17": {"and had changed", "saw 0 changes of leader while candidates of several releases stood, and needs at least 2"},
	"CLE-18": {"cp1_2 acted as the leader of kube-system/kube-controller-manager without coordination, and cp2_1, who took the Lease later by coordination", "saw 0 changes of who acts from one without coordination to one with it, and needs at least 1"},
	"CLE-19": {"evenkeel-manned-legacy holds kube-system/evenkeel-manned without coordination, and was told", "saw 0 renewals without coordination while candidates stood, and needs at least 5"},
	"CLE-20": {"nobody coordinates, and nobody has taken kube-system/kube-controller-manager", "saw 0 Leases that were free while nobody coordinated, and were taken by an instance or left for too long, and needs at least 1"},
	"CLE-21": {"kube-system/evenkeel-draft was given to evenkeel-draft-a", "saw 0 holders that somebody else had given and that stayed, and needs at least 1"},
	"CLE-22": {"the candidates of kube-system/evenkeel-quarrel want different strategies, and for", "saw 0 conflicts of strategies that were resolved as the time before, and needs at least 3"},
	"CLE-23": {"answered 500 to an odd Lease", "saw 0 odd Leases that were stored, and needs at least 3"},
	"CLE-24": {"after writes to it could pass again", "saw 0 elections that writes had failed for, and that came about when they passed, and needs at least 1"},
	"CLE-25": {"cp1, without coordination, stored the fields that are for it in a Lease that had none", "saw 0 writes without coordination whose new fields were dropped, and needs at least 1"},
}

func init() {
	for id, want := range wantedOfElection {
		wanted[id] = want
	}
}
