package check

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// wanted are the Leases that candidates want to lead and that a coordinator is to
// elect for, sorted.
func (e *elections) wanted() []string {
	var out []string
	others := map[string]bool{}
	for _, c := range e.candidates {
		if c.now.Strategy != byOldest {
			others[c.lease] = true
		}
		if !slices.Contains(out, c.lease) {
			out = append(out, c.lease)
		}
	}
	out = slices.DeleteFunc(out, func(lease string) bool { return others[lease] })
	slices.Sort(out)
	return out
}

// electable is whether nothing stands in the way of an election: somebody has
// answered lately or can answer, somebody coordinates, and no fault hits either.
func (w *World) electable(lease string) bool {
	if !w.coordinates() || w.keysFail(leasePrefix+lease) {
		return false
	}
	return slices.ContainsFunc(w.elections.of(lease), w.eligible)
}

// able is whether a candidate could answer if it was asked.
func (w *World) able(c *candidateSeen) bool {
	return w.healthy(c) && w.Now-c.created > int64(settledIn)
}

// eligible is whether a coordinator has a candidate that it could elect in time. One
// that was just asked is no less there than before: or else a coordinator that asked
// again and again would have all the time that it wants. One that lets an election pass
// without an answer may not be elected, and neither may one that answers too late.
func (w *World) eligible(c *candidateSeen) bool {
	if c.now.Answered() {
		return w.able(c) && c.lateSeq != w.seq
	}
	return w.present(c) && w.Now-c.created > int64(settledIn) &&
		time.Duration(w.Now-c.silent) <= answersWithin+w.aways.lag(c.silent, w.Now)
}

// coordinates is whether a coordinator holds the coordinators' Lease, and nothing
// is wrong with its server.
func (w *World) coordinates() bool {
	l := w.elections.leases[coordinatorsLease]
	if l == nil || !w.held(l, w.Now) {
		return false
	}
	member := w.memberOfHost(l.now.Holder)
	return member != "" && w.serves(member) && !w.faulty(member)
}

// keysFail is whether a fault hits requests about a key anywhere.
func (w *World) keysFail(key string) bool {
	return slices.ContainsFunc(w.faults, func(f *FaultSeen) bool { return !f.Healed && f.about(key) })
}

// about is whether a fault keeps requests about a key from passing.
func (f *FaultSeen) about(key string) bool {
	return (f.Type == history.FaultKeys || f.Type == history.FaultAdmission) && slices.ContainsFunc(strings.Fields(f.prefixes), func(prefix string) bool {
		return strings.HasPrefix(key, prefix)
	})
}
