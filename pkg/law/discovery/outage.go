package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// outage is a stretch of time in which an aggregated server of the harness misbehaves.
type outage struct {
	group, action string
	// since and until it does; until is Forever while it does.
	since, until int64
	// dead is since when no client can have had an answer, also by what it did before; it is
	// since where it gives one.
	dead int64
	// bitten is since when it is known to have had an effect; 0 if it is not.
	bitten int64
	seq    int64
}

func (f *Facts) observeBackend(ev *history.Event) {
	of := ev.Fault
	var last *outage
	for _, o := range f.outages {
		if o.group == of.Group {
			last = o
		}
	}
	switch {
	case of.Phase == history.PhaseInject:
		o := &outage{group: of.Group, action: of.Action, since: ev.At, until: fact.Forever, dead: ev.At, seq: ev.Seq}
		if last != nil {
			last.until = min(last.until, ev.At) // it does something else now
			if last.takesNothing() && o.takesNothing() && last.turns(o) {
				o.dead = last.dead
			}
		}
		f.outages = append(f.outages, o)
	case last == nil:
	case of.Phase == history.PhaseWitness && of.Proof != "" && last.bitten == 0:
		last.bitten = ev.At
	case of.Phase == history.PhaseHeal:
		last.until = ev.At
	}
	f.changes = append(f.changes, fact.Span{Begin: ev.At, End: ev.At})
}

// takesNothing is whether no client gets an answer that it could take for one.
func (o *outage) takesNothing() bool { return history.BackendGivesNoAnswer(o.action) }

// turns is whether the server goes over to another misbehavior without an answer between.
func (o *outage) turns(next *outage) bool { return next.since <= o.until+int64(turnsWithin()) }

// next is the outage of the same group after this one; nil if there is none.
func (f *Facts) next(o *outage) *outage {
	for _, other := range f.outages {
		if other.group == o.group && other.seq > o.seq {
			return other
		}
	}
	return nil
}

// metFirst is when a request first met an outage, or one without an answer that went over to it;
// 0 if none did.
func (f *Facts) metFirst(o *outage) int64 {
	for _, one := range f.outages {
		if one.group == o.group && o.dead <= one.since && one.since <= o.since && one.bitten > 0 {
			return one.bitten
		}
	}
	return 0
}

// active are the outages that lasted at some time between two, in the order of beginning.
func (f *Facts) active(from, to int64) []*outage {
	return fact.Where(f.outages, func(o *outage) bool { return o.since <= to && from < o.until })
}

// misbehaves is the outage of a group at a time; nil if there is none.
func (f *Facts) misbehaves(group string, at int64) *outage {
	for _, o := range f.active(at, at) {
		if o.group == group {
			return o
		}
	}
	return nil
}

// behind is whether what is listed of a group may still be what its aggregated server said
// while it misbehaved: no member has to have asked it since.
func (f *Facts) behind(group string, from, to int64) bool {
	return slices.ContainsFunc(f.active(from-int64(recoversWithin()), to), func(o *outage) bool { return o.group == group })
}

// observeUpdate takes in that an aggregated server hosts something else. An API server learns of
// that when it asks next, as of an end of an outage, so that the change goes on until then.
func (f *Facts) observeUpdate(ev *history.Event) {
	f.updates = append(f.updates, &update{ev.BackendUpdate.Group, fact.Span{Begin: ev.From, End: ev.At + int64(recoversWithin())}})
	f.changes = append(f.changes, fact.Span{Begin: ev.From, End: ev.At})
}

// update is when API servers may not have learned what an aggregated server of a group hosts now.
type update struct {
	group string
	fact.Span
}

// updating are the updates that a member may not have learned of at some time between two.
func (f *Facts) updating(from, to int64) []*update {
	return fact.Where(f.updates, func(u *update) bool { return u.Begin <= to && from < u.End })
}
