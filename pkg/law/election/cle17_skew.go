package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle17: while members are upgraded or rolled back one by one, a leader is never newer than
// the oldest healthy candidate for longer than a bound, and the leadership does not flap
// (KEP-4355, "Motivation").
var cle17 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-17", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "mixed", Tag: "mixed"}, {Name: "mixtures", Tag: "mixed", Distinct: true},
	}},
	Parts: []law.Law[*Facts]{
		law.Deadline[*Facts, *Lease]{
			Bound:    "replacesWithin",
			Over:     (*Facts).componentLeases,
			Describe: (*Lease).entry,
			Begin:    func(l *Lease) []fact.Moment { return l.newerLed(ofMember) },
			Running:  func(l *Lease) fact.Signal { return l.replaceable(ofMember) },
			Done:     func(l *Lease) []fact.Moment { return l.relieved(ofMember) },
			Breach: func(l *Lease, began fact.Moment, done *fact.Moment, took time.Duration) string {
				return l.tooLong(ofMember, began, done, took)
			},
		},
		law.Written[*Facts]{Judge: judgeFlapping},
	},
}

func ofMember(c *Candidate) bool { return c.process() != nil }

// judgeFlapping judges changes of leader for which there is no reason to be seen. One may
// have a reason that cannot be seen; two soon after each other are flapping, and so are
// two by which a leader was made to go while nothing else happened in between.
func judgeFlapping(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, lease := range f.componentLeases() {
		var last, lastDeposed *Change
		leads := lease.leaderships()
		for i, lead := range leads {
			c := lead.taken
			if lead.candidate == nil || lead.candidate.process() == nil || c.Now.Strategy == "" {
				continue
			}
			if state, several := lease.mixture(c.Revision); several {
				l.MetBy(f.MemberOf(lead.holder), lease.Key+state, c.When(), "mixed")
			}
			if i == 0 || c.deletedSince || !leads[i-1].needless(lead) {
				continue
			}
			before, soon := last, fact.No
			if last != nil {
				soon = within(last.When(), c.When(), b.Of("flapsWithin"))
			}
			deposed := leads[i-1].deposedFor()
			if deposed && soon != fact.Yes && lastDeposed != nil && sinceLast(f.causes(), c.At) > time.Duration(c.At-lastDeposed.At) {
				before, soon = lastDeposed, fact.Yes
			}
			if last = c; deposed {
				lastDeposed = c
			}
			switch soon {
			case fact.Unknown:
				l.Unclear(lease.Key, c.When(), "whether it changed within %s of a change without a reason to be seen is not certain", b.Of("flapsWithin"))
			case fact.Yes:
				l.Broken(lease.Key, c.When(), law.Evidence(before.Seq, c.Seq), "%s went from %s, which was healthy, to %s, which is no older, and had changed %s before without a reason to be seen",
					lease.Key, leads[i-1].holder, lead.holder, took(time.Duration(c.At-before.At)))
			}
		}
	}
}

// mixture names the versions of the members' candidates at a revision; several is whether
// there are more than one.
func (l *Lease) mixture(revision int64) (state string, several bool) {
	first := ""
	for _, k := range l.standing(revision) {
		p := k.process()
		if p == nil || p.Lived(l.facts.When(k.at(revision).Stamp)) != fact.Yes || p.Exited != nil && p.Exited.Latest < l.at(revision+1).At {
			continue
		}
		binary := k.at(revision).now.Binary
		state += " " + p.Member + "=" + binary
		several = several || first != "" && first != binary
		first = binary
	}
	return state, several
}

// needless is whether another leader took the place of one that could have gone on, is no
// older, and nothing had happened that may be the cause.
func (lead *leadership) needless(next *leadership) bool {
	f, k := lead.lease.facts, lead.candidate
	if k == nil || k.process() == nil || k.process() == next.candidate.process() || older(next.candidate.last(), k.last()) {
		return false
	}
	at := next.taken.When()
	healthy := k.Eligible().During(at) == fact.Yes
	if !healthy && !(lead.deposedFor() && f.ousted(k.process())) {
		return false
	}
	return sinceLast(f.causes(), next.taken.At) >= bound("CLE-17", "causeWithin")
}

// deposedFor is whether the leader was made to go: told to give way to one that is not
// better, or its Lease taken before it expired.
func (lead *leadership) deposedFor() bool {
	if lead.gaveWayEarly() > clocksApart() {
		return true
	}
	i := slices.IndexFunc(lead.lease.changes, func(c *Change) bool {
		return c.Marked() && c.Revision > lead.taken.Revision && (lead.ended == nil || c.Revision < lead.ended.Revision)
	})
	if i < 0 {
		return false
	}
	mark := lead.lease.changes[i]
	preferred, gone := lead.lease.candidate(mark.Now.Preferred, mark.Revision)
	return lead.candidate != nil && preferred != nil && !gone && preferred != lead.candidate && !older(preferred.last(), lead.candidate.last())
}
