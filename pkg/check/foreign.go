package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// abroadNeeds are the requirements that can be judged of a cluster that somebody else runs,
// each with what it takes beside the API of every member. All others are judged from
// processes that were seen to start, from all that ever lay in etcd, or from what the
// harness does to both, which is not to be had there.
var abroadNeeds = map[requirement.ID][]string{
	"AD-01": nil, "AD-02": nil, "AD-03": nil, "AD-04": nil, "AD-05": nil, "AD-06": nil,
	"AD-07": {history.LackRestarts}, "AD-08": nil, "AD-09": nil,
	"AD-10": {history.LackBackends}, "AD-11": nil,
	"AD-12": {history.LackRestarts}, "AD-13": nil, "AD-14": {history.LackBackends},
	"AD-17": {history.LackBackends}, "AD-18": {history.LackBackends}, "AD-19": {history.LackBackends},
	"AD-20": nil, "AD-21": nil, "AD-22": {history.LackBackends}, "AD-25": nil, "AD-26": {history.LackBackends},

	// Both hold for each content of a StorageVersion by itself, and need none from before.
	"SV-04": {history.LackEtcd, history.LackProbes}, "SV-06": {history.LackEtcd, history.LackProbes},
}

// outsiders is why most requirements are not applicable to such a cluster.
const outsiders = "it is judged from processes that are seen to start and from all that ever lay in etcd, and a cluster that somebody else runs was there before"

// Inapplicable is why a requirement cannot be put to the test in the run that a header
// is of; ok is false where it can.
func Inapplicable(id requirement.ID, header history.Header) (reason string, ok bool) {
	if header.Provider != history.ProviderExternal {
		return "", false
	}
	needs, judged := abroadNeeds[id]
	if !judged {
		return outsiders, true
	}
	for _, need := range needs {
		if why, lacks := header.Lack(need); lacks {
			return fmt.Sprintf("it takes %s, and %s", wordsOf[need], why), true
		}
	}
	return "", false
}

// wordsOf are the needs, for people.
var wordsOf = map[string]string{
	history.LackEtcd:     "what lies in etcd",
	history.LackRestarts: "an API server that is restarted",
	history.LackBackends: "aggregated servers of the harness",
	history.LackProbes:   "statuses that servers must refuse",
}
