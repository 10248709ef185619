package storageversion

import (
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// loss is an entry that was taken away from a server which takes part, by a write that is
// not the server's own: a collector's, as far as can be seen.
type loss struct {
	revision
	id string
	// came is when the entry had come; whole is whether all of the object went.
	came  fact.Stamp
	whole bool
}

// losses are those that neither the harness nor the server itself brought about. Those by
// the report of another server are SV-09's.
func (f *facts) losses() (out []loss) {
	for _, v := range f.StorageVersions() {
		for _, id := range v.Servers() {
			for _, s := range v.Entry(id).Stretches(anyEntry) {
				if s.Ended == nil {
					continue
				}
				r := revision{v.ChangeBy(s.Ended.Revision), f, v, v.At(s.Ended.Revision - 1)}
				x := loss{r, id, s.Began, !r.There}
				if len(r.changed()) == 0 && f.Participation(id).Through(r.before.Revision, r.Revision) && !x.ownDoing() && !f.takenBy(v.Name, *s.Ended) {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// ownDoing is whether the server may have taken its entry out itself: because it does not
// host the resource, or because it starts again, which SV-21 judges. A server that is no
// member does neither: the harness plays it.
func (x loss) ownDoing() bool {
	s := x.f.serverOf(x.f.MemberOfServer(x.id), x.Revision)
	if s == nil {
		return false
	}
	at := x.f.When(x.Stamp)
	if s.Before != nil && s.Alive().At(at.Latest) != fact.No && (!s.readyBy(at.Latest) || x.Revision <= s.revision) {
		return true
	}
	look := s.lookBy(x.At)
	if look == nil && len(s.looks) > 0 {
		look = s.looks[0]
	}
	// A server goes on with what it has said of a custom resource for as long as the definition
	// exists, which is known of those that the harness has defined.
	custom := look != nil && x.f.DefinedName(x.of.Name) && look.Lists(x.of.Name)
	return look != nil && !look.Hosts(x.of.Name) && !custom
}

// raced is whether the entry was so young, while a fault held back the writes of controller
// managers, that the collector cannot have seen it when it decided.
func (x loss) raced(underWay time.Duration) fact.Truth {
	held := x.f.FaultActive(func(y *fact.Fault) bool {
		return y.Type == history.FaultHTTP && y.Action == history.FaultHTTPDelay && y.Component == history.ComponentControllerManager
	})
	at := x.f.When(x.Stamp)
	least, most := x.f.When(x.came).Until(at)
	switch {
	case least > underWay || held.Lasts(at.Earliest-int64(underWay), at.Latest+1, fact.Unknown) == 0:
		return fact.No
	case most > underWay:
		return fact.Unknown
	}
	return fact.Yes
}

// exchange is a request of a controller manager that a fault hit.
type exchange struct {
	fact.Stamp
	member string
	*history.InterceptedRequest
}

// Where API servers have StorageVersions, and the Leases among which identity Leases are.
const (
	storageVersionsPath = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"
	leasesPath          = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	leaderLease         = "kube-controller-manager"
)

// object is the name of the StorageVersion that it writes to; empty if it is none.
func (x exchange) object() string {
	if name, ok := strings.CutPrefix(x.Path, storageVersionsPath); ok {
		return strings.TrimSuffix(name, "/status")
	}
	return ""
}

// failedLookup is whether a controller manager asked for identity Leases and got no answer,
// or one that tells of a failure. A missing Lease is no failure. Other controllers list and
// watch the Leases of all namespaces, and all of them watch.
func (x exchange) failedLookup() bool {
	if x.Method != "GET" || x.Watch || x.Code != 0 && x.Code < 400 || x.Code == 404 {
		return false
	}
	name, one := strings.CutPrefix(x.Path, leasesPath+"/")
	return x.Path == leasesPath || one && name != leaderLease
}

// heldFor is whether a write was held back from one time to another.
func (x exchange) heldFor(from, to int64) bool {
	return x.Sent && x.Held > 0 && from > x.From && to < x.From+int64(time.Duration(x.Held))
}
