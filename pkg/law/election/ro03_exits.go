package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro03: no component ends by itself, except as documented: a controller that has lost its
// Lease (Leases; --leader-elect of the controllers). It sees the processes that the
// provider starts or finds. It does not see why a controller ended that had just lost its
// Lease, or whose API server was away, nor why an API server did that started without its etcd:
// that excuses an end for another reason, too.
var ro03 = law.Written[*Facts]{
	Row: law.Row{ID: "RO-03", Takes: []string{history.LackProcesses, history.LackEtcd}, Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "lived"}, {Name: "livedEach", Each: true},
	}},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, p := range f.AllProcesses() {
			switch e, harness := processEntry(p), f.HarnessEnded(p); {
			case harness == fact.Unknown, p.Untold && takesPart(p.Component) && !f.renewedLately(p, b.Of("givesUpAfter")):
				l.Add(e.Unclear("the next process took its place, and nothing told how it ended").Shown(p.Exited.Seq))
			case harness == fact.Yes, p.Exited == nil:
				l.Add(e.Met())
			default:
				l.Add(f.endedItself(p, e, b.Of("givesUpAfter")))
			}
		}
	},
}

// endedItself is the obligation of a process that ended by itself. Only a controller has an
// excuse that the recorders of etcd and of /readyz may have missed; the harness's doings are
// missing only where lines of the history are.
func (f *Facts) endedItself(p *fact.Process, e law.Entry, givesUpAfter time.Duration) law.Entry {
	if takesPart(p.Component) {
		e = e.Unless(f.ToldAllUntil(p.Exited.Latest))
	} else if untrusted := f.Untrusted(); untrusted == 0 || p.Exited.Seq < untrusted {
		e = e.Alone()
	}
	if why := f.excuseExit(p, givesUpAfter); why != "" {
		return e.Excused("%s", why)
	}
	switch f.EndedWithoutEtcd(p) {
	case fact.Yes:
		return e.Excused("the harness kept its etcd from it since it had started")
	case fact.Unknown:
		return e.Unclear("it ended by itself (%s), and whether the harness kept its etcd from it then is not certain", p.HowEnded()).Shown(p.Exited.Seq)
	case fact.No:
	}
	if f.unserved(p, givesUpAfter) == fact.Unknown {
		return e.Unclear("it ended by itself (%s), and whether the API server that it goes by had not served for so long is not certain", p.HowEnded()).Shown(p.Exited.Seq)
	}
	for _, g := range f.gaveUp(p, givesUpAfter) {
		if takesPart(p.Component) && f.wentOn(p, g.since) <= notion("noticesWithin") {
			return e.Unclear("it ended by itself (%s) when it had not renewed its Lease for %s, and nothing is known that kept it from that", p.Exit,
				time.Duration(p.Exited.Latest-g.since).Round(time.Second)).Shown(p.Exited.Seq)
		}
	}
	e = e.Broken("the %s of %s ended by itself (%s)%s", p.Component, p.Member, p.HowEnded(), lastLine(p.Log)).Shown(p.Exited.Seq)
	return f.unlessHeldUp(p, e, givesUpAfter)
}

// renewedLately is whether a controller certainly had no Lease to give up for: it had renewed
// all that it led until shortly before the next process started.
func (f *Facts) renewedLately(p *fact.Process, givesUpAfter time.Duration) bool {
	return len(f.lastLed(p)) > 0 && len(f.gaveUp(p, givesUpAfter)) == 0
}

// excuseExit is why the end of a process by itself is none of the control plane's doing, or
// is documented. A control plane that never came up may have been given settings that no
// release takes.
func (f *Facts) excuseExit(p *fact.Process, givesUpAfter time.Duration) string {
	switch served := f.AnyMember(f.Serves).Spans(fact.Unknown); {
	case len(served) == 0 || served[0].Begin > p.Exited.Latest:
		return "no API server had ever been ready"
	case f.Powerless(p.Member).During(*p.Exited) != fact.No:
		return "the power of the member was cut"
	case takesPart(p.Component) && f.lostLately(p, givesUpAfter):
		return "the controller had just lost its Lease, or could not renew it"
	case f.unserved(p, givesUpAfter) == fact.Yes:
		return "the API server that the controller goes by did not serve"
	}
	return ""
}

// unserved is whether the API server that a controller goes by had not served for so long, when the
// controller ended, that it may have ended because of that.
func (f *Facts) unserved(p *fact.Process, givesUpAfter time.Duration) fact.Truth {
	return min(fact.Of(takesPart(p.Component)), fact.Not(f.Serves(p.Member)).Since(int64(givesUpAfter)).During(*p.Exited))
}

// lostLately is whether a process had lost a Lease, was told to give it up, or could not
// renew it because of something that is known, so short a time before its end that it may
// have ended because of that. One that goes on has no excuse any more.
func (f *Facts) lostLately(p *fact.Process, givesUpAfter time.Duration) bool {
	return slices.ContainsFunc(f.gaveUp(p, givesUpAfter), func(g gaveUp) bool {
		return (g.told || f.hinders(p, g.since)) && f.wentOn(p, g.since) <= notion("noticesWithin")
	})
}

// hinders is whether anything that is known may have kept a controller from renewing at some
// time until its end: its API server was not ready, etcd stood still, a fault was active, the
// harness played a step, or the machine was starved.
func (f *Facts) hinders(p *fact.Process, since int64) bool {
	end := p.Exited.Earliest
	free := fact.And(f.able(p), f.Ready(p.Member), fact.Not(f.disturbed()), fact.Not(f.EtcdSilent()))
	return free.Lasts(since, end, fact.Yes) < end-since || f.Starved(free, since, end) > 0 ||
		slices.ContainsFunc(f.Steps, func(s *fact.Step) bool {
			return s.Action != fact.ActionHold && s.Began.Latest <= end && (s.Ended == nil || s.Ended.Latest >= since)
		})
}

// unlessHeldUp is the breach of a process that may have ended because it had lost a Lease, or
// could not renew it, and that the machine held up since.
func (f *Facts) unlessHeldUp(p *fact.Process, e law.Entry, givesUpAfter time.Duration) law.Entry {
	if !takesPart(p.Component) {
		return e
	}
	for _, g := range f.gaveUp(p, givesUpAfter) {
		e = law.UnlessStarved(f.History, e, f.wentOn(p, g.since)-notion("noticesWithin"), f.able(p), g.since, p.Exited.Latest)
	}
	return e
}

// gaveUp is that a process may have given up because of a Lease: since when it was told so, or
// else since when it had not renewed.
type gaveUp struct {
	since int64
	told  bool
}

// gaveUp are all Leases for which a process may have given up by its end.
func (f *Facts) gaveUp(p *fact.Process, after time.Duration) (out []gaveUp) {
	end := p.Exited.Latest
	for _, t := range f.lastLed(p) {
		renewed := f.Time(t.Last.Now.Renewed)
		if told := t.told(); told != nil && told.When().Earliest <= end {
			out = append(out, gaveUp{told.When().Latest, true})
		} else if time.Duration(end-renewed) >= after {
			out = append(out, gaveUp{renewed, false})
		}
	}
	return out
}

// wentOn is for how long a process went on from a time to its end while it was able to renew.
func (f *Facts) wentOn(p *fact.Process, since int64) time.Duration {
	return time.Duration(f.able(p).Lasts(since, p.Exited.Latest, fact.Yes))
}

// lastLine is the last line of a log as part of a sentence.
func lastLine(log []string) string {
	if len(log) == 0 {
		return ""
	}
	return "; its log ends: " + log[len(log)-1]
}
