package history

import "time"

// ThirdPartyObject is something in the cluster that neither the control plane nor the harness has
// made: an APIService of another server, a CustomResourceDefinition, a Lease or a
// LeaseCandidate of a program that is no member's, an entry of an unknown server in a
// StorageVersion. What becomes of it is its owner's business, so that a judge must leave
// it out of what it compares; what it does to everything else is the control plane's.
//
// The event's At is when it was read, and From when it was known last not to be so. It
// may have come about at any time in between. From is 0 for what was there before the
// recorder's first look.
type ThirdPartyObject struct {
	// Type is one of the ThirdParty… types.
	Type string `json:"type"`
	// Name of the object, with its namespace in front where it has one; for
	// ThirdPartyServer the server's ID.
	Name string `json:"name"`
	// Change is one of the ThirdParty… changes.
	Change string `json:"change"`
	// Group and Version that an APIService hands on, or the Group and Resource that a
	// CustomResourceDefinition defines, in whatever versions.
	Group    string `json:"group,omitempty"`
	Version  string `json:"version,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Available is the status of the condition Available of an APIService (True, False
	// or Unknown), and Reason its reason; empty where it has no such condition.
	Available string `json:"available,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// Types of a ThirdPartyObject.
const (
	ThirdPartyAPIService = "apiservice"
	ThirdPartyCRD        = "crd"
	ThirdPartyLease      = "lease"
	ThirdPartyCandidate  = "candidate"
	// ThirdPartyServer is an entry in a StorageVersion of a server that is no member.
	ThirdPartyServer = "server"
)

// Changes of a ThirdPartyObject.
const (
	// ThirdPartyPresent: it was there at the recorder's first look.
	ThirdPartyPresent = "present"
	// ThirdPartyAppeared: it was not there at the look before.
	ThirdPartyAppeared = "appeared"
	// ThirdPartyChanged: its spec or its availability is another one.
	ThirdPartyChanged = "changed"
	// ThirdPartyDeleted: it is there no more.
	ThirdPartyDeleted = "deleted"
)

// ThirdPartyPollInterval is the longest time between two looks at the APIServices while an API
// server answers: so much earlier than it is recorded one may have appeared or changed.
// CustomResourceDefinitions, of which there may be many, are looked at every
// ThirdPartyCRDPollInterval.
const (
	ThirdPartyPollInterval    = time.Second
	ThirdPartyCRDPollInterval = 5 * time.Second
)
