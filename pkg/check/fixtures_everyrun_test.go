package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfEveryRun is what must be said of the histories that break what every run owes, or
// show too little of it.
var wantedOfEveryRun = map[requirement.ID]struct{ fail, inconclusive string }{
	"RO-01": {"cp2 answered a list-consistent of configmaps with 1 of 3 objects missing", "saw 0 reads that agreed with etcd, of the member with the fewest, and needs at least 2"},
	"RO-02": {"cp3 was not ready for 2m", "saw 0 times that a member became ready, of the member with the fewest, and needs at least 1"},
	"RO-03": {"the apiserver of cp3 ended by itself (exit status 2)", "saw 0 processes that did not end by themselves, of the member with the fewest, and needs at least 1"},
	"RO-04": {"kube-system/kube-controller-manager had no leader for", "saw 0 times that a Lease without a leader got one, and needs at least 1"},
	"RO-05": {"cp3_2 leads kube-system/kube-controller-manager and did none of its work for", "saw 0 stretches of time without a disturbance in which a leader led and worked, and needs at least 1"},
	"RO-06": {"cp2 did not show a write that cp1 had acknowledged in a watch for", "saw 0 answers that showed a write of another member, of the member with the fewest, and needs at least 2"},
	"RO-07": {"the etcd of cp3 has the hash 98f13708, and that of cp1 has 5f4dcc3b", "saw 0 hashes of a member's etcd that were compared with another's, of the member with the fewest, and needs at least 1"},
	"RO-08": {"and etcd's history has no such revision", "saw 0 acknowledged writes that etcd's history has, of the member with the fewest, and needs at least 3"},
	"RO-09": {"cp2 was ready and answered a list of soundings.probe.evenkeel.dev with 404", "saw 0 answers of API servers that had been ready, about custom resources that exist, of the member with the fewest, and needs at least 1"},
	"RO-10": {"cp3 (1.2) stands for kube-system/kube-controller-manager-next", "saw 1 instances whose Leases were compared with those of another, and needs at least 2"},
	"RO-11": {"clients of the load balancer had no answer for", "saw 0 replacements of a member during which clients were answered, and needs at least 1"},
}

func init() {
	for id, w := range wantedOfEveryRun {
		wanted[id] = w
	}
}
