package history

import "time"

// Candidate is the content of a stored LeaseCandidate.
type Candidate struct {
	// Lease that it wants to lead, in its own namespace.
	Lease string `json:"lease"`
	// Binary and Emulation are versions, without a leading v.
	Binary    string `json:"binary,omitempty"`
	Emulation string `json:"emulation,omitempty"`
	Strategy  string `json:"strategy,omitempty"`
	// Pinged is when it was asked last, and Renewed when it renewed last.
	Pinged  time.Time `json:"pinged,omitzero"`
	Renewed time.Time `json:"renewed,omitzero"`
	// Coordinator is who asked last, where the candidate says so: the holder of the
	// coordinators' own Lease, or no more than the host that it runs on.
	Coordinator string `json:"coordinator,omitempty"`
}

// Answered is whether a candidate has no ping to answer.
func (c *Candidate) Answered() bool {
	return !c.Renewed.IsZero() && !c.Renewed.Before(c.Pinged)
}

// LeaderAction is an action of a leader, as the object says that it wrote to: see
// observe.LeaderActionAnnotation and observe.LeaderActivityNamespace.
type LeaderAction struct {
	// Lease by which it leads, as <namespace>/<name>, and Holder, the identity of the
	// leader. For some components only the Host that they run on is known; then Holder
	// is empty.
	Lease  string `json:"lease"`
	Holder string `json:"holder,omitempty"`
	Host   string `json:"host,omitempty"`
	// Version that it runs, Term for how manieth time the Lease has changed hands,
	// and Number of the action in that term, or the revision that made the object where
	// there is no term.
	Version string `json:"version,omitempty"`
	Term    int64  `json:"term,omitempty"`
	Number  int64  `json:"number,omitempty"`
	// Sent is when the leader looked at whether it led and sent the request, by its own clock;
	// zero where it does not say.
	Sent time.Time `json:"sent,omitzero"`
}

// Holders that the harness gives to Leases: AbsentHolder is no process at all, and
// ThirdPartyHolder stands for a third party, which is no coordinator, that assigns the Lease.
const (
	AbsentHolder     = "evenkeel-nobody" // quoted: published bundles have it
	ThirdPartyHolder = "evenkeel-third-party"
)

// What a request of ClassElection is about.
const (
	// ElectionDelete: a Lease is deleted.
	ElectionDelete = "delete"
	// ElectionAbsentHolder: a Lease is given to a holder that does not exist.
	ElectionAbsentHolder = "absent-holder"
	// ElectionMalformed: a Lease gets content that makes no sense.
	ElectionMalformed = "malformed"
	// ElectionParticipate: a participant of the harness's own is declared, renews,
	// leads or goes.
	ElectionParticipate = "participate"
	// ElectionLegacy: a participant that knows nothing of coordination claims a
	// Lease or renews it.
	ElectionLegacy = "legacy"
	// ElectionFields: a Lease of the harness's own is made or changed, with a strategy
	// and a preferred holder in it.
	ElectionFields = "fields"
	// ElectionAssign: a third party, which is not the coordinator, gives a Lease a holder.
	ElectionAssign = "assign"
	// ElectionChoose: an operator sets the strategy of a Lease.
	ElectionChoose = "choose"
)
