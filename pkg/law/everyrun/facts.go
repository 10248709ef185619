// Package everyrun has the facts and laws of what a highly available control plane owes
// whatever the KEP: its members come back, read what etcd holds, lose no acknowledged
// write, and agree with each other. What it owes by its Leases is in pkg/law/election.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package everyrun

import (
	"cmp"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Facts are the facts of one history that the laws of every run are about.
type Facts struct {
	*fact.History
	reads        []read
	visibilities []visibility
	hashes       []hash
	customs      []custom
	// balanced are the answers of the load balancer, as changes between served, not served
	// and unknown; heard is when the last one came.
	balanced []balanced
	heard    int64
	// watched are the events of the recorders' watches.
	watched []watched
	// acknowledged are the tagged writes that a member acknowledged, deletions the requests to
	// delete an object, and stored the changes that etcd told of, in the order of their revisions.
	acknowledged []acknowledged
	deletions    []deletion
	stored       []stored
	// writers are those that changes name, each once, and writer is where each of them is.
	writers []string
	writer  map[string]int32
	// definitions are those of custom resources, as etcd has them.
	definitions map[fact.Resource]*fact.Values[*history.CustomResource]
}

// origin is when an event was recorded, and of which member.
type origin struct {
	facts *Facts
	fact.Stamp
	member string
}

type (
	read struct {
		origin
		*history.Read
	}
	visibility struct {
		origin
		*history.Visibility
	}
	hash struct {
		origin
		*history.EtcdHash
	}
	custom struct {
		origin
		*history.CustomResourceAnswer
	}
	balanced struct {
		fact.Moment
		served fact.Truth
	}
	watched struct {
		origin
		*history.Watch
	}
	acknowledged struct {
		origin
		group, resource, name string
		custom                bool
		write, revision       int64
	}
	// deletion is a request to delete an object. It has no number; its revision is that of the mark
	// by which the object goes as soon as nothing holds it, where the answer names one.
	deletion struct{ acknowledged }
	// told is which event told of a revision, and when. There are so many that what the recorder
	// says of the earliest time is not kept.
	told struct{ Seq, At, Revision int64 }
	// stored is a change in etcd: which object it made or deleted, and the tagged write that
	// it shows, if it shows one. The object is deleting if it goes as soon as nothing holds it.
	// Opaque bytes, such as encrypted ones, show none of that.
	stored struct {
		told
		key                    string
		write                  int64
		by                     int32 // who wrote it, in writers
		gone, deleting, opaque bool
	}
)

// stamp is that of the event.
func (t told) stamp() fact.Stamp { return fact.Stamp{Seq: t.Seq, At: t.At, Revision: t.Revision} }

func begin(h *fact.History) *Facts {
	return &Facts{History: h, definitions: map[fact.Resource]*fact.Values[*history.CustomResource]{}, writer: map[string]int32{}}
}

// registry is below which objects are kept in etcd.
const registry = "/registry/"

// definitionPrefix is where CustomResourceDefinitions are stored, by <plural>.<group>.
const definitionPrefix = registry + "apiextensions.k8s.io/customresourcedefinitions/"

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	o := origin{f, fact.StampOf(ev), ev.Member}
	switch {
	case ev.Read != nil:
		f.reads = append(f.reads, read{o, ev.Read})
	case ev.Visibility != nil:
		f.visibilities = append(f.visibilities, visibility{o, ev.Visibility})
	case ev.EtcdHash != nil:
		f.hashes = append(f.hashes, hash{o, ev.EtcdHash})
	case ev.CustomResourceAnswer != nil:
		f.customs = append(f.customs, custom{o, ev.CustomResourceAnswer})
	case ev.LoadBalancer != nil:
		f.observeBalancer(ev)
	case ev.Watch != nil:
		f.watched = append(f.watched, watched{o, ev.Watch})
	case ev.Request != nil:
		f.observeRequest(o, ev.Request)
	case ev.Stored != nil:
		s := ev.Stored
		put := s.Type == history.StoredPut
		f.stored = append(f.stored, stored{told{o.Seq, o.At, o.Revision}, s.Key, s.Write, f.by(s.Writer), !put, s.Deleting, put && s.APIVersion == ""})
		f.observeDefinition(ev)
	}
}

// by is where a writer is among those that changes name.
func (f *Facts) by(writer string) int32 {
	at, known := f.writer[writer]
	if !known {
		at = int32(len(f.writers)) //nolint:gosec // G115: a history has fewer events than that.
		f.writers, f.writer[writer] = append(f.writers, writer), at
	}
	return at
}

// observeRequest keeps what was acknowledged: of requests that do nothing, and those that another
// server stores, etcd has nothing.
func (f *Facts) observeRequest(o origin, r *history.Request) {
	a := acknowledged{o, r.Group, r.Resource, r.Name, r.Class == history.ClassCustom, r.Write, r.ResourceVersion}
	switch {
	case r.Class == history.ClassAggregated, r.Class == history.ClassInvalid, r.Code < 200, r.Code >= 300:
	case r.Write > 0:
		f.acknowledged = append(f.acknowledged, a)
	case r.Verb == "delete" && r.Name != "":
		f.deletions = append(f.deletions, deletion{a})
	}
}

func (f *Facts) observeDefinition(ev *history.Event) {
	name, ok := strings.CutPrefix(ev.Stored.Key, definitionPrefix)
	if !ok {
		return
	}
	resource, group, _ := strings.Cut(name, ".")
	of := fact.Resource{Group: group, Resource: resource}
	if f.definitions[of] == nil {
		f.definitions[of] = &fact.Values[*history.CustomResource]{}
	}
	switch s := ev.Stored; {
	case s.Type == history.StoredDelete:
		f.definitions[of].Delete(fact.StampOf(ev))
	case s.CustomResource != nil:
		f.definitions[of].Set(fact.StampOf(ev), s.CustomResource)
	}
}

// defined is while etcd has a definition of the resource that fits.
func (f *Facts) defined(of fact.Resource, fits func(*history.CustomResource) bool) fact.Signal {
	if d := f.definitions[of]; d != nil {
		return d.While(f.History, fits)
	}
	return fact.Constant(fact.No)
}

// observeBalancer keeps only changes. The time before the first good answer does not
// count, since the control plane was booting. Where no answer was recorded for longer than
// clients may be without one, it is not known whether they were served.
func (f *Facts) observeBalancer(ev *history.Event) {
	served, n := fact.Of(ev.LoadBalancer.Answered()), len(f.balanced)
	if n == 0 && served == fact.No {
		return
	}
	at := f.When(fact.StampOf(ev))
	if f.heard > 0 && time.Duration(at.Earliest-f.heard) > mayBeWithoutAnswer() {
		f.balanced = append(f.balanced, balanced{fact.Exactly(f.heard, ev.Seq), fact.Unknown})
		n++
	}
	if n == 0 || f.balanced[n-1].served != served {
		f.balanced = append(f.balanced, balanced{at, served})
	}
	f.heard = ev.At
}

// entry is the obligation of a member about something that it was asked for.
func (o origin) entry(about string) law.Entry {
	return law.Of(about+" at "+o.member, fact.Exactly(o.At, o.Seq)).By(o.member)
}

// through is whether a signal holds all the time from the beginning of an event to its end.
func (o origin) through(s fact.Signal) fact.Truth { return s.During(o.span()) }

// span is from the beginning of an event to its end.
func (o origin) span() fact.Moment {
	return fact.Moment{Earliest: cmp.Or(o.From, o.At), Latest: o.At, Seq: o.Seq}
}

// sure is a breach that shows whichever recorder missed something, unless lines of the history are
// missing.
func (f *Facts) sure(e law.Entry) law.Entry {
	if f.Untrusted() > 0 {
		return e
	}
	return e.Alone()
}

// healthy is while nothing stands in the way at a member.
func (f *Facts) healthy(member string) fact.Signal {
	type key struct{ member string }
	return fact.Cached(f.History, key{member}, func() fact.Signal { return f.Healthy(member) })
}

// able is while a member is healthy and etcd has a majority: what is written reaches it.
func (f *Facts) able(member string) fact.Signal {
	type key struct{ member string }
	return fact.Cached(f.History, key{member}, func() fact.Signal {
		return fact.And(f.healthy(member), f.Majority(f.etcdAtWork))
	})
}

// etcdAtWork is while the harness keeps nothing from the etcd of a member.
func (f *Facts) etcdAtWork(member string) fact.Signal {
	return fact.And(f.goesOn(member, history.ComponentEtcd), fact.Not(f.FaultAt(member)), fact.Not(f.Powerless(member)))
}

// letServe is while the harness keeps nothing from a member that it needs to serve. One that
// cannot for a reason of its own is let serve all the same.
func (f *Facts) letServe(member string) fact.Signal {
	type key struct{ member string }
	return fact.Cached(f.History, key{member}, func() fact.Signal {
		const server, etcd = history.ComponentAPIServer, history.ComponentEtcd
		back := fact.Not(fact.Or(f.Returning(member, server), f.Returning(member, etcd)))
		return fact.And(f.etcdAtWork(member), f.goesOn(member, server), back)
	})
}

// named is a resource in words.
func named(resource, group string) string { return strings.TrimSuffix(resource+"."+group, ".") }

// KEP is what every run owes.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{ro01, ro02, ro06, ro07, ro08, ro09, ro11}
