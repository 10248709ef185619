// Package everyrun has the facts and laws of what a highly available control plane owes
// whatever the KEP: its members come back, read what etcd holds, lose no acknowledged
// write, and agree with each other. What it owes by its Leases is in pkg/law/election.
package everyrun

import (
	"cmp"
	"slices"
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
	// acknowledged are the tagged writes that a member acknowledged, and stored the
	// changes that etcd told of, in the order of their revisions.
	acknowledged []acknowledged
	stored       []stored
	// undefined are when definitions of custom resources were deleted.
	undefined []undefined
}

type read struct {
	*history.Read
	fact.Stamp
	member string
	// healthy is whether the member was healthy from the request to the answer.
	healthy fact.Truth
}

type visibility struct {
	*history.Visibility
	fact.Stamp
	member string
}

type hash struct {
	*history.EtcdHash
	fact.Stamp
}

type custom struct {
	*history.CustomAnswer
	fact.Stamp
	member string
}

type balanced struct {
	fact.Moment
	served fact.Truth
}

type acknowledged struct {
	fact.Stamp
	member, name string
	write        int64
	revision     int64
}

// stored is a change in etcd: which object it made or deleted, and the tagged write that
// it shows, if it shows one.
type stored struct {
	revision    int64
	key, writer string
	write       int64
}

type undefined struct {
	group, resource string
	fact.Stamp
}

func begin(h *fact.History) *Facts { return &Facts{History: h} }

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	s := fact.StampOf(ev)
	switch {
	case ev.Read != nil:
		f.reads = append(f.reads, read{Read: ev.Read, Stamp: s, member: ev.Member})
	case ev.Visibility != nil:
		f.visibilities = append(f.visibilities, visibility{ev.Visibility, s, ev.Member})
	case ev.Hash != nil:
		f.hashes = append(f.hashes, hash{ev.Hash, s})
	case ev.Custom != nil:
		f.customs = append(f.customs, custom{ev.Custom, s, ev.Member})
	case ev.Balancer != nil:
		f.observeBalancer(ev)
	case ev.Request != nil:
		if r := ev.Request; r.Write > 0 && r.Class != history.ClassAggregated && r.Code >= 200 && r.Code < 300 && r.ResourceVersion > 0 {
			f.acknowledged = append(f.acknowledged, acknowledged{s, ev.Member, r.Name, r.Write, r.ResourceVersion})
		}
	case ev.Stored != nil:
		f.stored = append(f.stored, stored{ev.Stored.Revision, ev.Stored.Key, ev.Stored.Writer, ev.Stored.Write})
		f.observeDefinition(ev, s)
	}
}

// observeBalancer keeps only changes. The time before the first good answer does not
// count, since the control plane was booting. Where no answer was recorded for longer than
// clients may be without one, it is not known whether they were served.
func (f *Facts) observeBalancer(ev *history.Event) {
	served := fact.Of(ev.Balancer.Answered())
	if len(f.balanced) == 0 && served == fact.No {
		return
	}
	at := fact.Moment{Earliest: ev.At, Latest: ev.At, Seq: ev.Seq}
	if ev.From > 0 {
		at.Earliest = min(ev.From, ev.At)
	}
	if f.heard > 0 && time.Duration(at.Earliest-f.heard) > mayBeWithoutAnswer() {
		f.balanced = append(f.balanced, balanced{fact.Exactly(f.heard, ev.Seq), fact.Unknown})
	}
	f.heard = ev.At
	if n := len(f.balanced); n == 0 || f.balanced[n-1].served != served {
		f.balanced = append(f.balanced, balanced{at, served})
	}
}

// definitions is where CustomResourceDefinitions are stored, by <plural>.<group>.
const definitions = "/registry/apiextensions.k8s.io/customresourcedefinitions/"

func (f *Facts) observeDefinition(ev *history.Event, s fact.Stamp) {
	name, ok := strings.CutPrefix(ev.Stored.Key, definitions)
	if !ok || ev.Stored.Type != history.StoredDelete {
		return
	}
	resource, group, _ := strings.Cut(name, ".")
	f.undefined = append(f.undefined, undefined{group, resource, s})
}

// healthy is while a member's API server serves and no fault is at the member, nor has
// taken its power.
func (f *Facts) healthy(member string) fact.Signal {
	return fact.And(f.Serves(member), fact.Not(f.FaultAt(member)), fact.Not(f.Powerless(member)))
}

// quorum is while a majority of the members is there by what holds of each: etcd answers
// as long as a majority of its members does.
func (f *Facts) quorum(there func(*member) fact.Signal) fact.Signal {
	var signals []fact.Signal
	for _, m := range f.members() {
		signals = append(signals, there(m))
	}
	return atLeast(len(signals)/2+1, signals)
}

// atLeast holds while so many of the signals do.
func atLeast(n int, signals []fact.Signal) fact.Signal {
	switch {
	case n <= 0:
		return fact.Constant(fact.Yes)
	case n > len(signals):
		return fact.Constant(fact.No)
	}
	return fact.Or(fact.And(signals[0], atLeast(n-1, signals[1:])), atLeast(n, signals[1:]))
}

// allThrough is whether a signal holds all the time from the beginning of an event to its
// end.
func allThrough(s fact.Signal, of fact.Stamp) fact.Truth {
	from := of.From
	if from == 0 {
		from = of.At
	}
	return s.During(fact.Moment{Earliest: from, Latest: of.At})
}

// storedAt are the changes of a revision: several, where one transaction made them.
func (f *Facts) storedAt(revision int64) []stored {
	i, _ := slices.BinarySearchFunc(f.stored, revision, func(s stored, revision int64) int { return cmp.Compare(s.revision, revision) })
	j := i
	for j < len(f.stored) && f.stored[j].revision == revision {
		j++
	}
	return f.stored[i:j]
}

// watermark is the last revision that etcd told of.
func (f *Facts) watermark() int64 {
	if n := len(f.stored); n > 0 {
		return f.stored[n-1].revision
	}
	return 0
}

// KEP is what every run owes.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{ro01, ro02, ro06, ro07, ro08, ro09, ro11}
