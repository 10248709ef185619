package election

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle12: a leader that cannot renew its Lease stops before another one can take it, and
// comes back as a candidate (KEP-4355, "Component Lease Candidates"). Whether its process
// goes on for that or ends and is started again, the KEP leaves open.
var cle12 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-12", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "stopped", Tag: "stopped"}, {Name: "back", Tag: "back"},
	}},
	Parts: []law.Law[*Facts]{
		law.Written[*Facts]{Row: law.Row{ID: "CLE-12"}, Judge: judgeStops},
		law.Written[*Facts]{Row: law.Row{ID: "CLE-12"}, Judge: judgeForced},
		law.Deadline[*Facts, *lostLead]{
			Row:      law.Row{ID: "CLE-12"},
			Bound:    "declaresWithin",
			Over:     (*Facts).lostLeads,
			Describe: (*lostLead).entry,
			Begin:    func(lost *lostLead) []fact.Moment { return []fact.Moment{lost.at} },
			Running:  (*lostLead).canReturn,
			Done:     (*lostLead).returns,
			Void:     (*lostLead).endsAgain,
			Breach: func(lost *lostLead, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
				return fmt.Sprintf("%s has lost %s, its process runs, and it has been no candidate for %s", lost.holder, lost.lease.Key, took.Round(time.Second))
			},
			Tag: func(lost *lostLead, _, _ fact.Moment) []string {
				if lost.actedLate() == nil && lost.renewedSince() {
					return []string{"back"}
				}
				return nil
			},
		},
	},
}

// judgeStops judges what each leader did after its Lease had run out.
func judgeStops(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, lost := range f.lostLeads() {
		e := lost.entry()
		e.Began = lost.at
		if late := lost.actedLate(); late != nil {
			l.Broken(e.About, lost.at, law.Evidence(lost.tenure.last().Seq, lost.at.Seq, late.Seq), "%s acted as the leader of %s %s after its Lease had run out",
				lost.holder, lost.lease.Key, took(time.Duration(f.When(late.Stamp).Latest-lost.expired)))
			continue
		}
		if doubtful := lost.mayHaveActedLate(); doubtful != nil {
			l.Unclear(e.About, f.When(doubtful.Stamp), "whether %s acted before or after its Lease had run out is not certain", lost.holder)
			continue
		}
		l.MetBy(e.Member, e.About, lost.at, "stopped")
	}
}

// judgeForced judges that a leader stops when it has had the time to notice that the
// harness took its Lease by force.
func judgeForced(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, lease := range f.sorted(func(l *Lease) bool { return len(l.actions) > 0 }) {
		for _, t := range lease.tenures() {
			if t.Lost == nil || !t.Lost.Taken() || !byForce(t.Lost.Now.Holder) {
				continue
			}
			lost := t.Lost.When()
			about := lease.Key + " of " + t.Holder
			late, certain := lease.actedBehind(t)
			switch {
			case late == nil:
				l.MetBy(f.MemberOf(t.Holder), about, lost)
			case !certain:
				l.Unclear(about, f.When(late.Stamp), "whether %s had had the time to notice that the harness took its Lease is not certain", t.Holder)
			case !f.prompt(lost.Earliest, f.When(late.Stamp).Latest):
				l.Excused(about, lost, "requests of before were held up")
			default:
				after, _ := lost.Until(f.When(late.Stamp))
				l.Broken(about, lost, law.Evidence(lost.Seq, late.Seq), "%s acted as the leader of %s %s after the harness had taken its Lease", t.Holder, lease.Key, took(after))
			}
		}
	}
}

// actedBehind is an action of a holder that it did when it may have had the time to notice
// that it lost the Lease, and had not got it again; nil if there is none. One of which that
// is certain comes first.
func (l *Lease) actedBehind(t *Tenure) (found *Action, certain bool) {
	for _, a := range l.actions {
		if a.Holder != t.Holder || a.Revision < t.Lost.Revision {
			continue
		}
		if l.takenBy(a.Holder, a.Revision) != t.Taken.Revision {
			break
		}
		switch within(t.Lost.When(), l.facts.When(a.Stamp), noticesWithin()) {
		case fact.No:
			return a, true
		case fact.Unknown:
			found = a
		}
	}
	return found, false
}

// lostLead is a leader whose Lease ran out while it could have gone on, or that ended its
// process because of a fault that kept it from renewing.
type lostLead struct {
	facts  *Facts
	lease  *Lease
	tenure *Tenure
	holder string
	member string
	// process that led, and whether it ended by itself because of that.
	process *fact.Process
	ended   bool
	// at is when another one took the Lease, or else when it ran out; expired is when it
	// ran out by the clock of the leader.
	at      fact.Moment
	expired int64
}

// last is the change with which the holder of a tenure wrote last.
func (t *Tenure) last() *Change {
	if n := len(t.renewals); n > 0 {
		return t.renewals[n-1]
	}
	return t.Taken
}

func (lost *lostLead) entry() law.Entry {
	return law.Entry{About: lost.lease.Key + " of " + lost.holder, Member: lost.member}
}

// lostLeads are those of the Leases whose leaders tell what they do.
func (f *Facts) lostLeads() []*lostLead {
	return cached(f, "lost leads", func() []*lostLead {
		var out []*lostLead
		for _, l := range f.sorted(func(l *Lease) bool { return len(l.actions) > 0 }) {
			for _, t := range l.tenures() {
				if lost := t.lostLead(); lost != nil {
					out = append(out, lost)
				}
			}
		}
		return out
	})
}

// lostLead is the tenure as one that ran out; nil if it did not.
func (t *Tenure) lostLead() *lostLead {
	f, l := t.Lease.facts, t.Lease
	lost := &lostLead{facts: f, lease: l, tenure: t, holder: t.Holder, member: f.MemberOf(t.Holder), expired: f.expires(t.last().Now)}
	p := f.LastProcess(lost.member, componentOf(l.Key), t.last().At)
	if p == nil {
		return nil
	}
	lost.process = p
	lost.ended = p.GaveUp() && p.Exited.Latest <= lost.expired && p.Exited.Latest >= t.last().When().Earliest && f.hindered(lost.member, l, *p.Exited)
	switch {
	case t.Lost != nil && t.Lost.Taken() && holder(t.Lost.Before) == t.Holder:
		lost.at = t.Lost.When()
		stayed := p.Lived(lost.at) == fact.Yes && p.Paused().During(lost.at) == fact.No
		if t.Lost.Early() > clocksApart() || byForce(t.Lost.Now.Holder) || !stayed && !lost.ended {
			return nil
		}
	case t.Lost == nil && lost.ended && lost.expired < f.Now:
		lost.at = fact.Exactly(lost.expired, f.Evidence(lost.expired))
	default:
		return nil
	}
	return lost
}

// hindered is whether a fault may keep the instance at a member from renewing a Lease at a
// moment. A leader that gives up beside a fault of something else was told to, or has its
// own reasons.
func (f *Facts) hindered(member string, l *Lease, at fact.Moment) bool {
	return f.FaultActive(func(one *fact.Fault) bool {
		switch {
		case one.Type == history.FaultAdmission:
			return one.About(leasePrefix + l.Key) // at every member
		case one.Member != member:
			return false
		case one.Type == history.FaultKeys:
			return one.About(leasePrefix + l.Key)
		}
		return one.Component == "" || one.Component == history.ComponentAPIServer || one.Component == componentOf(l.Key)
	}).During(at) != fact.No
}

// actions are what the leader did after its Lease had run out, as far as it did not get
// it again; certain is whether that follows from the times.
func (lost *lostLead) actionsAfter(certain bool) *Action {
	regained := int64(fact.Forever)
	for _, t := range lost.lease.tenures() {
		if t.Holder == lost.holder && t.Taken.Revision > lost.tenure.Taken.Revision {
			regained = min(regained, t.Taken.Revision)
		}
	}
	for _, a := range lost.lease.actions {
		if a.Holder == lost.holder && a.Revision > lost.tenure.Taken.Revision && a.Revision < regained && lost.isAfter(a, certain) {
			return a
		}
	}
	return nil
}

// isAfter is whether an action was after the Lease had run out. In etcd everything has its
// place, so that of an action behind the loss there is no doubt; but what was held up on
// its way there may have been sent before.
func (lost *lostLead) isAfter(a *Action, certain bool) bool {
	f := lost.facts
	when := f.When(a.Stamp)
	if !f.prompt(lost.tenure.last().When().Earliest, when.Latest) {
		sent, gone := when.Earliest, lost.at.Latest
		if !certain {
			sent, gone = when.Latest, lost.at.Earliest
		}
		return time.Duration(sent-max(lost.expired, gone)) > bound("CLE-12", "inFlight")
	}
	if !certain {
		return when.Latest-lost.expired > int64(clocksApart())
	}
	taken := lost.tenure.Lost != nil && a.Revision > lost.tenure.Lost.Revision
	return taken || time.Duration(max(a.after, when.Earliest)-lost.expired) > clocksApart()
}

func (lost *lostLead) actedLate() *Action { return lost.actionsAfter(true) }

// mayHaveActedLate is an action that was after the Lease had run out by some of the times
// at which it may have been.
func (lost *lostLead) mayHaveActedLate() *Action { return lost.actionsAfter(false) }

// prompt is whether nothing that is known of held requests up between two times: no
// process stood still, and all faults there were answer at once.
func (f *Facts) prompt(from, to int64) bool {
	if f.Stalled(from, to) {
		return false
	}
	holding := f.FaultActive(func(one *fact.Fault) bool {
		switch one.Type {
		case history.FaultAdmission:
			return false
		case history.FaultHTTP:
			return one.Action == history.FaultHTTPDelay
		case history.FaultKeys:
			return one.Action != history.FaultKeysFail
		}
		return one.Action != history.FaultContainerKill
	})
	return holding.Lasts(from, to, fact.Unknown) == 0 && holding.At(from) == fact.No
}

// canReturn is while nothing keeps the instance from being a candidate again.
func (lost *lostLead) canReturn() fact.Signal {
	f := lost.facts
	return fact.And(f.Running(lost.member, componentOf(lost.lease.Key)), f.Serves(lost.member), fact.Not(f.FaultAt(lost.member)))
}

// standing are the candidates by which the instance, or the one started in its place,
// stands for the Lease. What an instance leaves behind that ended does not stand for it.
func (lost *lostLead) standing() []*Candidate {
	return slices.DeleteFunc(slices.Clone(lost.facts.candidatesOf(lost.lease.Key)), func(k *Candidate) bool {
		same := strings.HasSuffix(k.Name, "/"+lost.holder)
		p := k.process()
		return (!same || lost.ended) && (!lost.ended || p == nil || p.Member != lost.member || p.Started.Before(lost.process.Started) != fact.No || p == lost.process)
	})
}

// returns are when the instance stands as a candidate that owes no answer, and could do
// so.
func (lost *lostLead) returns() []fact.Moment {
	var signals []fact.Signal
	for _, k := range lost.standing() {
		signals = append(signals, k.answered())
	}
	stands := fact.And(fact.Or(signals...), lost.canReturn())
	if at := lost.at.Latest; stands.At(at) == fact.Yes {
		return []fact.Moment{fact.Exactly(at, lost.at.Seq)}
	}
	return lost.facts.Rises(stands)
}

// renewedSince is whether a candidate of the instance renewed after it had lost the Lease.
func (lost *lostLead) renewedSince() bool {
	for _, k := range lost.standing() {
		for i, ch := range k.changes {
			if ch.Revision > lost.tenure.last().Revision && ch.At >= lost.at.Latest && (i == 0 || !ch.now.Renewed.Equal(k.changes[i-1].now.Renewed)) {
				return true
			}
		}
	}
	return false
}

// endsAgain is when the process ended that led, or that was started in its place: then
// the next one has a start of its own.
func (lost *lostLead) endsAgain() []law.Void {
	p := lost.process
	if lost.ended {
		if p = p.After; p == nil {
			return nil
		}
	}
	if p.Exited == nil {
		return nil
	}
	return []law.Void{{Moment: *p.Exited, Why: "the process ended"}}
}
