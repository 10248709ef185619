// Package storageversion judges KEP-2339: storage versions of highly available API
// servers. Its facts are what each process of an API server knows and does about
// StorageVersions, what the harness does to them, and when the collector can work. Laws
// compare revisions of etcd, which are exact, wherever both sides have one.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package storageversion

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// facts are those of KEP-2339 about one history.
type facts struct {
	*fact.History
	requests  []*request
	readyz    map[string][]readyz
	probes    []probe
	taken     map[string]string // by member, the object whose valid status it took last
	exchanges []exchange
	shown     map[string][]showing
	locals    locals
	// kinds are the first events that stored an object of each kind, and definitions the
	// creations of the definitions of custom resources, by the StorageVersion's name.
	kinds       map[kind]int64
	definitions map[string][]fact.Stamp
}

type kind struct{ apiVersion, kind string }

func newFacts(h *fact.History) *facts {
	return &facts{
		History: h, readyz: map[string][]readyz{}, taken: map[string]string{}, shown: map[string][]showing{},
		locals: locals{contents: map[string]map[string]bool{}}, kinds: map[kind]int64{}, definitions: map[string][]fact.Stamp{},
	}
}

func (f *facts) Observe(ev *history.Event) {
	switch {
	case ev.Request != nil:
		f.observeProbe(ev)
		f.observeRequest(ev)
	case ev.Ready != nil:
		f.readyz[ev.Member] = append(f.readyz[ev.Member], readyz{fact.StampOf(ev), ev.Ready.Code == 200})
	case ev.Stored != nil && ev.Stored.Type == history.StoredPut:
		f.observeKind(ev)
	case ev.InterceptedRequest != nil && ev.InterceptedRequest.Component == history.ComponentControllerManager:
		f.exchanges = append(f.exchanges, exchange{fact.StampOf(ev), ev.Member, ev.InterceptedRequest})
	case ev.Watch != nil:
		f.observeShown(ev)
	case ev.DiscoveryDocument != nil:
		f.locals.observe(ev)
	}
}

func (f *facts) observeKind(ev *history.Event) {
	s := ev.Stored
	if k := (kind{s.APIVersion, s.ObjectKind}); f.kinds[k] == 0 {
		f.kinds[k] = ev.Seq
	}
	if s.ObjectKind != "CustomResourceDefinition" {
		return
	}
	// The definition of a resource of a group is called <resource>.<group>.
	resource, group, _ := strings.Cut(s.Name, ".")
	name := fact.Resource{Group: group, Resource: resource}.StorageVersionName()
	if s.Created == s.Revision || len(f.definitions[name]) == 0 {
		f.definitions[name] = append(f.definitions[name], fact.StampOf(ev))
	}
}

// untold ends an obligation that is about a revision which the recorder of etcd has not told
// of; any other one it leaves without an ending.
func (f *facts) untold(e law.Entry, revision int64) law.Entry {
	switch f.Told(revision, e.Began.Latest) {
	case fact.Unknown:
		return e.Excused("the history ended before the recorder of etcd told of its revision")
	case fact.No:
		return e.Open("what etcd told ends before revision %d", revision)
	case fact.Yes:
	}
	return e
}

const storageVersionGroup, storageVersionResource = "internal.apiserver.k8s.io", "storageversions"

// asked are the requests of the harness to change a StorageVersion.
func (f *facts) asked(name string) []*fact.Asked {
	return f.Asked(storageVersionGroup, storageVersionResource, name)
}

// byHarness is whether the harness made a change of a StorageVersion, as far as is known. Where it
// is not known what became of its request, it may have deleted the object, and has written
// nothing. Of a change that a killed run saw last it may be told no more.
func (f *facts) byHarness(name string, s fact.Stamp) bool {
	deleted := f.StorageVersion(name).At(s.Revision) == nil
	by := f.ByHarness(storageVersionGroup, storageVersionResource, name, s, deleted)
	return by == fact.Yes || deleted && by == fact.Unknown || !f.Answered(s, requirement.MustBound("KEP-2339", "requestsEndWithin"))
}

// takenBy is whether the harness took away what a change took away: itself, or by taking the
// custom resource away, so that servers take back what they have said.
func (f *facts) takenBy(name string, s fact.Stamp) bool {
	return f.byHarness(name, s) || f.Undefined(name, f.When(s))
}

// unleased is whether the harness took a server's identity Lease away, so shortly before that what was
// decided while it was there, or while it was not, may come about only now: who decides reads first,
// and writes with a precondition on the object alone (KEP-2339, garbage collection).
func (f *facts) unleased(id string, at fact.Moment) bool {
	within := int64(requirement.MustBound("KEP-2339", "requestsEndWithin"))
	return slices.ContainsFunc(f.Asked("coordination.k8s.io", "leases", "kube-system/"+id), func(a *fact.Asked) bool {
		sent := f.When(a.Stamp)
		return a.Verb == "delete" && a.Took() != fact.No && sent.Earliest <= at.Latest && at.Earliest <= sent.Latest+within
	})
}

// repair is while a correct control plane may not have put right what the harness did to an
// object. It begins at some time while the request is under way: servers may have begun to put
// it right before the answer.
func (f *facts) repair(name string, within time.Duration) fact.Signal {
	type key struct {
		name   string
		within time.Duration
	}
	return fact.Cached(f.History, key{name, within}, func() fact.Signal {
		return fact.Or(fact.Each(f.asked(name), func(a *fact.Asked) fact.Signal {
			until := fact.Exactly(a.At+int64(within)+1, a.Seq)
			return fact.And(fact.Between(f.When(a.Stamp), &until), fact.Constant(a.Took()))
		})...)
	})
}

// tampered ends an entry that a correct control plane may break at an instant, since the harness
// changed the object; any other it leaves without an ending.
func (f *facts) tampered(e law.Entry, name string, at int64, bounds law.Bounds) law.Entry {
	switch f.repair(name, bounds.Of("tamperRepaired")).At(at) {
	case fact.Yes:
		return e.Excused("the harness changed the object shortly before")
	case fact.Unknown:
		return e.Unclear("the harness may have changed the object shortly before")
	case fact.No:
	}
	return e
}

// revision is a revision of a StorageVersion that is there.
type revision struct {
	*fact.VersionRevision
	f  *facts
	of *fact.StorageVersion
	// before is the one before it; nil where the object was made.
	before *fact.VersionRevision
}

// revisions are all revisions of all StorageVersions but their deletions.
func (f *facts) revisions() []revision {
	type key struct{}
	return fact.Cached(f.History, key{}, func() (out []revision) {
		for _, v := range f.StorageVersions() {
			for i := range v.All() {
				if r := &v.All()[i]; r.There {
					out = append(out, revision{r, f, v, v.At(r.Revision - 1)})
				}
			}
		}
		return out
	})
}

// Entry is an obligation about the revision.
func (r revision) Entry() law.Entry { return law.Of(r.of.Name, r.f.When(r.Stamp)) }

// changed are the servers whose entries the revision brought or changed in an object that
// was there.
func (r revision) changed() (out []string) {
	for _, id := range r.of.Servers() {
		if c := r.of.Entry(id).ChangeBy(r.Revision); r.before != nil && c != nil && c.There && c.Revision == r.Revision {
			out = append(out, id)
		}
	}
	return out
}

// written is an entry in a revision.
type written struct {
	revision
	entry *history.Entry
}

// entries are all entries in all revisions.
func (f *facts) entries() (out []written) {
	for _, r := range f.revisions() {
		for i := range r.Is.Entries {
			out = append(out, written{r, &r.Is.Entries[i]})
		}
	}
	return out
}

// tagIf is a tag where a condition holds.
func tagIf(holds bool, tag string) []string {
	if holds {
		return []string{tag}
	}
	return nil
}
