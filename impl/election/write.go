package election

import (
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Author is who writes, and where: the coordinator and the name of the Lease.
type Author struct{ Coordinator, Namespace, Lease string }

// Applier is a function that applies a write as Apply does.
type Applier func(w Write, by Author, now time.Time) *coordinationv1.Lease

// Apply gives the Lease after a write of the coordinator. The Lease that the decision was
// made on is not changed.
//
// KEP-4355: the Lease of an elected leader is freshly renewed, names its holder,
// and is marked as elected. What every reader of Leases relies on holds as well:
// the transitions are counted and the acquisition has its time. A strategy that an operator
// has chosen stays as it is.
func Apply(w Write, by Author, now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: by.Namespace, Name: by.Lease}}
	if w.On != nil {
		lease = w.On.DeepCopy()
	}
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[Coordinator] = by.Coordinator
	if Chosen(lease) == "" {
		lease.Spec.Strategy = ptr.To(w.Strategy)
		lease.Annotations[Resolved] = string(w.Strategy)
	}
	if w.Preferred != "" {
		lease.Spec.PreferredHolder = ptr.To(w.Preferred)
		return lease
	}
	lease.Spec.PreferredHolder = nil
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(ElectedDuration / time.Second))
	if w.Holder == "" {
		lease.Spec.HolderIdentity = nil
		delete(lease.Annotations, ElectedBy)
		return lease
	}
	lease.Annotations[ElectedBy] = ElectedByValue
	hold(lease, w.Holder, w.On != nil, metav1.NewMicroTime(now))
	return lease
}

// hold sets the holder of a Lease from now on.
//
// LeaseSpec of coordination/v1, which KEP-4355 leaves as it is, counts the transitions of a Lease
// between holders. One who held it last and gets it again after it has expired is no other holder:
// the count and the time of acquisition stay, as with client-go's lock.
func hold(lease *coordinationv1.Lease, who string, counts bool, at metav1.MicroTime) {
	if counts && holder(lease) == who && lease.Spec.AcquireTime != nil && ptr.Deref(lease.Spec.LeaseTransitions, -1) >= 0 {
		lease.Spec.RenewTime = ptr.To(at)
		return
	}
	var transitions int32
	if counts {
		// A client may have written any number. The result is never below zero, which readers refuse.
		transitions = min(max(0, ptr.Deref(lease.Spec.LeaseTransitions, 0)), math.MaxInt32-1) + 1
	}
	lease.Spec.LeaseTransitions = ptr.To(transitions)
	lease.Spec.HolderIdentity = ptr.To(who)
	lease.Spec.AcquireTime = ptr.To(at)
	lease.Spec.RenewTime = ptr.To(at)
}
