package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
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
	// ready is whether the last answer of /readyz before it was 200.
	ready bool
	// named is the revision that the answer names, write the number of a tagged write.
	named, write int64
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
	if r.Code == 0 && strings.Contains(r.Error, "connection refused") {
		return // no server was there
	}
	resource, sub, _ := strings.Cut(r.Resource, "/")
	of := fact.Resource{Group: r.Group, Resource: resource}
	f.requests = append(f.requests, request{
		Stamp: fact.StampOf(ev), member: ev.Member, class: r.Class, verb: r.Verb, resource: of, object: of.StorageVersionName(), subresource: sub != "",
		code: r.Code, barrier: r.Barrier, named: r.ResourceVersion, write: r.Write,
	})
	f.linger(&f.requests[len(f.requests)-1])
}

// sortRequests lays each request to the process that answered it.
func (f *facts) sortRequests(d *derived) {
	d.answers, d.passes = map[*server]map[string][]*request{}, map[*server][]*request{}
	for i := range f.requests {
		r := &f.requests[i]
		s := d.of[f.ProcessAt(r.member, history.ComponentAPIServer, f.When(r.Stamp))]
		switch {
		case s == nil:
		case r.class != history.ClassGuarded:
			d.passes[s] = append(d.passes[s], r)
		default:
			if d.answers[s] == nil {
				d.answers[s] = map[string][]*request{}
			}
			d.answers[s][r.object] = append(d.answers[s][r.object], r)
		}
	}
}

func (r *request) accepted() bool { return r.code >= 200 && r.code < 300 }

// slow is whether it was not answered in time, or shed.
func (r *request) slow() bool { return r.code == 0 || r.code == 429 || r.code == 504 }

// tells is whether the answer has the revision that the write made. That to a delete has
// the one of what was deleted; that to a change of a subresource may have changed nothing.
func (r *request) tells() bool {
	return !r.subresource && (r.verb == "create" || r.verb == "update" || r.verb == "patch")
}

// refusedBooting is whether the barrier refused it before its server had been ready. Once
// it is ready a server may have to shut the barrier again, which says nothing of its
// registration.
func (r *request) refusedBooting(s *server) bool {
	return r.class == history.ClassGuarded && r.barrier && !s.readyBy(r.From)
}

// barrierUntil is when the last write was sent that a process refused by its barrier
// before it had been ready, and since when it was seen to refuse; Never if there is none.
func (f *facts) barrierUntil(s *server) (since, until int64) {
	since, until = fact.Forever, fact.Never
	for _, requests := range f.derive().answers[s] {
		for _, r := range requests {
			if r.refusedBooting(s) {
				since, until = min(since, r.At), max(until, r.From)
			}
		}
	}
	return since, until
}
