package main

import "github.com/evenkeel/evenkeel/pkg/history"

// story is a run in which everything is as it should be: three members boot
// together at 1.2, one is upgraded, rolled back and upgraded again with the
// others, one crashes and comes back as it was.
func story() []history.Event {
	p := newPlane()
	p.boot()
	p.hold("booted")
	cp1, cp2, cp3 := p.members[0], p.members[1], p.members[2]
	p.replace(2, "upgrade", cp1, "1.3")
	p.hold("mixed")
	p.replace(4, "rollback", cp1, "1.2")
	p.hold("rolled back")
	for i, m := range []*member{cp1, cp2, cp3} {
		p.replace(6+i, "upgrade", m, "1.3")
	}
	p.hold("upgraded")
	p.crash(cp2)
	p.hold("crashed and back")
	p.pass(20)
	p.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return p.events
}

func (p *plane) step(index int, action string, phase history.Phase, m *member, release string) {
	ev := history.Event{Kind: history.KindStep, Step: &history.Step{Index: index, Action: action, Phase: phase, Release: release}}
	if m != nil {
		ev.Member = m.name
	}
	p.emit(ev)
}

// boot starts all members at once, so that their registrations interleave.
func (p *plane) boot() {
	p.step(0, "boot", history.PhaseBegin, nil, "")
	for _, m := range p.members {
		p.start(m, m.release)
	}
	for _, m := range p.members {
		p.ready(m, 500, false)
		p.renew(m)
	}
	p.pass(2000)
	last := len(hosted) + len(p.members) - 1
	for turn := range last {
		for i, m := range p.members {
			if r := turn - i; r >= 0 && r < len(hosted) {
				p.report(m, hosted[r])
				p.pass(9)
			}
		}
		if turn < len(p.members) {
			p.hammer(p.members[turn], history.ClassRead, history.ClassReview)
		}
	}
	for _, m := range p.members {
		p.serve(m)
	}
	p.step(0, "boot", history.PhaseEnd, nil, "")
}

// serve has a member be ready and take what was held back.
func (p *plane) serve(m *member) {
	p.pass(30)
	p.ready(m, 200, true)
	p.watch(m)
	p.write(m, "configmaps")
	p.write(m, "ballasts")
}

// replace stops a member and starts it at another release.
func (p *plane) replace(index int, action string, m *member, release string) {
	p.pass(500)
	p.step(index, action, history.PhaseBegin, m, release)
	p.exit(m, "exit status 0", true)
	p.restart(m, release)
	p.step(index, action, history.PhaseEnd, m, release)
}

// restart starts a member that has been there before: it finds its entries, and
// changes those only that are not as it would have them.
func (p *plane) restart(m *member, release string) {
	p.start(m, release)
	p.ready(m, 500, false)
	p.renew(m)
	p.hammer(m, history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated)
	p.pass(2500)
	for _, r := range hosted {
		p.report(m, r)
	}
	p.refused(m, "configmaps")
	p.serve(m)
}

// crash kills a member's API server and starts the same again.
func (p *plane) crash(m *member) {
	fault := func(phase history.Phase, proof string) {
		p.emit(history.Event{Kind: history.KindFault, Member: m.name, Fault: &history.Fault{
			ID: "apiserver-crash-1", Type: "PodChaos", Action: history.FaultContainerKill, Component: history.ComponentAPIServer, Phase: phase, Proof: proof,
		}})
	}
	p.pass(500)
	p.step(10, "crash", history.PhaseBegin, m, "")
	fault(history.PhaseInject, "")
	p.exit(m, "signal: killed", true)
	fault(history.PhaseWitness, "the process of apiserver at "+m.name+" is gone")
	p.restart(m, m.release)
	fault(history.PhaseHeal, "")
	p.step(10, "crash", history.PhaseEnd, m, "")
}

// hold lets time pass with traffic on every member, and looks at all of them.
func (p *plane) hold(name string) {
	running := map[string]string{}
	for _, m := range p.members {
		running[m.name] = m.release
	}
	p.pass(1500)
	p.emit(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: name, Phase: history.PhaseBegin, Releases: running, Revision: p.revision}})
	for _, m := range p.members {
		p.pass(200)
		p.write(m, "configmaps")
		p.write(m, "ballasts")
	}
	p.renew(p.members[0])
	p.pass(1000)
	for i, m := range p.members {
		p.ready(m, 200, false)
		p.look(m)
		p.probe(m, hosted[i])
	}
	p.emit(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: name, Phase: history.PhaseEnd, Releases: running, Revision: p.revision}})
}

// probe sends a status without a flaw, which is taken, and those with one,
// which are not, neither as a dry run nor for good.
func (p *plane) probe(m *member, of history.HostedResource) {
	for _, flaw := range []string{"", history.InvalidUndecodable, history.InvalidAgreement, history.InvalidDuplicate} {
		r := history.Request{Class: history.ClassInvalid, Verb: "update", Group: "internal.apiserver.k8s.io", Version: "v1alpha1",
			Resource: "storageversions/status", Name: objectName(of), Code: 200, ResourceVersion: p.revision, Invalid: flaw}
		if flaw == "" {
			p.request(m, r)
			continue
		}
		r.Code, r.Reason, r.ResourceVersion = 422, "Invalid", 0
		p.request(m, r)
		r.Lasting = true
		p.request(m, r)
	}
}
