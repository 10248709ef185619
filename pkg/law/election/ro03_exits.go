package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro03: no component ends by itself, except as documented: a controller that has lost its
// Lease (Leases; --leader-elect of the controllers). It sees the processes that the
// provider starts or finds. It does not see why a controller ended that had just lost its
// Lease, or whose API server was away: that excuses an end for another reason, too.
var ro03 = law.Never[*Facts, life]{
	Row: law.Row{ID: "RO-03", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "lived"}, {Name: "livedEach", Each: true},
	}},
	Occasions: (*Facts).lives,
	Describe:  life.entry,
	Happened:  func(p life) fact.Truth { return fact.Of(p.EndedItself()) },
	Excuse:    func(f *Facts, p life) string { return f.excuseExit(p.Process) },
	Breach: func(p life) (string, []int64) {
		return fmt.Sprintf("the %s of %s ended by itself (%s)%s", p.Component, p.Member, p.Exit, lastLines(p.Log)), law.Evidence(p.Exited.Seq)
	},
}

// life is a process in a history.
type life struct {
	*fact.Process
	facts *Facts
}

func (f *Facts) lives() []life {
	var out []life
	for _, p := range f.AllProcesses() {
		out = append(out, life{p, f})
	}
	return out
}

// entry describes the process. Only a controller has an excuse that the recorders of etcd
// and of /readyz may have missed; what excuses another component is what the harness did,
// which is missing only where lines of the history are.
func (p life) entry() law.Entry {
	e := law.Entry{About: fmt.Sprintf("%s of %s, process %d", p.Component, p.Member, p.Instance), Member: p.Member, Began: p.Started}
	switch untrusted := p.facts.Untrusted(); {
	case p.Exited == nil:
	case elected(p.Process):
		e.Through = p.facts.ToldAllUntil(p.Exited.Latest)
	default:
		e.SelfEvident = untrusted == 0 || p.Exited.Seq < untrusted
	}
	return e
}

// elected is whether a process is of a component that elects a leader by a Lease.
func elected(p *fact.Process) bool {
	return p.Component == history.ComponentControllerManager || p.Component == history.ComponentScheduler
}

// excuseExit is why the end of a process by itself is none of the control plane's doing, or
// is documented.
func (f *Facts) excuseExit(p *fact.Process) string {
	if !p.EndedItself() {
		return ""
	}
	givesUpAfter := bound("RO-03", "givesUpAfter")
	switch {
	case !f.cameUp(p.Exited.Latest):
		return "no API server had ever been ready"
	case f.Powerless(p.Member).During(*p.Exited) != fact.No:
		return "the power of the member was cut"
	case elected(p) && f.lostLately(p, givesUpAfter):
		return "the controller had just lost its Lease, or could not renew it"
	case elected(p) && fact.Not(f.Serves(p.Member)).Since(int64(givesUpAfter)).During(*p.Exited) != fact.No:
		return "the API server that the controller goes by did not serve"
	}
	return ""
}

// lostLately is whether a process had lost a Lease, was told to give it up, or could not
// renew it, so short a time before its end that it may have ended because of that. One
// that goes on has no excuse any more.
func (f *Facts) lostLately(p *fact.Process, givesUpAfter time.Duration) bool {
	unhindered := fact.And(p.Running(), f.Serves(p.Member), fact.Not(f.FaultAt(p.Member)))
	end := p.Exited.Latest
	for _, l := range f.leases {
		t := l.lastTenureOf(p)
		if t == nil || componentOf(l.Key) != p.Component {
			continue
		}
		since := f.Time(t.last().Now.Renewed)
		given := time.Duration(end-since) >= givesUpAfter
		if told := t.told(); told != nil && told.When().Earliest <= end {
			since, given = told.When().Latest, true
		}
		if given && time.Duration(unhindered.Lasts(since, end, fact.Yes)) <= noticesWithin() {
			return true
		}
	}
	return false
}

// lastTenureOf is the last tenure of an instance in the life of its process.
func (l *Lease) lastTenureOf(p *fact.Process) *Tenure {
	var out *Tenure
	for _, t := range l.tenures() {
		if l.facts.MemberOf(t.Holder) == p.Member && t.Taken.At >= p.Started.Earliest && t.Taken.At <= p.Exited.Latest {
			out = t
		}
	}
	return out
}

// told is the change that told the holder of a tenure that it leads no more: the mark that
// another one is preferred, or else the loss of the Lease; nil if there is none.
func (t *Tenure) told() *Change {
	for _, c := range t.Lease.changes {
		if c.Revision > t.Taken.Revision && (c == t.Lost || c.Marked() && c.Now.Preferred != t.Holder) {
			return c
		}
	}
	return nil
}

// lastLines are the last lines of a log as part of a sentence.
func lastLines(log []string) string {
	if len(log) == 0 {
		return ""
	}
	return "; its log ends: " + log[len(log)-1]
}

// cameUp is whether any API server had been ready by a time. A control plane that never came
// up may have been given settings that no release takes.
func (f *Facts) cameUp(by int64) bool {
	for _, member := range f.Members() {
		for _, a := range f.ReadyAnswers(member) {
			if a.Code == 200 && a.Earliest <= by {
				return true
			}
		}
	}
	return false
}
