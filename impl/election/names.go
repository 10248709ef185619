package election

import coordinationv1beta1 "k8s.io/api/coordination/v1beta1"

// Candidate is an instance that declares that it can lead.
type Candidate = coordinationv1beta1.LeaseCandidate

// CandidateSpec is what a candidate declares.
type CandidateSpec = coordinationv1beta1.LeaseCandidateSpec

const (
	// CoordinatorNamespace is the namespace of the Lease by which the coordinators elect the
	// one that is active.
	CoordinatorNamespace = "kube-system"
	// CoordinatorLease is the name of that Lease.
	CoordinatorLease = "leader-election-controller"

	// ElectedBy marks a Lease that the coordinator has written a holder into. It is
	// the KEP's annotation.
	ElectedBy = "coordination.k8s.io/elected-by"
	// ElectedByValue is the value that the KEP gives this annotation.
	ElectedByValue = CoordinatorLease
	// Coordinator is an annotation of Leases and LeaseCandidates that names the
	// coordinator that has written to them last.
	Coordinator = "evenkeel.dev/coordinator"
	// Resolved is an annotation of a Lease that has the strategy which the coordinator wrote
	// because the candidates want it. Another strategy on the Lease is an operator's choice.
	Resolved = "evenkeel.dev/resolved-strategy"
)
