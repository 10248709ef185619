package history

import "time"

// DiscoveryDocument is the answer to one request for discovery, aggregated or not.
type DiscoveryDocument struct {
	// Path that was asked for: /api, /apis, or that of a group-version. It is that of
	// a resource where objects were asked for that only peers host (KEP-4020), to see
	// whether the request is handed on; such an answer has no Listing.
	Path string `json:"path"`
	// LocalOnly is whether the request said that a peer API server had proxied it, so that
	// this API server had to answer from its own resources only.
	LocalOnly bool `json:"localOnly,omitempty"`
	// Accept and IfNoneMatch are the request's headers; empty means that none was
	// sent.
	Accept      string `json:"accept,omitempty"`
	IfNoneMatch string `json:"ifNoneMatch,omitempty"`
	// Sweep counts the thorough looks at one member from 1; all answers of one
	// have its number. 0 is a single look, of which those that told nothing new
	// are left out, but for one each second.
	Sweep int64 `json:"sweep,omitempty"`
	// Last is whether it is the last answer of its sweep.
	Last bool `json:"last,omitempty"`

	// Code is the HTTP status; 0 when no answer came, and Error says why.
	Code  int    `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
	// ContentType, ETag, Vary and CacheControl are headers of the answer.
	ContentType  string `json:"contentType,omitempty"`
	ETag         string `json:"etag,omitempty"`
	Vary         string `json:"vary,omitempty"`
	CacheControl string `json:"cacheControl,omitempty"`
	// Size of the body in bytes, and Digest of it (SHA-256).
	Size   int    `json:"size,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Content names the Listing that the body holds; empty where it holds none,
	// and Unreadable then says why if the status is 200.
	Content    string `json:"content,omitempty"`
	Unreadable string `json:"unreadable,omitempty"`
	// Listing is that content, the first time that a history has it.
	Listing *Listing `json:"listing,omitempty"`
	// Status is the reason of a Status in the body, in the place of a document.
	Status string `json:"status,omitempty"`
	// Client is what a client of client-go found out, where the Path is ClientPath. Beside an
	// Error it has the numbers of requests alone; before this release there was none then.
	Client *DiscoveryClient `json:"client,omitempty"`
	// Durations is how many aggregations the server's metric of their duration has counted,
	// in the answers of its metrics; -1 where it has none, and nil where the recorder did
	// not look for it.
	Durations *int64 `json:"durations,omitempty"`
	// Aggregations is what the server's counter of aggregations stands at, in the
	// answers of its metrics; nil where it has none.
	Aggregations *int64 `json:"aggregations,omitempty"`
}

// MetricsPath is the Path of a DiscoveryDocument that is not one, but tells Aggregations.
const MetricsPath = "/metrics"

// ClientPath is the Path of a DiscoveryDocument that is not one, but tells what a Client found.
const ClientPath = "client-go"

// DiscoveryClient is what client-go's cached discovery client and the RESTMapper that is
// made of it found out at one member. Nothing was cached before.
type DiscoveryClient struct {
	// Legacy is whether the client never asks for the aggregated document.
	Legacy bool `json:"legacy,omitempty"`
	// Requests is how many requests it sent, and Refused how many of them were answered
	// with 429 or an error of the server, or not at all or not to the end, so that it may have
	// asked again.
	Requests int `json:"requests"`
	Refused  int `json:"refused,omitempty"`
	// Resources is how many resources it knows, subresources not among them.
	Resources int `json:"resources"`
	// Mapping names what it knows: group-version, resource, kind and scope of each.
	Mapping string `json:"mapping,omitempty"`
	// Unmapped are resources whose kind the RESTMapper does not map to them, at most ten.
	Unmapped []string `json:"unmapped,omitempty"`
	// Missing are group-versions that it knows to exist, and not what is in them.
	Missing []string `json:"missing,omitempty"`
}

// Listing is what a discovery document says, whatever the encoding: two bodies
// that tell the same have the same one.
type Listing struct {
	// APIVersion and Kind of the document.
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	// Metadata are the names of the fields that the list's metadata has.
	Metadata []string `json:"metadata,omitempty"`
	// Groups in the order of the document. A document of the core group alone, or
	// of a single group-version, has one.
	Groups []ListedGroup `json:"groups,omitempty"`
}

// ListedGroup is a group in a discovery document.
type ListedGroup struct {
	// Name is empty for the core group.
	Name string `json:"name,omitempty"`
	// Metadata are the names of the fields that its metadata has beside the name.
	Metadata []string `json:"metadata,omitempty"`
	// Preferred is the version that a document says is preferred; the aggregated
	// one says so by the order alone.
	Preferred string          `json:"preferred,omitempty"`
	Versions  []ListedVersion `json:"versions,omitempty"`
}

// ListedVersion is a version of a group in a discovery document.
type ListedVersion struct {
	Version   string `json:"version"`
	Freshness string `json:"freshness,omitempty"`
	// Inventory names the resources whatever their order, in the same words for
	// all kinds of documents; empty where a document does not tell of resources.
	Inventory string `json:"inventory,omitempty"`
	// Order names the order of the resources.
	Order string `json:"order,omitempty"`
	// Resources are those of the Inventory, the first time that a history has it.
	Resources []ListedResource `json:"resources,omitempty"`
	// Accepted names the acceptedTypes of the subresources that can be written; empty where
	// there are none, or the document is not aggregated. Accepts are these types, by
	// subresource as in "leases/status", the first time that a history has them.
	Accepted string              `json:"accepted,omitempty"`
	Accepts  map[string][]string `json:"accepts,omitempty"`
}

// Values of ListedVersion.Freshness.
const (
	FreshnessCurrent = "Current"
	FreshnessStale   = "Stale"
)

// ListedResource is a resource of a group-version, or a subresource of one. All
// lists are sorted.
type ListedResource struct {
	Name     string `json:"name"`
	Singular string `json:"singular,omitempty"`
	// Kind is group, version and kind, in full, with slashes between them.
	Kind         string           `json:"kind,omitempty"`
	Namespaced   bool             `json:"namespaced,omitempty"`
	Verbs        []string         `json:"verbs,omitempty"`
	ShortNames   []string         `json:"shortNames,omitempty"`
	Categories   []string         `json:"categories,omitempty"`
	Subresources []ListedResource `json:"subresources,omitempty"`
}

// Definition is what a request of the harness says shall be hosted: by a
// CustomResourceDefinition, or by an APIService that hands a group-version on.
type Definition struct {
	// Remote is whether it is an APIService.
	Remote bool   `json:"remote,omitempty"`
	Group  string `json:"group"`
	// Resource that a CustomResourceDefinition defines.
	Resource string `json:"resource,omitempty"`
	// Versions to be served from now on; none after a delete.
	Versions []string `json:"versions,omitempty"`
	// ShortNames that the resource is to have from now on, in order.
	ShortNames []string `json:"shortNames,omitempty"`
	// Stored is the version that objects are to be stored in from now on, where a
	// CustomResourceDefinition says so.
	Stored string `json:"stored,omitempty"`
}

// FaultBackend is the type of a fault of an aggregated server; the Action is one
// of Backend…, and the Group that of its APIs. Chaos Mesh has no kind for it.
const FaultBackend = "Backend"

// What a misbehaving aggregated server does.
const (
	// BackendRefuse: it takes no connections.
	BackendRefuse = "refuse"
	// BackendHang: it takes requests and never answers.
	BackendHang = "hang"
	// BackendUnavailable: it answers 503.
	BackendUnavailable = "unavailable"
	// BackendReset: it breaks the connection in the place of an answer.
	BackendReset = "reset"
	// BackendGarbage: it answers 200 with what is no document.
	BackendGarbage = "garbage"
	// BackendWrongGroups: its document tells of groups that are not its own, and of
	// resources without a kind.
	BackendWrongGroups = "wrongGroups"
	// BackendNotModified: it answers 304 to everything.
	BackendNotModified = "notModified"
	// BackendSlowBody: it answers a byte at a time and does not come to an end.
	BackendSlowBody = "slowBody"
	// BackendHuge: its document has ten megabytes.
	BackendHuge = "huge"
)

// BackendGivesNoAnswer is whether clients get no answer at all from a server that
// behaves so, which no server can take for one.
func BackendGivesNoAnswer(action string) bool {
	switch action {
	case BackendRefuse, BackendHang, BackendUnavailable, BackendReset, BackendSlowBody:
		return true
	}
	return false
}

// DiscoveryDocumentRepeat is the longest time between two DiscoveryDocument events of a member
// that answers, even when nothing changes.
const DiscoveryDocumentRepeat = time.Second
