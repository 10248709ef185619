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
// Lease, or whose API server was away: that excuses an end for another reason, too.
var ro03 = law.Written[*Facts]{
	Row: law.Row{ID: "RO-03", Takes: []string{history.LackProcesses, history.LackEtcd}, Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "lived"}, {Name: "livedEach", Each: true},
	}},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, p := range f.AllProcesses() {
			e := processEntry(p)
			if !p.EndedItself() {
				l.Add(e.Met())
				continue
			}
			// Only a controller has an excuse that the recorders of etcd and of /readyz may have
			// missed; the harness's doings are missing only where lines of the history are.
			if takesPart(p.Component) {
				e = e.Unless(f.ToldAllUntil(p.Exited.Latest))
			} else if untrusted := f.Untrusted(); untrusted == 0 || p.Exited.Seq < untrusted {
				e = e.Alone()
			}
			if why := f.excuseExit(p, b.Of("givesUpAfter")); why != "" {
				l.Add(e.Excused("%s", why))
			} else {
				e = e.Broken("the %s of %s ended by itself (%s)%s", p.Component, p.Member, p.Exit, lastLine(p.Log)).Shown(p.Exited.Seq)
				l.Add(f.unlessHeldUp(p, e, b.Of("givesUpAfter")))
			}
		}
	},
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
	case takesPart(p.Component) && fact.Not(f.Serves(p.Member)).Since(int64(givesUpAfter)).During(*p.Exited) != fact.No:
		return "the API server that the controller goes by did not serve"
	}
	return ""
}

// lostLately is whether a process had lost a Lease, was told to give it up, or could not
// renew it, so short a time before its end that it may have ended because of that. One
// that goes on has no excuse any more.
func (f *Facts) lostLately(p *fact.Process, givesUpAfter time.Duration) bool {
	return slices.ContainsFunc(f.gaveUp(p, givesUpAfter), func(since int64) bool { return f.wentOn(p, since) <= notion("noticesWithin") })
}

// unlessHeldUp is the breach of a process that may have ended because it had lost a Lease, or
// could not renew it, and that the machine held up since.
func (f *Facts) unlessHeldUp(p *fact.Process, e law.Entry, givesUpAfter time.Duration) law.Entry {
	if !takesPart(p.Component) {
		return e
	}
	for _, since := range f.gaveUp(p, givesUpAfter) {
		e = law.UnlessStarved(f.History, e, f.wentOn(p, since)-notion("noticesWithin"), f.able(p), since, p.Exited.Latest)
	}
	return e
}

// gaveUp is since when a process had lost each of the Leases, or could not renew it, for which
// it may have given up by its end.
func (f *Facts) gaveUp(p *fact.Process, after time.Duration) (since []int64) {
	end := p.Exited.Latest
	for _, t := range f.lastLed(p) {
		renewed := f.Time(t.Last.Now.Renewed)
		if told := t.told(); told != nil && told.When().Earliest <= end {
			since = append(since, told.When().Latest)
		} else if time.Duration(end-renewed) >= after {
			since = append(since, renewed)
		}
	}
	return since
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
