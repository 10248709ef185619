package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Inapplicable returns the reason why a requirement cannot be judged in the run with this
// header, which lacks something that the law takes. ok is false where it can be judged.
func Inapplicable(id requirement.ID, header history.Header) (reason string, ok bool) {
	if why, locked := lockedIn[header.Distribution][id]; locked {
		return why, true
	}
	for _, need := range rowOf(id).Lacking() {
		if why, lacks := header.Lack(need); lacks {
			return fmt.Sprintf("it needs %s, and %s", needWords[need], why), true
		}
	}
	return "", false
}

// Reads returns whether the law of a requirement goes by what the recorder tells.
func Reads(id requirement.ID, source fact.Source) bool {
	return slices.Contains(rowOf(id).Sources, source)
}

// rowOf returns the row of the law of a requirement; empty where no law judges it.
func rowOf(id requirement.ID) law.Row {
	for _, k := range keps {
		for _, row := range k.Rows() {
			if row.ID == id {
				return row
			}
		}
	}
	return law.Row{}
}

// needWords name the needs in messages.
var needWords = map[string]string{
	history.LackBeginning: "the start of every process, and the whole content of etcd since the beginning",
	history.LackEtcd:      "the content of etcd",
	history.LackProcesses: "the processes of all components",
	history.LackRestarts:  "the restart of an API server",
	history.LackBackends:  "aggregated API servers of the harness",
	history.LackTraffic:   "objects of the harness that are written all the time",
	history.LackEmulation: "members that emulate an older version",
	history.LackFeatures:  "features that are switched off at single members",
	history.LackPeers:     "API servers that tell of what their peers host",
	history.LackBalancer:  "a load balancer before the API servers",
	history.LackProbes:    "status writes that the API servers must reject",
}
