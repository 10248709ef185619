package migration

import (
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// requests are those of the harness.
type requests struct {
	// flawed are the requests about migrations that had to be refused, and created those
	// that created one with a status.
	flawed, created []flawedRequest
	// deletions are what clients asked to delete, by what it is.
	deletions map[removal][]deleteRequest
	// timed are the requests whose time tells how well clients are served.
	timed []timedRequest
	// lists are the lists of migrations.
	lists []listRequest
	// defined are the resources that the harness has defined itself.
	defined map[Resource]bool
	// accepted are when tagged writes were accepted that etcd has not shown, and stored
	// those that it has shown before they were answered.
	accepted map[writeID]int64
	stored   map[writeID]struct{}
}

type flawedRequest struct {
	fact.Stamp
	member, name, flaw string
	code               int
}

// removal is an object by its resource and name.
type removal struct {
	of   Resource
	name string
}

type deleteRequest struct {
	from, at, seq int64
}

// timedRequest is a request that was served, or that was not though a server was there.
type timedRequest struct {
	fact.Stamp
	member int32
	served bool
}

type listRequest struct {
	fact.Stamp
	member, version string
	code            int
}

const watchedMigrations = "storageversionmigrations"

func newRequests() requests {
	return requests{deletions: map[removal][]deleteRequest{}, defined: map[Resource]bool{}, accepted: map[writeID]int64{}, stored: map[writeID]struct{}{}}
}

func (f *Facts) observeRequest(ev *history.Event) {
	r, q := ev.Request, &f.requests
	if r.Write > 0 && accepted(r) && (r.Class == history.ClassGuarded || r.Class == history.ClassCustom) {
		q.answered(writeID{ev.Member, r.Write}, ev.At)
	}
	if d := r.Defines; d != nil && !d.Remote {
		q.defined[Resource{d.Group, d.Resource}] = true // also without an answer it may be in force
	}
	switch {
	case r.Class == history.ClassMigration:
		one := flawedRequest{fact.StampOf(ev), ev.Member, r.Name, r.Invalid, r.Code}
		if r.Invalid != "" {
			q.flawed = append(q.flawed, one)
		} else if r.Verb == "create" && accepted(r) && r.Migrates != nil && r.Migrates.Checkpoint != "" {
			q.created = append(q.created, one)
		}
	case r.Verb == "list" && r.Resource == watchedMigrations:
		q.lists = append(q.lists, listRequest{fact.StampOf(ev), ev.Member, r.Version, r.Code})
	}
	// What came of a request that a server gave up on, or did not answer, is not known.
	if r.Verb == "delete" && (accepted(r) || r.Code == 0 || r.Code >= 500 && !r.Barrier) {
		what := removal{Resource{r.Group, r.Resource}, r.Name}
		q.deletions[what] = append(q.deletions[what], deleteRequest{ev.From, ev.At, ev.Seq})
	}
	if r.Class == history.ClassGuarded || r.Class == history.ClassRead || r.Class == history.ClassCustom {
		if served := accepted(r); served || shed(r) {
			q.timed = append(q.timed, timedRequest{fact.StampOf(ev), f.memberNumber(ev.Member), served})
		}
	}
}

func (f *Facts) memberNumber(member string) int32 {
	for i, m := range f.Header.Members {
		if m.Name == member {
			return int32(i)
		}
	}
	return -1
}

func accepted(r *history.Request) bool { return r.Code >= 200 && r.Code < 300 }

// refused is whether a server refused what was sent for what it is.
func (r *flawedRequest) refused() bool {
	return r.code == http.StatusBadRequest || r.code == http.StatusForbidden || r.code == http.StatusUnprocessableEntity
}

// shed is whether a request was not answered though a server was there and the harness
// waited, or refused because of too much to do. The registration barrier is another
// matter.
func shed(r *history.Request) bool {
	switch r.Code {
	case 0:
		return !strings.Contains(r.Error, "connection refused") && !strings.Contains(r.Error, "context canceled")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !r.Barrier
	}
	return false
}

// answered notes that a tagged write was accepted.
func (q *requests) answered(id writeID, at int64) {
	if _, there := q.stored[id]; there {
		delete(q.stored, id)
		return
	}
	q.accepted[id] = at
}

// shown notes that etcd showed a tagged write.
func (q *requests) shown(id writeID) {
	if _, there := q.accepted[id]; there {
		delete(q.accepted, id)
		return
	}
	q.stored[id] = struct{}{}
}

// unshown doubts a law that goes by tags where accepted writes never showed in etcd.
func (f *Facts) unshown(l *law.Ledger) {
	counts := map[string]int64{}
	for id, at := range f.requests.accepted {
		if at < f.Now-int64(writesShow()) {
			counts[id.member]++
		}
	}
	for _, member := range law.SortedKeys(counts) {
		l.Doubt("%d writes that %s accepted never showed in etcd under their tag, so that it is not known what it stored", counts[member], member)
	}
}

// exchange is a write by a controller manager that a fault on its link has seen.
type exchange struct {
	fact.Stamp
	of   Resource
	name string
	code int
}

// passes is whether it met an error that passes by itself: too many requests, an error of
// the server or of what is in between, or no answer at all.
func (x *exchange) passes() bool {
	return x.code == 0 || x.code == http.StatusTooManyRequests || x.code >= http.StatusInternalServerError
}

// done is whether it was answered for good.
func (x *exchange) done() bool {
	return x.code >= 200 && x.code < 300 || x.code == http.StatusConflict || x.code == http.StatusNotFound
}

func (f *Facts) observeExchange(ev *history.Event) {
	x := ev.Exchange
	if x.Component != history.ComponentControllerManager || x.Method != http.MethodPut && x.Method != http.MethodPatch {
		return
	}
	if of, name, ok := objectOf(x.Path); ok {
		f.exchanges = append(f.exchanges, exchange{fact.StampOf(ev), of, name, x.Code})
	}
}

// objectOf reads which object a path of the API names; ok is false for any other path, one
// of a subresource too.
func objectOf(path string) (of Resource, name string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		of.Group, parts = parts[1], parts[3:]
	default:
		return of, "", false
	}
	namespace := ""
	if len(parts) == 4 && parts[0] == "namespaces" {
		namespace, parts = parts[1]+"/", parts[2:]
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return of, "", false
	}
	of.Name = parts[0]
	return of, namespace + parts[1], true
}

// sentDuring are the writes of the controller that its link saw while a migration ran.
func (m *Migration) sentDuring() []*exchange {
	var out []*exchange
	running := m.Running()
	for i := range m.facts.exchanges {
		if x := &m.facts.exchanges[i]; x.of == m.Of && running.At(x.At) != fact.No {
			out = append(out, x)
		}
	}
	return out
}
