package election

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
)

// Candidate is an instance that declares that it can lead.
type Candidate = coordinationv1beta1.LeaseCandidate

// Oldest is the only strategy by which the coordinator elects. Every other strategy
// belongs to another coordinator.
const Oldest = coordinationv1.OldestEmulationVersion

const (
	// CoordinatorNamespace and CoordinatorLease are where the coordinators elect the
	// one that is active.
	CoordinatorNamespace = "kube-system"
	CoordinatorLease     = "leader-election-controller"

	// ElectedBy marks a Lease that the coordinator has written a holder into. It is
	// the KEP's annotation, and so is its value.
	ElectedBy      = "coordination.k8s.io/elected-by"
	ElectedByValue = CoordinatorLease
	// Coordinator is an annotation of Leases and LeaseCandidates that names the
	// coordinator that has written to them last.
	Coordinator = "evenkeel.dev/coordinator"
)
