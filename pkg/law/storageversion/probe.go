package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// probe is an invalid status of a StorageVersion that the harness sent to a member.
type probe struct {
	fact.Stamp
	member, object, flaw string
	// lasting is whether it was sent for good, and not as a dry run.
	lasting, accepted bool
	// refused is whether the server refused it, and takes the same status without the
	// flaw: one that refuses everything has not looked at it.
	refused bool
}

func (f *facts) observeProbe(ev *history.Event) {
	r := ev.Request
	accepted := r.Code >= 200 && r.Code < 300
	switch {
	case r.Class != history.ClassInvalid:
	case r.Invalid != "":
		refused := r.Code == 422 && r.Name != "" && f.taken[ev.Member] == r.Name
		f.probes = append(f.probes, probe{fact.StampOf(ev), ev.Member, r.Name, r.Invalid, r.WithoutDryRun, accepted, refused})
	case accepted:
		f.taken[ev.Member] = r.Name
	default:
		delete(f.taken, ev.Member)
	}
}

// refuses is the part of a law by which members refuse statuses with a flaw. At the end of
// each hold each member is probed.
func refuses(flaw, what string) law.Law[*facts] {
	return law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
		probes := fact.Where(f.probes, func(p probe) bool { return p.flaw == flaw })
		for _, p := range probes {
			e := law.Of(p.object, f.When(p.Stamp)).By(p.member).Alone()
			switch {
			case p.accepted:
				l.Add(e.Broken("%s took a status of %s %s", p.member, p.object, what))
			case p.refused && p.lasting:
				l.Add(e.Met("refused", "refused lasting"))
			case p.refused:
				l.Add(e.Met("refused"))
			default:
				l.Add(e.Excused("the server did not take a valid status before, or refused the invalid one for another reason"))
			}
		}
		missed := 0
		for _, hold := range f.endedHolds() {
			for member := range hold.Releases {
				s := f.lastServer(member, hold.Ended.Latest)
				if s != nil && s.Alive().At(hold.Ended.Latest) != fact.No && !slices.ContainsFunc(probes, func(p probe) bool {
					return p.member == member && p.refused && p.lasting && p.Seq > hold.Began.Seq && p.Seq < hold.Ended.Seq
				}) {
					missed++
				}
			}
		}
		if missed > 0 {
			l.Doubt("at the end of holds members were not seen to refuse an invalid status %d times, though they were up", missed)
		}
	}}
}

// endedHolds are the holds that were played to their end.
func (f *facts) endedHolds() []*fact.Hold {
	return fact.Where(f.Holds, func(h *fact.Hold) bool { return h.Ended != nil })
}
