package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfDiscovery is what must be said of the histories of discovery that do not
// pass.
var wantedOfDiscovery = map[requirement.ID]struct{ fail, inconclusive string }{
	"AD-01": {"answered with a body that cannot be read", "saw 0 aggregated documents in YAML at /api, of the member with the fewest, and needs at least 1"},
	"AD-02": {"cp1 was asked at /apis without a word of aggregation", "saw 0 answers without a word of aggregation at /api, of the member with the fewest, and needs at least 1"},
	"AD-03": {"was to give the first, application/json, not aggregated", "saw 0 choices of the form that is not aggregated at /api, of the member with the fewest, and needs at least 1"},
	"AD-04": {"was to answer 406 with a Status", "saw 0 refusals of what is not served at /api, of the member with the fewest, and needs at least 1"},
	"AD-05": {"cp1 runs release 1.2, which is to serve v2beta1: true", "saw 0 looks at members whose release is known to serve v2beta1 or not, of the member with the fewest, and needs at least 1"},
	"AD-06": {"in application/yaml", "saw 0 documents in YAML compared with JSON at /api, of the member with the fewest, and needs at least 1"},
	"AD-07": {"to a document at /apis that has the tag", "saw 0 documents that a member had before and after a restart, and needs at least 1"},
	"AD-08": {"which is the document's tag, and answered 200", "saw 0 conditions that do not match at /api, of the member with the fewest, and needs at least 1"},
	"AD-09": {"with If-None-Match: *", "saw 0 asterisks at /api, of the member with the fewest, and needs at least 1"},
	"AD-10": {"leasecandidates is missing there", "saw 0 group-versions of its own compared, of the member with the fewest, and needs at least 2"},
	"AD-11": {"cp1 prefers reference.evenkeel.dev/v1beta1", "saw 0 groups of several versions, of the member with the fewest, and needs at least 2"},
	"AD-12": {"in another order", "saw 0 contents that a member had in one order before and after a restart, and needs at least 1"},
	"AD-13": {"cp2 still has buoys in lights.evenkeel.dev/v1", "saw 0 custom resources deleted that were shown, of the member with the fewest, and needs at least 1"},
	"AD-14": {`cp1 never reached the server of wrecks.aggregated.evenkeel.dev/v1, and calls it "Current"`, "saw 0 group-versions of servers never reached that were listed as stale, of the member with the fewest, and needs at least 1"},
	"AD-15": {"cp2 was ready and does not have lights", "saw 0 first documents compared with a later one of the same process, of the member with the fewest, and needs at least 1"},
	"AD-16": {"while the server of wrecks.aggregated.evenkeel.dev was dead", "saw 0 restarts while none was, and needs at least 1"},
	"AD-17": {"cp3 has lost what it knew of its resources", "saw 0 outages in which what was known stayed listed, of the member with the fewest, and needs at least 1"},
	"AD-18": {"cp1 does not call it current", "saw 0 recoveries of aggregated servers that had been listed as stale, of the member with the fewest, and needs at least 1"},
	"AD-19": {"cp1 does not list tides.aggregated.evenkeel.dev/v1beta1", "saw 0 removals of a custom resource that an APIService survived, of the member with the fewest, and needs at least 1"},
	"AD-20": {"cp1 gives the list at /apis a resourceVersion", "saw 0 documents, of the member with the fewest, and needs at least 2"},
	"AD-21": {"cp1 counted 40 aggregations while it was asked", "saw 0 changes that the counter grew with, of the member with the fewest, and needs at least 1"},
	"AD-22": {"cp1 does not list coordination.k8s.io/v1 any more", "saw 3 kinds of misbehaviour that every member bore, and needs at least 4"},
	"AD-23": {"cp1 does not list reference.evenkeel.dev/v1alpha1", "cp2 lacks what peers host, and nothing shows of it what is counted as reached"},
	"AD-24": {"cp2 lists reference.evenkeel.dev/v1alpha1", "cp1 was there after a member had left that alone had hosted something, and nothing was seen to go from its documents"},
	"AD-25": {"cp1 lists wrecks.aggregated.evenkeel.dev/v1, but not in the list of groups that is not aggregated", "saw 0 quiet looks that found all documents equal, of the member with the fewest, and needs at least 1"},
	"AD-26": {"cp1 has to list tides.aggregated.evenkeel.dev/v1 as current, and while the foreign APIService v1.weather.example.com is in trouble it does not list it", "saw 0 documents while the server of a foreign APIService was in trouble, of the member with the fewest, and needs at least 10"},
}

func init() {
	for id, want := range wantedOfDiscovery {
		wanted[id] = want
	}
}
