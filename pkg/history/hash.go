package history

// KindEtcdHash is the kind of an EtcdHash.
const KindEtcdHash Kind = "etcdHash"

// EtcdHash is etcd's own hash of all keys that each member's etcd holds, with their
// history since the last compaction, up to one revision. It is recorded at the end of each
// hold and at the end of the run.
type EtcdHash struct {
	// Revision that all members were asked for; one that a majority had before.
	Revision int64 `json:"revision"`
	// Members are the answers, one for each member of the control plane, in its order.
	Members []EtcdMemberHash `json:"members"`
}

// EtcdMemberHash is the answer, or the lack of one, of one member's etcd.
type EtcdMemberHash struct {
	// Member is the name of the control plane's member.
	Member string `json:"member"`
	// Error is why there was no answer; what follows is empty then.
	Error string `json:"error,omitempty"`
	// Hash is in hexadecimal. Hashes of members that have compacted their history to
	// different revisions cannot be compared.
	Hash string `json:"hash,omitempty"`
	// Compacted is the revision up to which the member has compacted its history; -1 where
	// it never has.
	Compacted int64 `json:"compacted,omitempty"`
	// Current is the member's own latest revision as it answered.
	Current int64 `json:"current,omitempty"`
}
