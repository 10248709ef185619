package discovery

import (
	"net/http"
	"slices"
	"sort"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Facts are the facts of KEP-3352 about one history.
type Facts struct {
	*fact.History
	// listings are by the name of their content, inventories and accepted by what documents
	// and requests repeat.
	listings    map[string]*listing
	inventories map[string][]history.ListedResource
	accepted    map[string][]option
	// accepts are the acceptedTypes of subresources, by their name.
	accepts map[string]map[string][]string
	members map[string]*member
	// looks are the answers of all members to requests for the two documents in JSON.
	looks []*answer
	// definitions are what the harness has defined, in the order in which they came up.
	definitions []*definition
	// changes are the times in which the harness changed what is to be hosted, or how an
	// aggregated server behaves.
	changes []fact.Span
	outages []*outage
	// services are the APIServices that went.
	services []removedService
	updates  []*update
	foreign  []*foreignThing
}

// begin makes the facts of a history of which nothing was observed.
func begin(h *fact.History) *Facts {
	return &Facts{
		History: h, listings: map[string]*listing{}, inventories: map[string][]history.ListedResource{},
		accepted: map[string][]option{}, accepts: map[string]map[string][]string{}, members: map[string]*member{},
	}
}

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	switch {
	case ev.DiscoveryDocument != nil:
		f.observeDocument(ev)
	case ev.Request != nil && ev.Request.Defines != nil:
		f.observeDefinition(ev)
	case ev.Stored != nil:
		f.observeDeletion(ev)
		f.observeRemovedService(ev)
	case ev.Fault != nil && ev.Fault.Type == history.FaultBackend:
		f.observeBackend(ev)
	case ev.BackendUpdate != nil:
		f.observeUpdate(ev)
	case ev.ThirdPartyObject != nil:
		f.observeForeign(ev)
	}
}

// settled is whether the harness changed nothing between two times, nor so shortly before
// that it need not show yet, nothing that it had sent may still be carried out, and the members
// have had the time to learn what aggregated servers host.
func (f *Facts) settled(from, to int64) bool {
	return !slices.ContainsFunc(f.changes, func(s fact.Span) bool { return s.Begin <= to && !f.shown(s.End, from) }) &&
		!slices.ContainsFunc(f.definitions, func(d *definition) bool { return d.changing(to) }) && len(f.updating(from, to)) == 0
}

// shown is whether members that are ready must have shown by an instant what was changed at
// another one.
func (f *Facts) shown(changed, by int64) bool {
	return changed <= by-int64(showsWithin()) && f.undisturbed().Lasts(changed, by, fact.Yes) >= int64(showsWithin())
}

// undisturbed is while nothing keeps what is defined from reaching the members: the etcd of
// every member runs, and no fault keeps requests about definitions from passing. When an etcd
// goes, etcd may have to elect a leader anew, and what is being written times out. Which API
// server establishes a custom resource is not known, so that a fault at any of them counts. The
// catalog has this as the tolerances etcdStopped and definitionsHeld of each requirement whose
// clock it is.
func (f *Facts) undisturbed() fact.Signal {
	type key struct{}
	return fact.Cached(f.History, key{}, func() fact.Signal {
		return fact.Not(fact.Or(f.FaultOn(customResourceDefinitions), f.FaultOn(apiServices), f.AnyMember(func(name string) fact.Signal {
			return f.Stopped(name, history.ComponentEtcd)
		})))
	})
}

// changedBy is when the harness had changed something last by a time.
func (f *Facts) changedBy(at int64) (last int64) {
	for _, s := range f.changes {
		if s.End <= at {
			last = max(last, s.End)
		}
	}
	return last
}

// member is what a member was asked.
type member struct {
	facts *Facts
	name  string
	// looks are its answers to requests for the document of all groups in JSON, and atGroups
	// those to all requests for that document.
	looks, atGroups []*answer
	sweeps          []*sweep
}

func (f *Facts) member(name string) *member {
	m := f.members[name]
	if m == nil {
		m = &member{facts: f, name: name}
		f.members[name] = m
	}
	return m
}

// all are the members in the order of the header.
func (f *Facts) all() []*member { return fact.Each(f.Members(), f.member) }

type signalOf struct{ what, member string }

func (m *member) signal(what string, derive func() fact.Signal) fact.Signal {
	return fact.Cached(m.facts.History, signalOf{what, m.name}, derive)
}

// serves is while a process of the member takes part, also while /readyz is late.
func (m *member) serves() fact.Signal {
	return m.signal("serves", func() fact.Signal { return m.facts.Serves(m.name) })
}

// serving is while the member is ready and serves the aggregated document: its process
// lives, has the feature, is not paused, and /readyz answers 200.
func (m *member) serving() fact.Signal {
	return m.signal("serving", func() fact.Signal { return fact.And(m.serves(), m.aggregates(), m.facts.Ready(m.name)) })
}

// aggregates is while no process of the member lives that was started without aggregated
// discovery.
func (m *member) aggregates() fact.Signal {
	return m.signal("aggregates", func() fact.Signal {
		without := fact.Where(m.facts.Processes(m.name, history.ComponentAPIServer), withoutAggregation)
		return fact.Not(fact.Or(fact.Each(without, (*fact.Process).Alive)...))
	})
}

func withoutAggregation(p *fact.Process) bool { return p.Without(history.FeatureAggregatedDiscovery) }

// wasReady is while the member was ready when it was asked last: an answer of /readyz tells
// only that the member ceased to be ready after the one before.
func (m *member) wasReady() fact.Signal {
	return m.signal("was ready", func() fact.Signal {
		return fact.And(m.serves(), fact.Follow(m.facts.ReadyAnswers(m.name),
			func(a fact.ReadyAnswer) fact.Moment { return fact.Exactly(a.Latest, a.Seq) },
			func(a fact.ReadyAnswer) bool { return a.Code == http.StatusOK }))
	})
}

// unhindered is while nothing but itself keeps a member from being ready.
func (f *Facts) unhindered(member string) fact.Signal {
	return fact.And(f.undisturbed(), fact.Not(f.FaultAt(member)))
}

// able is while the member can do what it owes: it is ready, and what is defined reaches it.
func (m *member) able() fact.Signal {
	return m.signal("able", func() fact.Signal { return fact.And(m.serving(), m.facts.undisturbed()) })
}

// readySince is since when the member was ready at a time.
func (m *member) readySince(at int64) int64 {
	for _, s := range m.serving().Spans(fact.Yes) {
		if s.Begin <= at && at < s.End {
			return s.Begin
		}
	}
	return at
}

// process is the one that answered all that was asked and answered between two times; nil
// where that is not certain.
func (m *member) process(from, at int64) *fact.Process {
	return m.facts.ProcessAt(m.name, history.ComponentAPIServer, fact.Moment{Earliest: from, Latest: at})
}

// from are the looks that were answered at a time or later.
func (m *member) from(at int64) []*answer {
	return m.looks[sort.Search(len(m.looks), func(i int) bool { return m.looks[i].at >= at }):]
}

// between are the looks that were asked for from a time on and answered by another one.
func (m *member) between(from, to int64) (out []*answer) {
	for _, k := range m.from(from) {
		if k.at > to {
			break
		}
		if k.from >= from {
			out = append(out, k)
		}
	}
	return out
}

// lasted is how long something lasted, for a sentence.
func lasted(from, to int64) time.Duration {
	return time.Duration(to - from).Round(100 * time.Millisecond)
}
