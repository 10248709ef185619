package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro03: no component ends by itself, except as documented: a controller that has lost its
// Lease (Leases; --leader-elect of the controllers).
var ro03 = law.Never[*Facts, *fact.Process]{
	Row:       law.Row{ID: "RO-03", Needs: []law.Need{{Name: "lived"}, {Name: "livedEach", Each: true}}},
	Occasions: (*Facts).AllProcesses,
	Describe: func(p *fact.Process) law.Entry {
		return law.Entry{About: fmt.Sprintf("%s of %s, process %d", p.Component, p.Member, p.Instance), Member: p.Member, Began: p.Started}
	},
	Happened: func(p *fact.Process) fact.Truth { return fact.Of(p.EndedItself()) },
	Excuse:   (*Facts).excuseExit,
	Breach: func(p *fact.Process) (string, []int64) {
		return fmt.Sprintf("the %s of %s ended by itself (%s)%s", p.Component, p.Member, p.Exit, lastLines(p.Log)), law.Evidence(p.Exited.Seq)
	},
}

// excuseExit is why the end of a process by itself is none of the control plane's doing, or
// is documented.
func (f *Facts) excuseExit(p *fact.Process) string {
	if !p.EndedItself() {
		return ""
	}
	elected := p.Component == history.ComponentControllerManager || p.Component == history.ComponentScheduler
	switch {
	case !f.cameUp(p.Exited.Latest):
		return "no API server had ever been ready"
	case f.Powerless(p.Member).During(*p.Exited) != fact.No:
		return "the power of the member was cut"
	case elected && (f.ousted(p) || f.stoppedRenewing(p)):
		return "the controller had lost its Lease, or could not renew it"
	case elected && f.Serves(p.Member).During(*p.Exited) != fact.Yes:
		return "the API server that the controller goes by did not serve"
	}
	return ""
}

// stoppedRenewing is whether a process held a Lease and had not renewed it for so long that
// a leader gives up.
func (f *Facts) stoppedRenewing(p *fact.Process) bool {
	for _, l := range f.leases {
		if componentOf(l.Key) != p.Component {
			continue
		}
		for _, t := range l.tenures() {
			if f.MemberOf(t.Holder) != p.Member || t.Taken.At < p.Started.Earliest || t.Taken.At > p.Exited.Latest {
				continue
			}
			if time.Duration(p.Exited.Latest-f.Time(t.last().Now.Renewed)) >= bound("RO-03", "givesUpAfter") {
				return true
			}
		}
	}
	return false
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
