package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// wantedOfDiscovery is what must be said of the histories of discovery that do not
// pass.
var wantedOfDiscovery = map[requirement.ID]struct{ fail, weak string }{
	"AD-01": {"answered with a body that cannot be read", "aggregated documents in application/yaml from the member with the fewest"},
	"AD-02": {"cp1 was asked at /apis without a word of aggregation", "answers without a word of aggregation from the member with the fewest"},
	"AD-03": {"was to give the first, application/json, not aggregated", "choices of the form that is not aggregated at the member with the fewest"},
	"AD-04": {"was to answer 406 with a Status", "refusals of what is not served, by the member with the fewest"},
	"AD-05": {"cp1 runs release 1.2, which is to serve v2beta1: true", "looks at the member with the fewest whose release is known to serve v2beta1 or not"},
	"AD-06": {"in application/yaml", "documents in application/yaml compared with JSON at the member with the fewest"},
	"AD-07": {"to a document at /apis that has the tag", "documents that a member had before and after a restart"},
	"AD-08": {"which is the document's tag, and answered 200", "conditions that do not match at the member with the fewest"},
	"AD-09": {"with If-None-Match: *", "asterisks at the member with the fewest"},
	"AD-10": {"leasecandidates is missing there", "group-versions of its own compared at the member with the fewest"},
	"AD-11": {"cp1 prefers reference.evenkeel.dev/v1beta1", "groups of several versions at the member with the fewest"},
	"AD-12": {"in another order", "contents that a member had in one order before and after a restart"},
	"AD-13": {"cp2 still has buoys in lights.evenkeel.dev/v1", "custom resources deleted that the member with the fewest showed"},
	"AD-14": {`cp1 never reached the server of wrecks.aggregated.evenkeel.dev/v1, and calls it "Current"`, "group-versions of servers never reached that the member with the fewest listed as stale"},
	"AD-15": {"cp2 was ready and does not have lights", "processes of the member with the fewest whose first document was compared with a later one"},
	"AD-16": {"while the server of wrecks.aggregated.evenkeel.dev was dead", "restarts while none was"},
	"AD-17": {"cp3 has lost what it knew of its resources", "outages in which the member with the fewest kept what it knew"},
	"AD-18": {"cp1 does not call it current", "recoveries of aggregated servers that the member with the fewest showed"},
	"AD-19": {"cp1 does not list tides.aggregated.evenkeel.dev/v1beta1", "removals of a custom resource that an APIService survived, at the member with the fewest"},
	"AD-20": {"cp1 gives the list at /apis a resourceVersion", "documents of the member with the fewest"},
	"AD-21": {"cp1 counted 40 aggregations while it was asked", "changes that the counter of the member with the fewest grew with"},
	"AD-22": {`cp1 does not list coordination.k8s.io/v1 any more`, "kinds of misbehaviour that every member bore"},
	"AD-23": {"cp1 does not list reference.evenkeel.dev/v1alpha1", "requests for them that were handed on and succeeded, at the member with the fewest"},
	"AD-24": {"cp2 lists reference.evenkeel.dev/v1alpha1", "things that a departed member alone had hosted"},
	"AD-25": {`cp1 lists wrecks.aggregated.evenkeel.dev/v1, but not in the list of groups that is not aggregated`, "quiet looks at the member with the fewest that found all documents equal"},
}

func init() {
	for id, want := range wantedOfDiscovery {
		wanted[id] = want
	}
}
