package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfElection is what must be said of the histories of elections that do not
// pass.
var wantedOfElection = map[requirement.ID]struct{ fail, weak string }{
	"CLE-01": {`candidate kube-system/cp1_2 says that it is "1.0.0", and cp1 runs 1.3`, "processes that declared themselves candidates, of the member with the fewest"},
	"CLE-02": {"candidate kube-system/cp1_1 renewed without being asked", "renewals of candidates that nobody had asked for"},
	"CLE-03": {"candidate kube-system/cp2_2 did not answer a ping within", "pings answered, of the member with the fewest"},
	"CLE-04": {"there is no Lease kube-system/kube-controller-manager for", "Leases that had been deleted"},
	"CLE-05": {"evenkeel-rowers-mute was elected for kube-system/evenkeel-rowers, and had not answered", "elections beside a candidate that had not answered"},
	"CLE-06": {"evenkeel-rowers-newer (1.3.0, behaving like 1.3.0) was elected", "elections among candidates of different versions"},
	"CLE-07": {"evenkeel-rowers-twin was elected of", "elections of the same one among equal candidates"},
	"CLE-08": {"cp1_2 (1.3.0) has held kube-system/kube-controller-manager for", "leaders that were told to give way"},
	"CLE-09": {"took kube-system/kube-controller-manager from cp3_1", "Leases that had expired"},
	"CLE-10": {"cp3_1 acted as the leader of kube-system/kube-controller-manager", "changes while the one before was alive"},
	"CLE-11": {"kube-system/kube-controller-manager has no leader", "crashes of a leader after which there was another one"},
	"CLE-12": {"after its Lease had run out", "leaders that could not renew and had stopped"},
	"CLE-13": {"cp3_c wrote to kube-system/cp1_1 as a coordinator", "pings and elections by the coordinator"},
	"CLE-14": {"the API server of cp1 ended (exit status 1)", "servers that coordinated again after that"},
	"CLE-15": {"was pinged, and nothing had happened", "Leases that were renewed then"},
	"CLE-16": {"evenkeel-rowers-dead was elected", "expired candidates that were removed"},
	"CLE-17": {"and had changed", "changes of leader while candidates of several releases stood"},
	"CLE-18": {"cp1_2 acted as the leader of kube-system/kube-controller-manager without coordination", "changes of who acts from one without coordination"},
	"CLE-19": {"evenkeel-manned-legacy holds kube-system/evenkeel-manned without coordination, and was told", "renewals without coordination while candidates stood"},
	"CLE-20": {"nobody coordinates, and nobody has taken", "Leases that were free while nobody coordinated"},
	"CLE-21": {"kube-system/evenkeel-draft was given to evenkeel-draft-a", "holders that somebody else had given and that stayed"},
	"CLE-22": {"want different strategies, and for", "conflicts of strategies that were resolved"},
	"CLE-23": {"answered 500 to an odd Lease", "odd Leases that were stored"},
	"CLE-24": {"after writes to it could pass again", "elections that writes had failed for"},
	"CLE-25": {"cp1, without coordination, stored the fields", "writes without coordination whose new fields were dropped"},
}

func init() {
	for id, want := range wantedOfElection {
		wanted[id] = want
	}
}
