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
	if r.Class != history.ClassInvalid {
		return
	}
	accepted := r.Code >= 200 && r.Code < 300
	if r.Invalid == "" {
		delete(f.taken, ev.Member)
		if accepted {
			f.taken[ev.Member] = r.Name
		}
		return
	}
	f.probes = append(f.probes, probe{
		Stamp: fact.StampOf(ev), member: ev.Member, object: r.Name, flaw: r.Invalid, lasting: r.Lasting, accepted: accepted,
		refused: r.Code == 422 && r.Name != "" && f.taken[ev.Member] == r.Name,
	})
}

// Tags of refused probes: of all, and of those that would have lasted.
const (
	tagRefused        = "refused"
	tagRefusedLasting = "refused lasting"
)

// judgeProbes enters what became of statuses with a flaw.
func (f *facts) judgeProbes(l *law.Ledger, flaw, what string) {
	for _, p := range f.probes {
		at := f.When(p.Stamp)
		switch {
		case p.flaw != flaw:
		case p.accepted:
			l.Add(law.Entry{Ending: law.Broken, About: p.object, Member: p.member, Began: at, SelfEvident: true, Evidence: []int64{p.Seq},
				Why: p.member + " took a status of " + p.object + " " + what})
		case p.refused && p.lasting:
			l.MetBy(p.member, p.object, at, tagRefused, tagRefusedLasting)
		case p.refused:
			l.MetBy(p.member, p.object, at, tagRefused)
		default:
			l.Excused(p.object, at, "the server did not take a valid status before, or refused the invalid one for another reason")
		}
	}
	f.doubtProbes(l, flaw)
}

// doubtProbes doubts the verdict where members that were up were not seen to refuse an
// invalid status in a hold, at whose end each is probed.
func (f *facts) doubtProbes(l *law.Ledger, flaw string) {
	missed := 0
	for _, hold := range f.Holds {
		if hold.Ended == nil {
			continue
		}
		for member := range hold.Releases {
			s := f.lastServer(member, hold.Ended.Latest)
			if s == nil || s.Alive().At(hold.Ended.Latest) == fact.No {
				continue
			}
			if !slices.ContainsFunc(f.probes, func(p probe) bool {
				return p.flaw == flaw && p.member == member && p.refused && p.lasting && p.Seq > hold.Began.Seq && p.Seq < hold.Ended.Seq
			}) {
				missed++
			}
		}
	}
	if missed > 0 {
		l.Doubt("at the end of holds members were not seen to refuse an invalid status %d times, though they were up", missed)
	}
}
