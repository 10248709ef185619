package election

import coordinationv1beta1 "k8s.io/api/coordination/v1beta1"

// Candidate is an instance that declares that it can lead.
type Candidate = coordinationv1beta1.LeaseCandidate

// CandidateSpec is what a candidate declares.
type CandidateSpec = coordinationv1beta1.LeaseCandidateSpec

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
	// Resolved is an annotation of a Lease that has the strategy which the coordinator wrote
	// because the candidates want it. Another strategy on the Lease is an operator's choice.
	Resolved = "evenkeel.dev/resolved-strategy"
)
