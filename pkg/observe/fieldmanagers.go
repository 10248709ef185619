package observe

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// LeaderActivityNamespace is where objects lie that only a leader of a published component
// makes or changes. Whoever has done so is told by the field managers, where the
// provider has called the components' programs by history.ProgramOn.
const LeaderActivityNamespace = "evenkeel-errands"

// ledPrograms are the published components that act only while they lead, with their
// Leases.
var ledPrograms = map[string]string{
	"kube-controller-manager": "kube-system/kube-controller-manager",
	"kube-scheduler":          "kube-system/kube-scheduler",
}

// coordinatorProgram is the one in which the coordinator of KEP-4355 runs.
const coordinatorProgram = "kube-apiserver"

// leaderActions are the leaders that have written to an object, by their hosts: a LeaderAction
// each, without a number.
func leaderActions(namespace string, entries []metav1.ManagedFieldsEntry) []history.LeaderAction {
	if namespace != LeaderActivityNamespace {
		return nil
	}
	found := map[history.LeaderAction]bool{}
	for _, entry := range entries {
		if program, host, ok := history.ParseProgram(entry.Manager); ok && ledPrograms[program] != "" {
			found[history.LeaderAction{Lease: ledPrograms[program], Host: host}] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// fresh is the one of the leaders that had not written to an object before; nil if
// there is none, or if it cannot be told which of several has made this change.
func fresh(now, before []history.LeaderAction, created int64) *history.LeaderAction {
	now = slices.DeleteFunc(slices.Clone(now), func(a history.LeaderAction) bool { return slices.Contains(before, a) })
	if len(now) != 1 {
		return nil
	}
	now[0].Number = created
	return &now[0]
}

// coordinatorOf is the host of the coordinator that has set a field of the spec to the
// value it has; empty if it was none, or if nobody knows which. Of a field that is
// written again with the value it has the owner stays who it was.
func coordinatorOf(field string, entries []metav1.ManagedFieldsEntry) string {
	for _, entry := range entries {
		program, host, ok := history.ParseProgram(entry.Manager)
		if !ok || program != coordinatorProgram || entry.FieldsV1 == nil {
			continue
		}
		var owned struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
			continue
		}
		if _, owns := owned.Spec["f:"+field]; owns {
			return host
		}
	}
	return ""
}

// coordinatorOfLease is who has marked a Lease for somebody else, or else who has given
// it to its holder.
func coordinatorOfLease(marked bool, entries []metav1.ManagedFieldsEntry) string {
	if marked {
		return coordinatorOf("preferredHolder", entries)
	}
	return coordinatorOf("holderIdentity", entries)
}
