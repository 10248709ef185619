package election

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// leadership is the time in which one holder is the last one that had a Lease: it has it,
// or it ran out and no other took it since.
type leadership struct {
	lease  *Lease
	holder string
	// taken is when it took the Lease first, and ended when another one took it; nil at
	// the end.
	taken, ended *Change
	// candidate that it is; nil if it is none.
	candidate *Candidate
}

// leaderships of a Lease in the order of time.
func (l *Lease) leaderships() []*leadership {
	return cached(l.facts, "leaderships "+l.Key, func() []*leadership {
		var out []*leadership
		for _, t := range l.tenures() {
			n := len(out)
			if n > 0 && out[n-1].holder == t.Holder {
				continue
			}
			if n > 0 {
				out[n-1].ended = t.Taken
			}
			k, _ := l.candidate(t.Holder, t.Taken.Revision)
			out = append(out, &leadership{lease: l, holder: t.Holder, taken: t.Taken, candidate: k})
		}
		return out
	})
}

// ledByCandidates are the leaderships of the Leases that hold, of which the holder is a
// candidate that fits.
func (f *Facts) ledByCandidates(leases []*Lease, fits func(*Candidate) bool) []*leadership {
	var out []*leadership
	for _, l := range leases {
		for _, lead := range l.leaderships() {
			if lead.candidate != nil && fits(lead.candidate) {
				out = append(out, lead)
			}
		}
	}
	return out
}

// lasts is while the leadership lasts.
func (lead *leadership) lasts() fact.Signal {
	var b fact.Builder
	b.Set(lead.taken.When(), fact.Yes)
	if lead.ended != nil {
		b.Set(lead.ended.When(), fact.No)
	}
	return b.Signal()
}

// outranked is while another candidate that fits is eligible and comes before the leader
// in either order of the versions.
func (lead *leadership) outranked(fits func(*Candidate) bool) fact.Signal {
	var signals []fact.Signal
	for _, k := range lead.lease.facts.candidatesOf(lead.lease.Key) {
		if k != lead.candidate && fits(k) && older(k.last(), lead.candidate.last()) {
			signals = append(signals, k.Eligible())
		}
	}
	return fact.And(lead.lasts(), fact.Or(signals...))
}

// hasBetter is while another candidate that fits exists, eligible or not, and comes before
// the leader in either order of the versions.
func (lead *leadership) hasBetter(fits func(*Candidate) bool) fact.Signal {
	var signals []fact.Signal
	for _, k := range lead.lease.facts.candidatesOf(lead.lease.Key) {
		if k != lead.candidate && fits(k) && older(k.last(), lead.candidate.last()) {
			signals = append(signals, k.while(func(*history.Candidate) bool { return true }))
		}
	}
	return fact.And(lead.lasts(), fact.Or(signals...))
}

// newerLed is when the Lease began to have a leader that fits although a candidate that
// fits stands and comes before it, eligible or not.
func (l *Lease) newerLed(fits func(*Candidate) bool) []fact.Moment {
	var out []fact.Moment
	for _, lead := range l.facts.ledByCandidates([]*Lease{l}, fits) {
		rises := l.facts.Rises(lead.hasBetter(fits))
		if len(rises) == 0 {
			continue
		}
		// It begins under this leader, so the change by which this one leads does not end it.
		at, after := rises[0], lead.taken.When().Latest+1
		at.Earliest, at.Latest = max(at.Earliest, after), max(at.Latest, after)
		out = append(out, at)
	}
	return out
}

// replaceable is while the leader of the Lease is outranked and nothing is in the way of
// replacing it: a coordinator is active, no fault is about the Lease, and it is held.
func (l *Lease) replaceable(fits func(*Candidate) bool) fact.Signal {
	var outranked []fact.Signal
	for _, lead := range l.facts.ledByCandidates([]*Lease{l}, fits) {
		outranked = append(outranked, lead.outranked(fits))
	}
	return fact.And(fact.Or(outranked...), l.facts.coordinating(), fact.Not(l.faulty()), l.Held())
}

// relieved are when the Lease got a leader that no eligible candidate comes before. A
// leader that is outranked itself relieves none, so that the clock runs on under it.
func (l *Lease) relieved(fits func(*Candidate) bool) []fact.Moment {
	var out []fact.Moment
	for _, lead := range l.leaderships() {
		at := lead.taken.When()
		if lead.candidate == nil || !fits(lead.candidate) || lead.outranked(fits).At(at.Latest) != fact.Yes {
			out = append(out, at)
		}
	}
	return out
}

// tooLong says that leaders stayed for too long that an eligible candidate comes before.
func (l *Lease) tooLong(fits func(*Candidate) bool, began fact.Moment, done *fact.Moment, took time.Duration) string {
	var names []string
	for _, lead := range l.facts.ledByCandidates([]*Lease{l}, fits) {
		if before := done != nil && lead.taken.When().Latest >= done.Latest; before || lead.ended != nil && lead.ended.When().Before(began) == fact.Yes {
			continue
		}
		if name := fmt.Sprintf("%s (%s)", lead.candidate.Name, lead.candidate.last().Binary); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("%s held %s for %s while an older candidate was eligible", strings.Join(names, ", "), l.Key, took.Round(time.Second))
}
