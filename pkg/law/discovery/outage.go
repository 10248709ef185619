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
	of, last := ev.Fault, f.lastOutage(ev.Fault.Group)
	switch {
	case of.Phase == history.PhaseInject:
		o := &outage{group: of.Group, action: of.Action, since: ev.At, until: fact.Forever, dead: ev.At, seq: ev.Seq}
		if last != nil && last.takesNothing() && o.takesNothing() && ev.At <= max(last.until, last.until+int64(turnsWithin())) {
			o.dead = last.dead
		}
		if last != nil && last.until == fact.Forever {
			last.until = ev.At // it does something else now
		}
		f.outages = append(f.outages, o)
	case last == nil:
	case of.Phase == history.PhaseWitness && of.Proof != "" && last.bitten == 0:
		last.bitten = ev.At
	case of.Phase == history.PhaseHeal:
		last.until = ev.At
	}
	f.disturbed(ev.At, ev.At)
}

func (f *Facts) lastOutage(group string) *outage {
	for _, o := range slices.Backward(f.outages) {
		if o.group == group {
			return o
		}
	}
	return nil
}

// takesNothing is whether no client gets an answer that it could take for one.
func (o *outage) takesNothing() bool { return history.BackendTakesNothing(o.action) }

// next is the outage of the same group after this one; nil if there is none.
func (f *Facts) next(o *outage) *outage {
	for _, other := range f.outages {
		if other.group == o.group && other.seq > o.seq {
			return other
		}
	}
	return nil
}

// active are the outages that lasted at some time between two, in the order of beginning.
func (f *Facts) active(from, to int64) []*outage {
	var out []*outage
	for _, o := range f.outages {
		if o.since <= to && from < o.until {
			out = append(out, o)
		}
	}
	return out
}

// misbehaves is the outage of a group at a time; nil if there is none.
func (f *Facts) misbehaves(group string, at int64) *outage {
	for _, o := range slices.Backward(f.outages) {
		if o.group == group && o.since <= at && at < o.until {
			return o
		}
	}
	return nil
}

// behind is whether what is listed of a group may still be what its aggregated server said
// while it misbehaved: no member has to have asked it since.
func (f *Facts) behind(group string, from, to int64) bool {
	return slices.ContainsFunc(f.outages, func(o *outage) bool {
		return o.group == group && o.since <= to && (o.until == fact.Forever || from < o.until+int64(recoversWithin()))
	})
}
