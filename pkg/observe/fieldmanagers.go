package observe

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// LeaderActivityNamespace has objects that only the leader of a published component creates
// or changes. The field managers name the host of that leader, where the provider names the
// components' programs by history.ProgramOn.
const LeaderActivityNamespace = "evenkeel-errands" // quoted: published bundles have it

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

// coordinatorOf returns the host of the coordinator that has set a field of the spec to its
// current value; empty if no coordinator has, or if the field managers do not name it.
func coordinatorOf(field string, entries []metav1.ManagedFieldsEntry) string {
	return setBy(field, entries, func(program string) bool { return program == coordinatorProgram })
}

// renewerOf returns the host of the instance that has set the renewTime of a Lease by which
// published components lead; empty if none has, or if the field managers do not name it.
func renewerOf(lease string, entries []metav1.ManagedFieldsEntry) string {
	return setBy("renewTime", entries, func(program string) bool { return ledPrograms[program] == lease })
}

// setBy returns the host of the program that has set a field of the spec to its current value. A
// write that leaves the value as it is does not change the owner of the field.
func setBy(field string, entries []metav1.ManagedFieldsEntry, is func(program string) bool) string {
	for _, entry := range entries {
		program, host, ok := history.ParseProgram(entry.Manager)
		if !ok || !is(program) || entry.FieldsV1 == nil {
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

// coordinatorOfLease returns the host of the coordinator that has set the preferredHolder of
// a Lease, or else of the one that has set its holder.
func coordinatorOfLease(marked bool, entries []metav1.ManagedFieldsEntry) string {
	if marked {
		return coordinatorOf("preferredHolder", entries)
	}
	return coordinatorOf("holderIdentity", entries)
}
