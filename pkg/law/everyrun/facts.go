// Package everyrun has the facts and laws of what a highly available control plane owes
// whatever the KEP: its members come back, read what etcd holds, lose no acknowledged
// write, and agree with each other. What it owes by its Leases is in pkg/law/election.
package everyrun

import (
	"slices"
	"strings"

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
	// answered are the answers of the load balancer, as changes between served and not.
	answered fact.Builder
	balanced []balanced
	// acknowledged are the tagged writes that a member acknowledged, and stored the
	// revisions that etcd told of, in order.
	acknowledged []acknowledged
	stored       []int64
	// undefined are when definitions of custom resources were deleted.
	undefined []undefined
}

type read struct {
	*history.Read
	fact.Stamp
	member string
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
	fact.Stamp
	served bool
}

type acknowledged struct {
	fact.Stamp
	member, name string
	write        int64
	revision     int64
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
		f.reads = append(f.reads, read{ev.Read, s, ev.Member})
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
		f.stored = append(f.stored, ev.Stored.Revision)
		f.observeDefinition(ev, s)
	}
}

// observeBalancer keeps only changes between served and not: the time before the first
// good answer does not count, since the control plane was booting.
func (f *Facts) observeBalancer(ev *history.Event) {
	served := ev.Balancer.Answered()
	n := len(f.balanced)
	if n == 0 && !served || n > 0 && f.balanced[n-1].served == served {
		return
	}
	f.balanced = append(f.balanced, balanced{fact.StampOf(ev), served})
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

// allThrough is whether a signal holds all the time from the beginning of an event to its
// end.
func allThrough(s fact.Signal, of fact.Stamp) fact.Truth {
	from := of.From
	if from == 0 {
		from = of.At
	}
	return s.During(fact.Moment{Earliest: from, Latest: of.At})
}

// has is whether etcd told of a revision.
func (f *Facts) has(revision int64) bool {
	_, found := slices.BinarySearch(f.stored, revision)
	return found
}

// watermark is the last revision that etcd told of.
func (f *Facts) watermark() int64 {
	if n := len(f.stored); n > 0 {
		return f.stored[n-1]
	}
	return 0
}

// KEP is what every run owes.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{ro01, ro02, ro06, ro07, ro08, ro09, ro11}
