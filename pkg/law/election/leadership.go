package election

import (
	"fmt"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
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

func (lead *leadership) entry() law.Entry {
	return law.Entry{About: lead.lease.Key, Member: lead.lease.facts.MemberOf(lead.holder)}
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
	key := "outranked " + lead.lease.Key + strconv.FormatInt(lead.taken.Seq, 10)
	return cached(lead.lease.facts, key, func() fact.Signal {
		var signals []fact.Signal
		for _, k := range lead.lease.facts.candidatesOf(lead.lease.Key) {
			if k != lead.candidate && fits(k) && older(k.last(), lead.candidate.last()) {
				signals = append(signals, k.Eligible())
			}
		}
		return fact.And(lead.lasts(), fact.Or(signals...))
	})
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

// replaceable is while the leader is outranked and nothing is in the way of replacing it:
// a coordinator is active, no fault is about the Lease, and the Lease says that it is a
// coordinator's.
func (lead *leadership) replaceable(fits func(*Candidate) bool) fact.Signal {
	f := lead.lease.facts
	return fact.And(lead.outranked(fits), f.coordinating(), fact.Not(lead.lease.faulty()), lead.lease.Held())
}

// done is when another one took the Lease.
func (lead *leadership) done() []fact.Moment {
	if lead.ended == nil {
		return nil
	}
	return []fact.Moment{lead.ended.When()}
}

// first is the first moment at which a signal is Yes; none if it never is.
func (f *Facts) first(s fact.Signal) []fact.Moment {
	rises := f.Rises(s)
	return rises[:min(len(rises), 1)]
}

// tooLong says that a leader stayed for too long.
func (lead *leadership) tooLong(took time.Duration) string {
	return fmt.Sprintf("%s (%s) held %s for %s while an older candidate was eligible", lead.candidate.Name, lead.candidate.last().Binary, lead.lease.Key, took.Round(time.Second))
}
