package history

// KindVisibility is the kind of a Visibility.
const KindVisibility Kind = "visibility"

// Visibility is what one member showed of a write that another member had acknowledged.
// The event's Member is the one that was asked, its From is when the acknowledgement came,
// and At when all three questions had been answered, or were given up.
type Visibility struct {
	// Writer is the member that acknowledged the write, and Write the number of it, as in
	// Request.
	Writer string `json:"writer"`
	Write  int64  `json:"write"`
	// Name of the ConfigMap that was written, with its namespace in front.
	Name string `json:"name"`
	// ResourceVersion that the write was acknowledged with.
	ResourceVersion int64 `json:"rv"`
	// Get is a GET without a resourceVersion, which must not be older than the write. It
	// is asked again only where there was no answer of 200 or 404.
	Get Shown `json:"get"`
	// List is a list with resourceVersionMatch=NotOlderThan and ResourceVersion. It is
	// asked again as long as the answer is another one than 200.
	List Shown `json:"list"`
	// Watch is a watch of that ConfigMap, opened before the write. Its Sent is when it was
	// opened, and 0 where there was none.
	Watch Shown `json:"watch"`
}

// Shown is what a member showed of a write.
type Shown struct {
	// Asked is how many requests were sent; 0 of a watch.
	Asked int `json:"asked,omitempty"`
	// Code is the HTTP status of the last answer; 0 when there was none, and Error says why
	// in words. Of a watch, Error says how it was lost after the write.
	Code  int    `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
	// ResourceVersion of the object in the last answer; 0 where it was not there.
	ResourceVersion int64 `json:"rv,omitempty"`
	// Sent is when the request was sent that was answered last, and At when that answer
	// came, or the watch told of the write; in nanoseconds of the history, 0 for never. Of a
	// watch, Sent is when the one was opened that told of the write, or else the last one.
	Sent int64 `json:"sent,omitempty"`
	At   int64 `json:"at,omitempty"`
	// Stale is whether an answer of 200 or 404 was older than the write.
	Stale bool `json:"stale,omitempty"`
}

// Shows is whether the write was shown.
func (s *Shown) Shows(revision int64) bool { return s.At > 0 && s.ResourceVersion >= revision }
