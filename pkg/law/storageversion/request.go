package storageversion

import (
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// request is a request of the harness that the registration barrier holds back, or must
// let pass.
type request struct {
	fact.Stamp
	member, class, verb string
	resource            fact.Resource
	// object is the name of the StorageVersion of what it is about.
	object      string
	subresource bool
	code        int
	barrier     bool
	// named is the revision that the answer names, write the number of a tagged write.
	named, write int64
	// s is the process that answered; nil where that is not certain.
	s *server
}

// exceptions are the classes of requests that pass the barrier (KEP-2339, the list of
// exceptions of the filter); alone are those that need nothing but the server itself.
var (
	exceptions = []string{history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated}
	alone      = []string{history.ClassRead, history.ClassReview}
)

func (f *facts) observeRequest(ev *history.Event) {
	r := ev.Request
	if r.Class != history.ClassGuarded && !slices.Contains(exceptions, r.Class) {
		return
	}
	if r.Code == 0 && strings.Contains(r.Error, "connection refused") || unauthorized(r) {
		return // no server was there, or the request never came to its barrier
	}
	resource, sub, _ := strings.Cut(r.Resource, "/")
	of := fact.Resource{Group: r.Group, Resource: resource}
	f.requests = append(f.requests, &request{
		Stamp: fact.StampOf(ev), member: ev.Member, class: r.Class, verb: r.Verb, resource: of, object: of.StorageVersionName(), subresource: sub != "",
		code: r.Code, barrier: r.Barrier, named: r.ResourceVersion, write: r.Write,
	})
}

// unauthorized is whether the authorizer refused a request. It stands before the barrier, and
// for a while a server that starts does not know yet what most users may do.
func unauthorized(r *history.Request) bool {
	return r.Code == http.StatusForbidden && strings.Contains(r.Message, ` is forbidden: User "`) && strings.Contains(r.Message, `" cannot `+r.Verb+` resource "`)
}

// answer lays a request to the process that answered it.
func (s *server) answer(r *request) {
	if r.class != history.ClassGuarded {
		s.passing = append(s.passing, r)
		return
	}
	s.guarded[r.object] = append(s.guarded[r.object], r)
	if r.booting() {
		s.barred = fact.Span{Begin: min(s.barred.Begin, r.At), End: max(s.barred.End, r.From)}
	}
}

// booting is whether the barrier refused it before its server had been ready. Once it is
// ready a server may have to shut the barrier again, which says nothing of its registration.
func (r *request) booting() bool { return r.barrier && !r.s.readyBy(r.From) }

func (r *request) accepted() bool { return r.code >= 200 && r.code < 300 }

// slow is whether it was not answered in time, or shed.
func (r *request) slow() bool { return r.code == 0 || r.code == 429 || r.code == 504 }

// missed is whether the answer tells of an object that is not there or not as it was, so
// that the server had looked.
func (r *request) missed() bool { return r.code == 404 || r.code == 409 || r.code == 410 }

// odd is whether it is a refusal that nothing excuses before a registration.
func (r *request) odd() bool { return !r.accepted() && !r.missed() && !r.slow() && r.code != 503 }

// Entry is an obligation about the request.
func (r *request) Entry() law.Entry {
	at := fact.Moment{Earliest: min(r.From, r.At), Latest: r.At, Seq: r.Seq}
	return law.Of(r.object, at).By(r.member).Shown(r.Seq)
}

// made is the revision that a write made, as its answer or etcd tells; 0 if neither does.
// The answer to a delete has the revision of what was deleted; that to a change of a
// subresource may have changed nothing.
func (r *request) made() int64 {
	if w := r.s.f.Write(r.member, r.write); w != nil && w.InEtcd() {
		return w.Stored.Revision
	}
	if r.accepted() && r.tells() {
		return r.named
	}
	return 0
}

func (r *request) tells() bool {
	return !r.subresource && (r.verb == "create" || r.verb == "update" || r.verb == "patch")
}

// readyz is an answer of /readyz.
type readyz struct {
	fact.Stamp
	ok bool
}

// readyAround are the answers of /readyz of a member before a request was sent and after it
// was answered; nil where there is none, or one came while it was under way.
func (f *facts) readyAround(r *request) (before, after *readyz) {
	all := f.readyz[r.member]
	i := sort.Search(len(all), func(i int) bool { return all[i].Seq > r.Seq })
	if i > 0 && all[i-1].At <= r.From {
		before = &all[i-1]
	}
	if i < len(all) {
		after = &all[i]
	}
	return before, after
}
