package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle08: where a better candidate is there, the coordinator marks the Lease, and the leader
// stops renewing it (KEP-4355, "Renewal Interval and Performance", "Strategy").
var cle08 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-08", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "handed", Tag: "handed"}}},
	Parts: []law.Law[*Facts]{
		law.Deadline[*Facts, *Lease]{
			Row:      law.Row{ID: "CLE-08"},
			Bound:    "replacesWithin",
			Over:     (*Facts).coordinatedLeases,
			Describe: (*Lease).entry,
			Begin:    func(l *Lease) []fact.Moment { return l.newerLed(anyCandidate) },
			Running:  func(l *Lease) fact.Signal { return l.replaceable(anyCandidate) },
			Done:     func(l *Lease) []fact.Moment { return l.relieved(anyCandidate) },
			Breach: func(l *Lease, began fact.Moment, done *fact.Moment, took time.Duration) string {
				return l.tooLong(anyCandidate, began, done, took)
			},
			Tag: (*Lease).handedOver,
		},
		law.Written[*Facts]{Judge: handedOverEarly},
	},
}

func anyCandidate(*Candidate) bool { return true }

// coordinatedLeases are those that candidates of the coordinators' strategy stand for, and
// that said at some time that a coordinator elects for them.
func (f *Facts) coordinatedLeases() []*Lease {
	wanted := f.electedLeases()
	out := wanted[:0:0]
	for _, l := range wanted {
		if l.exists(func(now *history.Lease) bool { return now.Strategy == oldest }).Spans(fact.Yes) != nil {
			out = append(out, l)
		}
	}
	return out
}

// marked is the change with which the leader was told to give way; nil if it was not.
func (lead *leadership) marked() *Change {
	for _, c := range lead.lease.changes {
		if c.Marked() && c.Now.Strategy == oldest && c.Revision > lead.taken.Revision && (lead.ended == nil || c.Revision < lead.ended.Revision) {
			return c
		}
	}
	return nil
}

// handedOver tags a Lease that its leader gave up, as it was told, to a better one.
func (l *Lease) handedOver(_, done fact.Moment) []string {
	for _, lead := range l.leaderships() {
		if lead.ended == nil || lead.ended.Seq != done.Seq || lead.candidate == nil {
			continue
		}
		next, _ := l.candidate(holder(lead.ended.Now), lead.ended.Revision)
		if lead.marked() != nil && next != nil && older(next.last(), lead.candidate.last()) && lead.gaveWayEarly() <= clocksApart() {
			return []string{"handed"}
		}
	}
	return nil
}

// gaveWayEarly is how long before it expired a Lease was taken from its holder; nothing
// where the holder had given it up.
func (lead *leadership) gaveWayEarly() time.Duration {
	if lead.ended == nil || holder(lead.ended.Before) == "" {
		return 0
	}
	return lead.ended.Early()
}

// handedOverEarly judges that a coordinator waits for the leader that it told to give way.
func handedOverEarly(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, lead := range f.ledByAny(f.electedLeases()) {
		mark := lead.marked()
		if mark == nil || lead.ended == nil || !lead.ended.ByCoordinator() || lead.ended.deletedSince {
			continue
		}
		if next, _ := lead.lease.candidate(holder(lead.ended.Now), lead.ended.Revision); next == nil {
			continue
		}
		if early := lead.gaveWayEarly(); early > clocksApart() {
			l.Broken(lead.lease.Key, lead.ended.When(), law.Evidence(mark.Seq, lead.ended.previous.Seq, lead.ended.Seq), "%s was told to give %s up, and it was given to %s %s before it expired",
				lead.holder, lead.lease.Key, lead.ended.Now.Holder, early.Round(time.Millisecond))
		} else {
			l.MetBy(f.MemberOf(lead.holder), lead.lease.Key, lead.ended.When())
		}
	}
}

// ledByAny are all leaderships of the Leases.
func (f *Facts) ledByAny(leases []*Lease) []*leadership {
	var out []*leadership
	for _, l := range leases {
		out = append(out, l.leaderships()...)
	}
	return out
}
