package election

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle12: a leader that cannot renew its Lease stops before another one can take it, and
// comes back as a candidate (KEP-4355, "Component Lease Candidates"). Whether its process
// goes on for that or ends and is started again, the KEP leaves open. One whose Lease the
// harness takes stops when it has had the time to notice.
var cle12 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-12", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "stopped", Tag: "stopped"}, {Name: "back", Tag: "back"},
	}},
	Parts: []law.Law[*Facts]{
		law.Each[*Facts, *loss]{Over: (*Facts).losses, End: (*loss).stops},
		law.Deadline[*Facts, *loss]{
			Bound:   "declaresWithin",
			Over:    func(f *Facts) []*loss { return fact.Where(f.losses(), func(x *loss) bool { return !x.forced }) },
			Begin:   func(x *loss) []fact.Moment { return x.known(fact.Yes) },
			Perhaps: func(x *loss) []fact.Moment { return x.known(fact.Unknown) },
			Running: (*loss).canReturn,
			Done:    (*loss).returns,
			Void:    func(x *loss) []law.Void { return law.Ended(x.successor()) },
			Lacking: func(x *loss) string {
				return fmt.Sprintf("%s has lost %s, its process runs, and it has been no candidate", x.Holder, x.Key)
			},
			Tag: func(x *loss, _, _ fact.Moment) []string {
				if _, late := x.acted(); late != fact.Yes && x.renewedSince() {
					return []string{"back"}
				}
				return nil
			},
		},
	},
}

// loss is the end of a tenure that the leader did not choose: the harness took the Lease by
// force, or it ran out while the leader could have gone on, or had ended because of a fault
// that kept it from renewing.
type loss struct {
	*Tenure
	forced bool
	// process that led, and whether it ended by itself because of that; certain is Unknown where
	// it may have ended before.
	process *fact.Process
	ended   bool
	certain fact.Truth
	// at is when another one took the Lease, or else when it ran out; expired is when it
	// ran out by the clock of the leader.
	at      fact.Moment
	expired int64
}

// losses are those of the Leases whose leaders tell what they do.
func (f *Facts) losses() []*loss {
	return cached(f, "losses", nil, func() []*loss {
		all := fact.Each(tenures((*Lease).tellsActions)(f), (*Tenure).loss)
		return fact.Where(all, func(x *loss) bool { return x != nil })
	})
}

func (t *Tenure) loss() *loss {
	x := &loss{Tenure: t, expired: t.Last.expires().Latest, process: t.LastProcess(t.Member, t.component(), t.Last.At), certain: fact.Yes}
	taken := t.Lost != nil && t.Lost.Taken()
	if x.forced = taken && byForce(t.Lost.Now.Holder); x.forced {
		x.at = t.Lost.When()
		return x
	}
	p := x.process
	if p == nil || t.Lost != nil && !taken {
		return nil
	}
	x.ended = p.GaveUp() && p.Exited.Latest <= x.expired && p.Exited.Latest >= t.Last.When().Earliest && t.hindered().During(*p.Exited) != fact.No
	if taken {
		x.at = t.Lost.When()
		if !x.ended {
			x.certain = min(p.Lived(x.at), p.Paused().During(x.at).Not())
		}
		if t.Lost.early() == fact.Yes || x.certain == fact.No {
			return nil
		}
		return x
	}
	x.at = fact.Exactly(x.expired, t.Evidence(x.expired))
	if !x.ended || x.expired >= t.Now {
		return nil
	}
	return x
}

// hindered is while a fault may keep the leader from renewing. A leader that gives up beside
// a fault of something else was told to, or has its own reasons.
func (t *Tenure) hindered() fact.Signal {
	return t.FaultActive(func(one *fact.Fault) bool {
		switch one.Type {
		case history.FaultAdmission:
			return one.About(leasePrefix + t.Key) // at every member
		case history.FaultKeys:
			return one.Member == t.Member && one.About(leasePrefix+t.Key)
		}
		return one.Member == t.Member && slices.Contains([]string{"", history.ComponentAPIServer, t.component()}, one.Component)
	})
}

func (x *loss) stops(_ law.Bounds) law.Entry {
	e, what, since := x.Entry(), "its Lease had run out", x.expired
	e.Began = x.at
	if x.forced {
		what, since = "the harness had taken its Lease", x.at.Earliest
	}
	act, late := x.acted()
	prompt := fact.Yes
	if late == fact.Yes && x.forced {
		prompt = x.prompt(x.at, x.When(act.Stamp))
	}
	switch {
	case late == fact.No && x.certain != fact.Yes:
		return law.Entry{} // it was not certainly owed, and kept
	case late == fact.No && x.forced:
		return e.Met()
	case late == fact.No:
		return e.Met("stopped")
	case min(late, x.certain) == fact.Unknown, prompt == fact.Unknown:
		return e.Unclear("whether %s acted before it had to have stopped as the leader of %s is not certain", x.Holder, x.Key).Shown(act.Seq)
	case prompt == fact.No:
		return e.Excused("requests of before were held up")
	}
	after := time.Duration(x.When(act.Stamp).Latest - since).Round(100 * time.Millisecond)
	e = e.Broken("%s acted as the leader of %s %s after %s", x.Holder, x.Key, after, what).Shown(x.Last.Seq, x.at.Seq, act.Seq)
	// A leader that the machine held up between its look at the Lease and the action cannot
	// know better.
	acted := x.When(act.Stamp)
	return law.UnlessStarved(x.History, e, time.Duration(acted.Latest-since), fact.Constant(fact.Yes), since, acted.Latest)
}

// acted is an action of the leader after it had to have stopped, while it had not got the
// Lease again. One of which that is certain comes first.
func (x *loss) acted() (found *Action, late fact.Truth) {
	for _, a := range x.actions {
		if a.Holder == x.Holder && x.tenureOf(a.Holder, a.Revision) == x.Tenure {
			if is := x.late(a); is > late {
				found, late = a, is
			}
		}
	}
	return found, late
}

// late is whether the leader had to have stopped when it acted. In etcd everything has its
// place, so that of an action behind the loss there is no doubt; but what was held up on
// its way there may have been sent before.
func (x *loss) late(a *Action) fact.Truth {
	when := x.When(a.Stamp)
	gone := fact.Moment{Earliest: max(x.expired, x.at.Earliest), Latest: max(x.expired, x.at.Latest)}
	held := x.heldUp(gone, a)
	switch {
	case x.forced && a.Revision < x.Lost.Revision:
		return fact.No
	case x.forced:
		return within(x.at, when, notion("noticesWithin")).Not()
	case held != fact.No:
		return held.Not()
	}
	sent, delayed := within(fact.Exactly(x.expired, 0), when, notion("clocksApart")).Not(), within(gone, when, bound("CLE-12", "inFlight")).Not()
	if x.Lost != nil && a.Revision > x.Lost.Revision {
		sent = fact.Yes
	}
	switch prompt := x.prompt(x.Last.When(), when); {
	case prompt == fact.Yes:
		return sent
	case prompt == fact.No, sent == delayed:
		return delayed
	}
	return fact.Unknown
}

// known is when it was lost, where that is as certain.
func (x *loss) known(certain fact.Truth) []fact.Moment {
	if x.certain != certain {
		return nil
	}
	return []fact.Moment{x.at}
}

// prompt is whether nothing that is known of held requests up between two moments: no
// process stood still, and all faults there were answer at once.
func (f *Facts) prompt(from, to fact.Moment) fact.Truth {
	switch {
	case !f.holdsUp(from.Earliest, to.Latest, fact.Unknown):
		return fact.Yes
	case from.Latest < to.Earliest && f.holdsUp(from.Latest, to.Earliest, fact.Yes):
		return fact.No
	}
	return fact.Unknown
}

// holdsUp is whether anything held requests up between two times: certainly, or perhaps.
func (f *Facts) holdsUp(from, to int64, atLeast fact.Truth) bool {
	holding := f.FaultActive(func(one *fact.Fault) bool {
		switch one.Type {
		case history.FaultAdmission, history.FaultBackend:
			return false
		case history.FaultHTTP:
			return one.Action == history.FaultHTTPDelay
		case history.FaultKeys:
			return one.Action != history.FaultKeysFail
		}
		return one.Action != history.FaultContainerKill
	})
	return f.Stalled(from, to) || holding.Lasts(from, to, atLeast) > 0 || holding.At(from) >= atLeast
}

// successor is the process that led, or the one that was started in its place; nil if none
// was.
func (x *loss) successor() *fact.Process {
	if x.ended {
		return x.process.After
	}
	return x.process
}

// canReturn is while nothing keeps the instance from being a candidate again.
func (x *loss) canReturn() fact.Signal {
	if p := x.successor(); p != nil {
		return x.able(p)
	}
	return fact.Constant(fact.No)
}

// stand is a candidate by which the instance, or the one started in its place, stands for the Lease,
// and the statement since which it does. What an instance leaves behind that ended does not stand for
// it, unless the next one renews that.
type stand struct {
	*Candidate
	since *statement
}

func (x *loss) own() (out []stand) {
	for _, k := range x.candidates {
		if !k.ofMember() || x.successor() == nil {
			continue
		}
		if s := k.first(x.successor()); s != nil {
			out = append(out, stand{k, s})
		}
	}
	return out
}

// answered is while it stands and owes no answer to a ping.
func (s stand) answered() fact.Signal {
	return fact.And(s.Candidate.answered(), fact.From(s.when(s.since)))
}

// returns are when the instance stands as a candidate that owes no answer, and could do so. If
// a coordinator asks over and over, no instant is certain to lie between an answer and the next
// ping, but the order of revisions shows each answer.
func (x *loss) returns() []fact.Moment {
	stands := fact.And(fact.Or(fact.Each(x.own(), stand.answered)...), x.canReturn())
	if at := x.at.Latest; stands.At(at) == fact.Yes {
		return []fact.Moment{fact.Exactly(at, x.at.Seq)}
	}
	out := x.Rises(stands)
	for _, k := range x.own() {
		for _, s := range k.said {
			if at := k.when(s); s.Answered() && x.at.Before(at) == fact.Yes && x.canReturn().During(at) == fact.Yes {
				out = append(out, at)
			}
		}
	}
	return out
}

// renewedSince is whether a candidate of the instance renewed after it had lost the Lease.
func (x *loss) renewedSince() bool {
	return slices.ContainsFunc(x.own(), func(k stand) bool {
		return slices.ContainsFunc(k.said, func(s *statement) bool { return s.renewed && s.Revision > x.Last.Revision && s.At >= x.at.Latest })
	})
}
