package migration

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// requests are those of the harness.
type requests struct {
	// flawed are the requests about migrations that had to be refused, created those that
	// created one with a status, and lists the lists of migrations.
	flawed, created, lists []request
	// asked are the names of migrations that the harness has created.
	asked map[string]bool
	// timed are the requests whose time tells how well clients are served.
	timed []timedRequest
}

type request struct {
	*Facts
	fact.Moment
	Member string
	*history.Request
}

// timedRequest is a request that was served, or that was not though a server was there.
type timedRequest struct {
	fact.Stamp
	member int32
	served bool
	// defined is when the definition of the custom resource that it is about had changed
	// last, 0 where that is not known or it is about no custom resource.
	defined int64
}

const watchedMigrations = "storageversionmigrations"

func (f *Facts) observeRequest(ev *history.Event) {
	r, q := ev.Request, &f.requests
	if r.Class == history.ClassMigration && r.Verb == "create" && accepted(r) {
		if q.asked == nil {
			q.asked = map[string]bool{}
		}
		q.asked[r.Name] = true
	}
	one := request{f, f.When(fact.StampOf(ev)), ev.Member, r}
	switch {
	case r.Class == history.ClassMigration && r.Invalid != "":
		q.flawed = append(q.flawed, one)
	case r.Class == history.ClassMigration && r.Verb == "create" && accepted(r) && r.Migrates != nil && r.Migrates.Checkpoint != "":
		q.created = append(q.created, one)
	case r.Verb == "list" && r.Resource == watchedMigrations:
		q.lists = append(q.lists, one)
	}
	if slices.Contains([]string{history.ClassGuarded, history.ClassRead, history.ClassCustom}, r.Class) && (accepted(r) || shed(r)) {
		t := timedRequest{Stamp: fact.StampOf(ev), member: index(slices.Index(f.Members(), ev.Member)), served: accepted(r)}
		if d := f.definitions[Resource{r.Group, r.Resource}]; d != nil {
			t.defined = d.Last().At
		}
		q.timed = append(q.timed, t)
	}
}

func accepted(r *history.Request) bool { return r.Code >= 200 && r.Code < 300 }

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

// refusals are the answers by which a request is refused for what it is.
var refusals = []int{http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity}

// refuses is a law by which all requests with a flaw are refused for what they are.
func refuses(flaw, what string) law.Law[*Facts] {
	return each[request]{
		Over: func(f *Facts) []request {
			return fact.Where(f.requests.flawed, func(r request) bool { return r.Invalid == flaw })
		},
		End: func(r request, _ law.Bounds) law.Entry {
			e := law.Of(r.Name, r.Moment).By(r.Member)
			switch {
			case slices.Contains(refusals, r.Code):
				return e.Met(flaw)
			case accepted(r.Request):
				return e.Broken("%s accepted %s (%s)", r.Member, what, r.Name).Alone()
			}
			return e.Excused("the request was not answered by what it asked for")
		},
	}
}

// untoldWrites doubts a law that goes by tags where accepted writes never showed in etcd.
var untoldWrites = written{Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
	untold := f.UntoldWrites()
	for _, member := range law.SortedKeys(untold) {
		l.Doubt("%d writes that %s accepted never showed in etcd under their tag, so that it is not known what it stored", untold[member], member)
	}
}}

// deletions are the requests of clients to delete an object that may have been heeded.
func (f *Facts) deletions(of Resource, name string) []*fact.Asked {
	return fact.Where(f.Asked(of.Group, of.Name, name), func(a *fact.Asked) bool { return a.Verb == "delete" && a.Took() != fact.No })
}

// unasked are the deletions of objects that no client asked for: each request explains one
// deletion that it may have brought about, an answered one before one of which it is not known
// what became of it.
func (f *Facts) unasked(r Resource) []*Change {
	var out []*Change
	used := map[*fact.Asked]bool{}
	p := f.population(r)
	for i := range p.changes {
		c := &p.changes[i]
		if !c.Gone {
			continue
		}
		at, name := c.when(), c.Object.Name
		asked := fact.Where(f.deletions(r, name), func(a *fact.Asked) bool { return !used[a] && f.Deletes(a, c.askedFor()) != fact.No })
		if len(asked) > 0 {
			used[slices.MaxFunc(asked, func(a, b *fact.Asked) int { return cmp.Compare(a.Took(), b.Took()) })] = true
			continue
		}
		namespace, _, _ := strings.Cut(name, "/")
		definitions := fact.Where(f.definition(r).All(), func(d Definition) bool { return !d.There })
		if !f.wentWith(at, Resource{"", "namespaces"}, namespace, f.removed[namespace]) &&
			!f.wentWith(at, Resource{"apiextensions.k8s.io", "customresourcedefinitions"}, r.String(), fact.Each(definitions, stampOf)) {
			out = append(out, c)
		}
	}
	return out
}

// askedFor is when a deletion was asked for: when it was made, or when the object began to be
// deleted that a finalizer held.
func (c *Change) askedFor() fact.Moment {
	first := c
	for before := c.Before(); before != nil && before.Deleting; before = before.Before() {
		first = before
	}
	return first.when()
}

// wentWith is whether a client had asked to delete what keeps an object, a namespace or a
// definition, so that the object went before it did. removed are the deletions of that. A request
// of which it is not known what became of it counts where that was deleted afterwards.
func (f *Facts) wentWith(at fact.Moment, of Resource, name string, removed []fact.Stamp) bool {
	later := slices.ContainsFunc(removed, func(gone fact.Stamp) bool { return gone.Revision >= at.Revision })
	return slices.ContainsFunc(f.deletions(of, name), func(a *fact.Asked) bool {
		return a.From <= at.Latest && (later || a.Took() == fact.Yes) && !slices.ContainsFunc(removed, func(gone fact.Stamp) bool {
			return gone.Revision < at.Revision && f.When(gone).Latest >= a.From
		})
	})
}

func stampOf(d Definition) fact.Stamp { return d.Stamp }

// exchange is a write by a controller manager that a fault on its link has seen.
type exchange struct {
	fact.Stamp
	of   Resource
	name string
	code int
	// replaced is whether the fault gave the code in the place of the API server.
	replaced bool
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
	x := ev.InterceptedRequest
	if x.Component != history.ComponentControllerManager || x.Method != http.MethodPut && x.Method != http.MethodPatch {
		return
	}
	if of, name, ok := objectOf(x.Path); ok {
		replaced := slices.ContainsFunc(f.Faults, func(one *fact.Fault) bool { return one.ID == x.Fault && one.Action == history.FaultHTTPReplace })
		f.exchanges = append(f.exchanges, exchange{fact.StampOf(ev), of, name, x.Code, replaced})
	}
}

// objectPath is the path of an object of the API, and not of a subresource: its group, its
// namespace, its resource and its name.
var objectPath = regexp.MustCompile(`^/api(?:s/([^/]+))?/[^/]+/(?:namespaces/([^/]+/))?([^/]+)/([^/]+)$`)

// objectOf reads which object a path of the API names; ok is false for any other path.
func objectOf(path string) (of Resource, name string, ok bool) {
	parts := objectPath.FindStringSubmatch(path)
	if parts == nil {
		return of, "", false
	}
	return Resource{parts[1], parts[3]}, parts[2] + parts[4], true
}

// sent are the writes of the controller that its link saw while a migration may have run.
func (m *Migration) sent() []exchange {
	running := m.Running()
	return fact.Where(m.exchanges, func(x exchange) bool { return x.of == m.Of && running.At(x.At) != fact.No })
}

// refused is whether a fault refused a write of it for what it is, so that it is right to fail. Where
// an API server does so of its own accord the control plane has failed.
func (m *Migration) refused() bool {
	return slices.ContainsFunc(m.sent(), func(x exchange) bool { return x.replaced && slices.Contains(refusals, x.code) })
}
