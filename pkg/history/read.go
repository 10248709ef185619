package history

// KindRead is the kind of a Read.
const KindRead Kind = "read"

// How a Read asks.
const (
	// ReadGet: some of the objects are asked for by name, without a resourceVersion,
	// which an API server has to answer with what etcd holds.
	ReadGet = "get"
	// ReadLimited: a list of at most Limit objects, without a resourceVersion.
	ReadLimited = "list-limited"
	// ReadContinued: the page after a ReadLimited, by the token that the member By gave with it.
	ReadContinued = "list-continued"
	// ReadConsistent: a list of all objects, without a resourceVersion, which an API server
	// has to answer with what etcd holds.
	ReadConsistent = "list-consistent"
	// ReadCached: a list with resourceVersion=0, which may be of any age.
	ReadCached = "list-cached"
	// ReadStreamed: a watch that begins with all objects, without a resourceVersion, up to
	// the bookmark after them, as the informers of client-go list (KEP-3157).
	ReadStreamed = "list-streamed"
	// ReadNotOlder: a list with resourceVersionMatch=NotOlderThan, whose revision is
	// After.
	ReadNotOlder = "list-not-older"
)

// Read is what a member answered to a read of one resource in all namespaces, held
// against what etcd holds at the revision that the member says its answer is of. It is
// recorded at the end of each hold and at the end of the run, of every resource of which
// etcd holds an object that the harness wrote, in every version that the member serves.
//
// The event's From is when the first request was sent, At when the comparison was done,
// and Member who answered.
type Read struct {
	// How is one of the Read… values.
	How   string `json:"how"`
	Group string `json:"group,omitempty"`
	// Version of the API that was asked for; empty where the member serves none.
	Version  string `json:"version,omitempty"`
	Resource string `json:"resource"`
	// Limit is how many objects a list was asked for at most; 0 for all.
	Limit int `json:"limit,omitempty"`
	// After is etcd's revision from before the request: of a ReadGet, ReadLimited,
	// ReadConsistent and ReadStreamed the revision that the answer must not be older than, of a
	// ReadNotOlder the one that was named, of a ReadContinued that of the page before, which
	// all pages of a list have.
	After int64 `json:"after,omitempty"`
	// Before is how many objects the page before a ReadContinued had, and By the member that
	// answered it.
	Before int    `json:"before,omitempty"`
	By     string `json:"by,omitempty"`
	// Asked is how many objects a ReadGet asked for.
	Asked int `json:"asked,omitempty"`
	// Code is the HTTP status, of a ReadGet the first one that was neither 200 nor 404
	// (404 is counted in Missing), or else 200; 0 when no answer came, and Error says why.
	// It is 404 with NotServed where the member's discovery does not have the resource.
	Code      int    `json:"code,omitempty"`
	NotServed bool   `json:"notServed,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
	Error     string `json:"error,omitempty"`
	// Items is how many objects the member answered with.
	Items int `json:"items"`
	// ResourceVersion of the list; 0 of a ReadGet, and where there was no list.
	ResourceVersion int64 `json:"rv,omitempty"`

	// Compared is whether the answer was held against etcd; Stored, Missing, Extra and
	// Differ say nothing where it was not, and NotCompared says why it was not.
	Compared    bool   `json:"compared,omitempty"`
	NotCompared string `json:"notCompared,omitempty"`
	// Stored is how many objects etcd holds at ResourceVersion, of a page how many
	// of them the answer should have had, of a ReadGet how many of those asked for it held
	// all the time.
	Stored int `json:"stored,omitempty"`
	// Missing is how many of these the member did not answer with, and Extra how many it
	// answered with that etcd does not hold.
	Missing int `json:"missing,omitempty"`
	Extra   int `json:"extra,omitempty"`
	// Older and Newer are how many of the objects had a resourceVersion below or above the
	// revision that last changed them in etcd.
	Older int `json:"older,omitempty"`
	Newer int `json:"newer,omitempty"`
	// Names are the first few that are missing, extra, older or newer, and why.
	Names []ReadName `json:"names,omitempty"`
}

// ReadName is one object whose state the member and etcd tell differently.
type ReadName struct {
	// Name of the object, with its namespace in front where it has one.
	Name string `json:"name"`
	// Answered is the resourceVersion that the member answered with, and Stored the
	// revision that etcd has; 0 where the object is not there.
	Answered int64 `json:"answered,omitempty"`
	Stored   int64 `json:"stored,omitempty"`
}

// Agrees is whether the answer came, was held against etcd and was the same.
func (r *Read) Agrees() bool {
	return r.Code == 200 && r.Compared && r.Missing+r.Extra+r.Older+r.Newer == 0
}
