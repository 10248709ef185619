package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// looks is what speaks against what discovery told. A server must not decide
// by its own word alone what it is judged on, nor go unjudged because nobody
// asked it.
type looks struct {
	// disputes are resources that discovery tells of in two ways, or otherwise
	// than etcd; known is what was noted already.
	disputes []string
	known    map[dispute]bool
	// unlooked are processes that were ready for a good while, and of which it
	// is not known what they hosted then.
	unlooked []string
}

type dispute struct {
	gr     groupResource
	member string
}

// keptLooks bounds how many doubts of one kind are told one by one.
const keptLooks = 20

// dispute notes that what a member's discovery says of a resource is not all
// there is to it.
func (w *World) dispute(gr groupResource, member, format string, args ...any) {
	key := dispute{gr, member}
	if w.looks.known[key] || len(w.looks.disputes) >= keptLooks {
		return
	}
	if w.looks.known == nil {
		w.looks.known = map[dispute]bool{}
	}
	w.looks.known[key] = true
	w.looks.disputes = append(w.looks.disputes, fmt.Sprintf(format, args...))
}

// disputeStored compares a change with what servers say they host: what lies in
// etcd is persisted, and what a member stored it hosts.
func (w *World) disputeStored(ev *history.Event) {
	s := ev.Stored
	if gr, ok := w.resourceOf(s); ok && w.resources.hosting[gr] == hostedElse && !w.explained(gr) {
		w.dispute(gr, "", "%s lies in etcd, and no server gives a storage version hash for it (event %d)", objectName(gr.group, gr.resource), ev.Seq)
	}
	gr, ok := w.tagged(s)
	srv := w.servers[s.Writer]
	if !ok || !srv.knows() || s.Revision <= srv.hostedRevision {
		return
	}
	r, listed := srv.listed[gr]
	switch {
	case !listed && w.custom[gr]:
		// It was defined since the server was looked at.
	case !listed:
		w.dispute(gr, s.Writer, "%s stores %s, which its discovery does not list (event %d)", s.Writer, gr.resource, ev.Seq)
	case !r.Persisted && !r.Custom && !r.Aggregated:
		w.dispute(gr, s.Writer, "%s stores %s, for which its discovery gives no storage version hash (event %d)", s.Writer, gr.resource, ev.Seq)
	}
}

// explained is whether some server has a reason to have no StorageVersion for a
// resource that is stored.
func (w *World) explained(gr groupResource) bool {
	if sharedStorage[gr] {
		return true
	}
	for _, srv := range w.servers {
		if r, ok := srv.listed[gr]; ok && (r.Persisted || r.Custom || r.Aggregated) {
			return true
		}
	}
	return false
}

// closeInstance notes, when a process's life is over, whether it was looked at.
func (w *World) closeInstance(in *instance) {
	if in == nil || in.ready == nil || in.discovered != nil && in.ready.revision > 0 || len(w.looks.unlooked) >= keptLooks {
		return
	}
	end := in.exitedAt
	if end == 0 {
		end = w.Now
	}
	if time.Duration(end-in.ready.at) > lookedWithin {
		w.looks.unlooked = append(w.looks.unlooked, fmt.Sprintf(
			"process %d of the API server of %s was ready, and it is not known what it hosted and at which revision of etcd (event %d)", in.number, in.server.member, in.ready.seq))
	}
}

func (l *looks) doubts() []string { return slices.Concat(l.disputes, l.unlooked) }
