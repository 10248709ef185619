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
	library library
	// members has what each member was asked, by its name.
	members map[string]*member
	// definitions are what the harness has defined, in the order in which they came up.
	definitions []*definition
	defined     map[wish]*definition
	ofGroup     map[string][]*definition
	// disturbances are the times in which the harness changed what is to be hosted, or how
	// an aggregated server behaves, in the order in which they ended.
	disturbances []fact.Span
	// longest is for how long one of them lasted at most.
	longest int64
	outages []*outage
	foreign foreignThings
	cache   cache
}

// begin makes the facts of a history of which nothing was observed.
func begin(h *fact.History) *Facts {
	return &Facts{History: h, library: newLibrary(), members: map[string]*member{}, defined: map[wish]*definition{}, ofGroup: map[string][]*definition{}, foreign: newForeignThings()}
}

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	switch {
	case ev.Document != nil:
		f.observeDocument(ev)
	case ev.Request != nil && ev.Request.Defines != nil:
		f.observeDefinition(ev)
		f.partAll()
	case ev.Fault != nil && ev.Fault.Type == history.FaultBackend:
		f.observeBackend(ev)
		f.partAll()
	case ev.Foreign != nil:
		f.foreign.observe(ev)
		f.partAll()
	case ev.Process != nil && ev.Process.Component == history.ComponentAPIServer:
		f.partAll()
	case ev.Ready != nil:
		if m := f.member(ev.Member); m.ready != ev.Ready.Code {
			m.ready = ev.Ready.Code
			m.part()
		}
	}
}

// member is what the member was asked.
func (f *Facts) member(name string) *member {
	m := f.members[name]
	if m == nil {
		m = &member{facts: f, name: name, looks: map[string][]*look{}}
		f.members[name] = m
	}
	return m
}

// all are the members in the order of the header.
func (f *Facts) all() []*member {
	var out []*member
	for _, name := range f.Members() {
		out = append(out, f.member(name))
	}
	return out
}

func (f *Facts) partAll() {
	for _, m := range f.members {
		m.part()
	}
}

func (f *Facts) disturbed(from, to int64) {
	f.disturbances = append(f.disturbances, fact.Span{Begin: from, End: to})
	f.longest = max(f.longest, to-from)
}

// settled is whether the harness changed nothing between two times, nor so shortly before
// that it need not show yet, and the outcome of all that it had sent is known.
func (f *Facts) settled(from, to int64) bool {
	begin := from - int64(showsWithin())
	first := sort.Search(len(f.disturbances), func(i int) bool { return f.disturbances[i].End > begin })
	for _, d := range f.disturbances[first:] {
		if d.Begin <= to {
			return false
		}
		if d.End > to+f.longest {
			break
		}
	}
	return !slices.ContainsFunc(f.definitions, func(d *definition) bool { return d.uncertain(to) })
}

// changedBy is when the harness had changed something last by a time.
func (f *Facts) changedBy(at int64) int64 {
	if i := sort.Search(len(f.disturbances), func(i int) bool { return f.disturbances[i].End > at }); i > 0 {
		return f.disturbances[i-1].End
	}
	return 0
}

// cache keeps derived facts while no further event was observed.
type cache struct {
	seq  int64
	kept map[string]any
}

func cached[T any](f *Facts, key string, derive func() T) T {
	if f.cache.seq != f.Seq || f.cache.kept == nil {
		f.cache = cache{seq: f.Seq, kept: map[string]any{}}
	}
	if v, ok := f.cache.kept[key]; ok {
		return v.(T)
	}
	v := derive()
	f.cache.kept[key] = v
	return v
}

// signal is cached of a signal of the member.
func (m *member) signal(key string, derive func() fact.Signal) fact.Signal {
	if m.signalled != m.facts.Seq || m.signals == nil {
		m.signalled, m.signals = m.facts.Seq, map[string]fact.Signal{}
	}
	s, ok := m.signals[key]
	if !ok {
		s = derive()
		m.signals[key] = s
	}
	return s
}

// serving is while the member is ready: its process lives, is not paused, and /readyz
// answers 200.
func (m *member) serving() fact.Signal {
	return m.signal("serving", func() fact.Signal {
		return fact.And(m.facts.Serves(m.name), m.facts.Ready(m.name))
	})
}

// wasReady is while the member was ready when it was asked last: an answer of /readyz tells
// only that the member ceased to be ready after the one before.
func (m *member) wasReady() fact.Signal {
	return m.signal("was ready", func() fact.Signal {
		var told, running fact.Builder
		for _, a := range m.facts.ReadyAnswers(m.name) {
			told.SetAt(a.Latest, fact.Of(a.Code == http.StatusOK))
		}
		for _, s := range m.serves().Spans(fact.Unknown) {
			running.SetAt(m.serves().Reaches(s.Begin, 0, fact.Yes), fact.Yes)
			if s.End < fact.Forever {
				running.SetAt(s.End, fact.No)
			}
		}
		return fact.And(told.Signal(), running.Signal())
	})
}

// serves is while a process of the member takes part, also while /readyz is late.
func (m *member) serves() fact.Signal {
	return m.signal("serves", func() fact.Signal { return m.facts.Serves(m.name) })
}

// process is the one that answered all that was asked and answered between two times; nil
// where that is not certain.
func (m *member) process(from, at int64) *fact.Process {
	return m.facts.ProcessAt(m.name, history.ComponentAPIServer, fact.Moment{Earliest: from, Latest: at})
}

func seconds(nanoseconds int64) string {
	return (time.Duration(nanoseconds)).Round(100 * time.Millisecond).String()
}
