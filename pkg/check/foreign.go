package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// externalNeeds are the requirements that can be judged on an external cluster, each with
// what it needs besides the API of every member. To judge the other requirements, the
// harness has to start the processes itself, record etcd from the beginning, or interfere
// with both, which an external cluster does not allow.
var externalNeeds = map[requirement.ID][]string{
	"AD-01": nil, "AD-02": nil, "AD-03": nil, "AD-04": nil, "AD-05": nil, "AD-06": nil,
	"AD-07": {history.LackRestarts}, "AD-08": nil, "AD-09": nil,
	"AD-10": {history.LackBackends}, "AD-11": nil,
	"AD-12": {history.LackRestarts}, "AD-13": nil, "AD-14": {history.LackBackends},
	"AD-17": {history.LackBackends}, "AD-18": {history.LackBackends}, "AD-19": {history.LackBackends},
	"AD-20": nil, "AD-21": nil, "AD-22": {history.LackBackends}, "AD-25": nil, "AD-26": {history.LackBackends},

	// Both hold for each content of a StorageVersion on its own, without earlier content.
	"SV-04": {history.LackEtcd, history.LackProbes}, "SV-06": {history.LackEtcd, history.LackProbes},
}

// notOnExternal is the reason why most requirements are not applicable to such a cluster.
const notOnExternal = "Evenkeel judges it from the start of every process and from the whole content of etcd since the beginning, and an external cluster runs before Evenkeel records it"

// Inapplicable returns the reason why a requirement cannot be judged in the run with this
// header. ok is false where it can be judged.
func Inapplicable(id requirement.ID, header history.Header) (reason string, ok bool) {
	if header.Provider != history.ProviderExternal {
		return "", false
	}
	needs, judged := externalNeeds[id]
	if !judged {
		return notOnExternal, true
	}
	for _, need := range needs {
		if why, lacks := header.Lack(need); lacks {
			return fmt.Sprintf("it needs %s, and %s", needWords[need], why), true
		}
	}
	return "", false
}

// needWords name the needs in messages.
var needWords = map[string]string{
	history.LackEtcd:     "the content of etcd",
	history.LackRestarts: "the restart of an API server",
	history.LackBackends: "aggregated API servers of the harness",
	history.LackProbes:   "status writes that the API servers must reject",
}
