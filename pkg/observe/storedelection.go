package observe

import (
	"cmp"
	"encoding/json"

	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	// LeaderActionAnnotation is what an elected component that wants to be judged by what it
	// does puts on an object that it writes to over and over while it leads: a
	// history.LeaderAction as JSON. Nothing must guard the object, or else it would hide
	// what it is to show.
	LeaderActionAnnotation = "evenkeel.dev/acted"
	// CoordinatorAnnotation is where a coordinator says in a Lease or a candidate who
	// it is: the holder of the coordinators' own Lease.
	CoordinatorAnnotation = "evenkeel.dev/coordinator"
)

// acted reads what an object says of the leader that has written to it.
func acted(annotations map[string]string) *history.LeaderAction {
	raw, marked := annotations[LeaderActionAnnotation]
	if !marked {
		return nil
	}
	out := &history.LeaderAction{}
	if json.Unmarshal([]byte(raw), out) != nil || out.Lease == "" || out.Holder == "" {
		return nil
	}
	return out
}

func candidate(in *coordinationv1beta1.LeaseCandidate, fields []metav1.ManagedFieldsEntry) *history.Candidate {
	return &history.Candidate{
		Lease:  in.Spec.LeaseName,
		Binary: in.Spec.BinaryVersion, Emulation: in.Spec.EmulationVersion, Strategy: string(in.Spec.Strategy),
		Pinged: timeOf(in.Spec.PingTime), Renewed: timeOf(in.Spec.RenewTime),
		Coordinator: cmp.Or(in.Annotations[CoordinatorAnnotation], coordinatorOf("pingTime", fields)),
	}
}
