package election

import (
	"slices"
	"strings"
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
		replaced((*Lease).ofComponent, (*Candidate).ofMember),
		law.Each[*Facts, *Tenure]{Over: tenures((*Lease).ofComponent), End: (*Tenure).amongMixed},
		law.Written[*Facts]{Judge: judgeFlapping},
	},
}

// elected is whether a coordinator made a candidate of a member the leader that was not.
func (t *Tenure) elected() bool {
	return t.candidate != nil && t.candidate.ofMember() && t.coordinated() && (t.before == nil || t.before.Holder != t.Holder)
}

// amongMixed counts elections while candidates of members of several versions stood.
func (t *Tenure) amongMixed(_ law.Bounds) law.Entry {
	var mixture, versions []string
	for _, k := range t.standing(t.Taken.Revision) {
		p, said := k.of(t.Taken.Revision), k.at(t.Taken.Revision)
		if p != nil && p.Lived(k.when(said)) == fact.Yes && (p.Exited == nil || p.Exited.Latest >= t.Taken.At) {
			mixture, versions = append(mixture, p.Member+"="+said.Binary), append(versions, said.Binary)
		}
	}
	slices.Sort(versions)
	if !t.elected() || len(slices.Compact(versions)) < 2 {
		return law.Entry{}
	}
	return law.Of(t.Key+" "+strings.Join(mixture, " "), t.Taken.When()).By(t.Member).Met("mixed")
}

// judgeFlapping judges changes of leader for which there is no reason to be seen. One may
// have a reason that cannot be seen; two soon after each other are flapping, and so are
// two by which a leader was made to go while nothing else happened in between.
func judgeFlapping(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, lease := range leases((*Lease).ofComponent)(f) {
		var last, sure, lastDeposed *Tenure // the last one without a reason, and the last that certainly had none
		for _, t := range fact.Where(lease.tenures(), func(t *Tenure) bool { return t.needless() != fact.No }) {
			c, before, flaps := t.Taken, last, fact.No
			if sure != nil && within(sure.Taken.When(), c.When(), b.Of("flapsWithin")) == fact.Yes {
				before, flaps = sure, fact.Yes
			} else if last != nil {
				flaps = within(last.Taken.When(), c.When(), b.Of("flapsWithin"))
			}
			if t.before.deposed() {
				if flaps != fact.Yes && lastDeposed != nil && quiet(f.whyMoves(), time.Duration(c.At-lastDeposed.Taken.At)).At(c.At) == fact.Yes {
					before, flaps = lastDeposed, fact.Yes
				}
				lastDeposed = t
			}
			if last = t; t.needless() == fact.Yes {
				sure = t
			}
			switch {
			case flaps == fact.No:
			case min(flaps, t.needless(), before.needless()) == fact.Unknown:
				l.Add(c.Entry().Unclear("whether it changed again within %s, each time without a reason to be seen, is not certain", b.Of("flapsWithin")))
			default:
				e := c.Entry().Broken("%s went from %s, which was healthy, to %s, which is no older, and had changed %s before without a reason to be seen",
					lease.Key, t.before.Holder, t.Holder, time.Duration(c.At-before.Taken.At).Round(100*time.Millisecond)).Shown(before.Taken.Seq, c.Seq)
				// Both changes have to be without a reason.
				l.Add(f.unlessStalled(f.unlessStalled(e, before.Taken.When()), c.When()))
			}
		}
	}
}

// needless is whether the leader took the place of one that could have gone on, is no
// older, and nothing had happened that may be the cause.
func (t *Tenure) needless() fact.Truth {
	if !t.elected() || t.before == nil || t.before.candidate == nil || t.Taken.deletedSince {
		return fact.No
	}
	k, at := t.before.candidate, t.Taken.When()
	if !k.ofMember() || k.process() == t.candidate.process() || older(t.candidate.last(), k.last()) {
		return fact.No
	}
	able := k.Eligible().During(at)
	if t.before.deposed() && t.ousted(k.of(t.Taken.Revision)) {
		able = fact.Yes
	}
	quiet := cached(t.Facts, "no cause", nil, func() fact.Signal { return quiet(t.whyMoves(), bound("CLE-17", "causeWithin")) })
	return min(able, until(quiet, at))
}

// deposed is whether the leader was made to go: told to give way to one that is not
// better, or its Lease taken before it expired.
func (t *Tenure) deposed() bool {
	if t.next != nil && t.next.Taken.early() == fact.Yes {
		return true
	}
	mark := t.mark()
	if mark == nil || t.candidate == nil {
		return false
	}
	preferred, gone := t.Lease.candidate(mark.Now.Preferred, mark.Revision)
	return preferred != nil && !gone && !older(preferred.last(), t.candidate.last())
}
