package fact

import "github.com/evenkeel/evenkeel/pkg/history"

// ReadyRevision is a revision that etcd had right after a process of an API server was first
// seen to be ready; 0 where none was read.
func (h *History) ReadyRevision(p *Process) int64 {
	for _, a := range h.ReadyAnswers(p.Member) {
		if a.OK() && a.EtcdRevision > 0 && a.Earliest >= p.Started.Earliest && (p.Exited == nil || a.Latest <= p.Exited.Latest) {
			return a.EtcdRevision
		}
	}
	return 0
}

// Announced are the entries of a process of an API server in a StorageVersion: the one that
// stood when the process had registered and was ready, and those to which it was changed
// later in its life. What stood before may be the word of the process before. There are none
// of a process that was started without the StorageVersion API, and none where it is not
// known when the process was ready.
func (h *History) Announced(p *Process, v *StorageVersion) []EntryChange {
	from, of := h.ReadyRevision(p), v.Entry(h.ServerID(p.Member))
	if from == 0 || p.Without(history.FeatureStorageVersions) {
		return nil
	}
	until := h.LastTold()
	if p.After != nil {
		until = max(from, h.RevisionBy(p.After.Started.Earliest))
	}
	var out []EntryChange
	if first := of.At(from); first != nil {
		out = append(out, *first)
	}
	return append(out, Where(of.In(from, until), func(c EntryChange) bool { return c.There })...)
}
