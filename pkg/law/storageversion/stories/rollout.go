package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// builder builds histories of a rollout.
type builder struct{ *story.ControlPlane }

func newBuilder() *builder { return &builder{story.NewControlPlane()} }

// rolloutStory is a run in which everything is as it should be: three members boot
// together at 1.2, one is upgraded, rolled back and upgraded again with the
// others, one crashes and comes back as it was.
func rolloutStory() []history.Event {
	p := newBuilder()
	p.boot()
	p.hold("booted")
	cp1, cp2, cp3 := p.Members[0], p.Members[1], p.Members[2]
	p.replace(2, "upgrade", cp1, "1.3")
	p.hold("mixed")
	p.replace(4, "rollback", cp1, "1.2")
	p.hold("rolled back")
	for i, m := range []*story.Member{cp1, cp2, cp3} {
		p.replace(6+i, "upgrade", m, "1.3")
	}
	p.hold("upgraded")
	p.crash(cp2)
	p.hold("crashed and back")
	p.Advance(20)
	p.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return p.Events
}

// boot starts all members at once, so that their registrations interleave.
func (p *builder) boot() {
	p.Step(0, "boot", history.PhaseBegin, nil, "")
	for _, m := range p.Members {
		p.Start(m, m.Release)
	}
	for _, m := range p.Members {
		p.AnswerReady(m, 500, false)
		p.RenewIdentity(m)
	}
	p.Advance(2000)
	last := len(story.Hosted) + len(p.Members) - 1
	for turn := range last {
		for i, m := range p.Members {
			if r := turn - i; r >= 0 && r < len(story.Hosted) {
				p.ReportResource(m, story.Hosted[r])
				p.Advance(9)
			}
		}
		if turn < len(p.Members) {
			p.RequestDuringBarrier(p.Members[turn], history.ClassRead, history.ClassReview)
		}
	}
	for _, m := range p.Members {
		p.serve(m)
	}
	p.Step(0, "boot", history.PhaseEnd, nil, "")
}

// serve has a member be ready and take what was held back.
func (p *builder) serve(m *story.Member) {
	p.Advance(30)
	p.AnswerReady(m, 200, true)
	p.OpenWatch(m)
	p.Write(m, "configmaps")
	p.Write(m, "ballasts")
}

// replace stops a member and starts it at another release.
func (p *builder) replace(index int, action string, m *story.Member, release string) {
	p.Advance(500)
	p.Step(index, action, history.PhaseBegin, m, release)
	p.Exit(m, "exit status 0", true)
	p.restart(m, release)
	p.Step(index, action, history.PhaseEnd, m, release)
}

// restart starts a member that has been there before: it finds its entries, and
// changes those only that are not as it would have them.
func (p *builder) restart(m *story.Member, release string) {
	p.Start(m, release)
	p.AnswerReady(m, 500, false)
	p.RenewIdentity(m)
	p.RequestDuringBarrier(m, history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated)
	p.Advance(2500)
	for _, r := range story.Hosted {
		p.ReportResource(m, r)
	}
	p.RefuseWrite(m, "configmaps")
	p.serve(m)
}

// crash kills a member's API server and starts the same again.
func (p *builder) crash(m *story.Member) {
	fault := func(phase history.Phase, proof string) {
		p.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: &history.Fault{
			ID: "apiserver-crash-1", Type: "PodChaos", Action: history.FaultContainerKill, Component: history.ComponentAPIServer, Phase: phase, Proof: proof,
		}})
	}
	p.Advance(500)
	p.Step(10, "crash", history.PhaseBegin, m, "")
	fault(history.PhaseInject, "")
	p.Exit(m, "signal: killed", true)
	fault(history.PhaseWitness, "the process of apiserver at "+m.Name+" is gone")
	p.restart(m, m.Release)
	fault(history.PhaseHeal, "")
	p.Step(10, "crash", history.PhaseEnd, m, "")
}

// hold lets time pass with traffic on every member, and looks at all of them.
func (p *builder) hold(name string) {
	running := map[string]string{}
	for _, m := range p.Members {
		running[m.Name] = m.Release
	}
	p.Advance(1500)
	p.Emit(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: name, Phase: history.PhaseBegin, Releases: running, Revision: p.Revision}})
	for _, m := range p.Members {
		p.Advance(200)
		p.Write(m, "configmaps")
		p.Write(m, "ballasts")
	}
	p.RenewIdentity(p.Members[0])
	p.Advance(1000)
	for i, m := range p.Members {
		p.AnswerReady(m, 200, false)
		p.ReadDiscovery(m)
		p.probe(m, story.Hosted[i])
	}
	p.Emit(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: name, Phase: history.PhaseEnd, Releases: running, Revision: p.Revision}})
}

// probe sends a status without a flaw, which is taken, and those with one,
// which are not, neither as a dry run nor for good.
func (p *builder) probe(m *story.Member, of history.HostedResource) {
	for _, flaw := range []string{"", history.InvalidUndecodable, history.InvalidAgreement, history.InvalidDuplicate} {
		r := history.Request{Class: history.ClassInvalid, Verb: "update", Group: "internal.apiserver.k8s.io", Version: "v1alpha1",
			Resource: "storageversions/status", Name: story.StorageVersionName(of), Code: 200, ResourceVersion: p.Revision, Invalid: flaw}
		if flaw == "" {
			p.Request(m, r)
			continue
		}
		r.Code, r.Reason, r.ResourceVersion = 422, "Invalid", 0
		p.Request(m, r)
		r.WithoutDryRun = true
		p.Request(m, r)
	}
}
