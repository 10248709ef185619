// Package storageversion judges KEP-2339: storage versions of highly available API
// servers. Its facts are what each process of an API server knows and does about
// StorageVersions, what the harness does to them, and when the collector can work. Laws
// compare revisions of etcd, which are exact, wherever both sides have one.
package storageversion

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// facts are those of KEP-2339 about one history.
type facts struct {
	*fact.History
	requests  []request
	readyNow  map[string]*readyNow
	lingering []lingering
	harness   harness
	probes    []probe
	taken     map[string]string // by member, the object whose valid status it took last
	leaders   []leadership
	exchanges []exchange
	shown     shown
	locals    locals
	// kinds are the first events that stored an object of each kind, and definitions the
	// creations of the definitions of custom resources, by the StorageVersion's name.
	kinds       map[kind]int64
	definitions map[string][]fact.Stamp
	derived     derived
}

type kind struct{ apiVersion, kind string }

// exchange is a request of a controller manager that a fault hit.
type exchange struct {
	fact.Stamp
	member string
	*history.Exchange
}

func newFacts(h *fact.History) *facts {
	return &facts{History: h, taken: map[string]string{}, readyNow: map[string]*readyNow{}, shown: shown{}, kinds: map[kind]int64{}, definitions: map[string][]fact.Stamp{}}
}

func (f *facts) Observe(ev *history.Event) {
	switch {
	case ev.Request != nil:
		f.harness.observe(ev)
		f.observeProbe(ev)
		f.observeRequest(ev)
	case ev.Ready != nil:
		f.observeReady(ev)
	case ev.Stored != nil:
		f.observeStored(ev)
	case ev.Exchange != nil && ev.Exchange.Component == history.ComponentControllerManager:
		f.exchanges = append(f.exchanges, exchange{fact.StampOf(ev), ev.Member, ev.Exchange})
	case ev.Watch != nil:
		f.shown.observe(ev)
	case ev.Document != nil:
		f.locals.observe(ev)
	}
}

func (f *facts) observeStored(ev *history.Event) {
	s := ev.Stored
	f.observeLeader(ev)
	if s.Type != history.StoredPut {
		return
	}
	k := kind{s.APIVersion, s.ObjectKind}
	if _, known := f.kinds[k]; !known {
		f.kinds[k] = ev.Seq
	}
	if s.ObjectKind != "CustomResourceDefinition" {
		return
	}
	if name := definedName(s.Name); s.Created == s.Revision || len(f.definitions[name]) == 0 {
		f.definitions[name] = append(f.definitions[name], fact.StampOf(ev))
	}
}

// told is whether a revision that was read at a moment can be looked up; where it cannot,
// the obligation ends so.
func (f *facts) told(l *law.Ledger, about string, at fact.Moment, revision int64) bool {
	switch f.Told(revision, at.Latest) {
	case fact.Yes:
		return true
	case fact.Unknown:
		l.Excused(about, at, "the history ended before the recorder of etcd told of its revision")
	default:
		l.Open(about, at, "what etcd told ends before revision %d", revision)
	}
	return false
}

// doubtHosting doubts all verdicts where it is not certain what servers host, or they
// disagree on what is a built-in resource.
func (f *facts) doubtHosting(l *law.Ledger, bounds law.Bounds) {
	for _, why := range f.hostingDoubts(bounds.Of("lookedWithin")) {
		l.Doubt("%s", why)
	}
}

// doubtTags doubts all verdicts where accepted writes never showed in etcd.
func (f *facts) doubtTags(l *law.Ledger) {
	untold := f.UntoldWrites()
	for _, member := range law.SortedKeys(untold) {
		l.Doubt("%d writes that %s accepted never showed in etcd under their tag, so that it is not known what it stored", untold[member], member)
	}
}

// selfEvident enters a breach that its evidence shows whatever else was missed.
func selfEvident(l *law.Ledger, about string, at fact.Moment, format string, args ...any) {
	l.Add(law.Entry{Ending: law.Broken, About: about, Began: at, Evidence: []int64{at.Seq}, SelfEvident: true, Why: fmt.Sprintf(format, args...)})
}

var sprintf = fmt.Sprintf
