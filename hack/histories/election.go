package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	managersLease     = "kube-system/kube-controller-manager"
	coordinatorsLease = "kube-system/leader-election-controller"
	oldestStrategy    = "OldestEmulationVersion"
)

// helm is a control plane whose leaders are elected by a coordinator.
type helm struct {
	*plane
	leases     map[string]*history.Lease
	candidates map[string]*history.Candidate
	managers   map[string]int
	acts       int64
	// claims is whether instances take Leases by themselves.
	claims bool
	// otherwise is what happens besides at the points of a story that have a name.
	otherwise map[string]func(*helm)
}

// point is a place in a story at which something else may happen.
func (h *helm) point(name string) {
	if do := h.otherwise[name]; do != nil {
		do(h)
	}
}

func newHelm(otherwise map[string]func(*helm)) *helm {
	return &helm{otherwise: otherwise, plane: newPlane(), leases: map[string]*history.Lease{}, candidates: map[string]*history.Candidate{}, managers: map[string]int{}}
}

func (h *helm) wall() time.Time { return epoch.Add(time.Duration(h.now)) }

// afloat has all members serve, and the coordinator of the first one be active.
func (h *helm) afloat() {
	for _, m := range h.members {
		h.start(m, m.release)
		h.renew(m)
		h.ready(m, 200, true)
	}
	h.coordinate("cp1_c")
}

// coordinate has a coordinator take the coordinators' Lease.
func (h *helm) coordinate(who string) {
	h.leases[coordinatorsLease] = &history.Lease{Holder: who, Duration: 15, Acquired: h.wall(), Renewed: h.wall()}
	h.tellLease(coordinatorsLease)
}

func (h *helm) coordinator() string { return h.leases[coordinatorsLease].Holder }

// sail lets time pass, while who holds a Lease renews it and acts. Those that are
// named do not.
func (h *helm) sail(seconds int, without ...string) {
	for range seconds / 5 {
		h.pass(5000)
		for _, lease := range []string{coordinatorsLease, managersLease} {
			if l := h.leases[lease]; l != nil && l.Holder != "" && !has(without, lease) {
				h.extend(lease)
			}
		}
	}
}

func has(all []string, one string) bool {
	for _, x := range all {
		if x == one {
			return true
		}
	}
	return false
}

// manager starts a member's controller manager, which declares itself.
func (h *helm) manager(m *member, release string) string {
	m.release = release
	h.managers[m.name]++
	h.process(m, history.ProcessStarted, "")
	h.pass(300)
	name := fmt.Sprintf("%s_%d", m.name, h.managers[m.name])
	h.declare(name, managersLease, release+".0", release+".0")
	return name
}

func (h *helm) process(m *member, change, exit string) {
	// Nobody asks for another status, or cannot see the end that he asked for.
	expected := exit == "exit status 0" || strings.HasPrefix(exit, "signal: ")
	h.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &history.Process{
		Component: history.ComponentControllerManager, Change: change, Instance: h.managers[m.name], Release: m.release, Exit: exit, Expected: expected,
	}})
}

// declare makes a candidate.
func (h *helm) declare(name, lease, binary, emulation string) {
	h.candidates[name] = &history.Candidate{Lease: lease[len("kube-system/"):], Binary: binary, Emulation: emulation, Strategy: oldestStrategy, Renewed: h.wall()}
	h.tellCandidate(name)
}

// withdraw takes one away.
func (h *helm) withdraw(name string) {
	delete(h.candidates, name)
	h.deleted("/registry/leasecandidates/kube-system/"+name, "kube-system/"+name)
}

func (h *helm) tellCandidate(name string) {
	now := *h.candidates[name]
	h.stored("/registry/leasecandidates/kube-system/"+name, "coordination.k8s.io/v1beta1", "LeaseCandidate", "kube-system/"+name, history.Stored{Candidate: &now})
}

func (h *helm) tellLease(lease string) {
	now := *h.leases[lease]
	h.stored("/registry/leases/"+lease, "coordination.k8s.io/v1", "Lease", lease, history.Stored{Lease: &now})
}

// ping asks candidates; answer has them answer.
func (h *helm) ping(names ...string) {
	for _, name := range names {
		c := h.candidates[name]
		c.Pinged, c.Coordinator = h.wall(), h.coordinator()
		h.tellCandidate(name)
	}
	h.pass(20)
}

func (h *helm) answer(names ...string) {
	for _, name := range names {
		h.candidates[name].Renewed = h.wall()
		h.tellCandidate(name)
	}
	h.pass(20)
}

// vote asks all of the given candidates, and gives the Lease to the first one.
func (h *helm) vote(lease string, names ...string) {
	h.ping(names...)
	h.answer(names...)
	h.elect(lease, names[0])
}

// elect gives a Lease to somebody, who renews it at once.
func (h *helm) elect(lease, who string) {
	l := h.leases[lease]
	transitions := 0
	if l != nil {
		transitions = l.Transitions + 1
	}
	coordinator := h.coordinator()
	if h.claims {
		coordinator = ""
	}
	h.leases[lease] = &history.Lease{Holder: who, Duration: 10, Acquired: h.wall(), Renewed: h.wall(), Transitions: transitions, Strategy: oldestStrategy, Coordinator: coordinator}
	h.tellLease(lease)
	h.pass(30)
	h.extend(lease)
}

// extend renews a Lease; a leader of the managers acts, too.
func (h *helm) extend(lease string) {
	l := h.leases[lease]
	l.Renewed, l.Duration = h.wall(), 15
	h.tellLease(lease)
	if lease == managersLease {
		h.act(l.Holder)
	}
}

// act leaves a mark of a leader of the managers.
func (h *helm) act(who string) {
	h.acts++
	h.stored("/registry/configmaps/kube-system/acting-kube-controller-manager", "v1", "ConfigMap", "kube-system/acting-kube-controller-manager", history.Stored{
		Acted: &history.Acted{Lease: managersLease, Holder: who, Version: "1.2.0", Term: int64(h.leases[managersLease].Transitions), Number: h.acts},
	})
}

// mark tells a leader who should lead, and it gives its Lease up.
func (h *helm) mark(lease, preferred string) {
	h.leases[lease].Preferred, h.leases[lease].Coordinator = preferred, h.coordinator()
	h.tellLease(lease)
	h.pass(50)
}

func (h *helm) yield(lease string) {
	l := h.leases[lease]
	l.Holder, l.Preferred, l.Duration, l.Renewed = "", "", 1, h.wall()
	h.tellLease(lease)
	h.pass(20)
}

// erase is a deletion by an administrator.
func (h *helm) erase(m *member, lease string) {
	from := h.now
	h.pass(2)
	delete(h.leases, lease)
	h.deleted("/registry/leases/"+lease, lease)
	h.pass(2)
	h.emit(history.Event{Kind: history.KindRequest, Member: m.name, From: from, Request: &history.Request{
		Class: history.ClassElection, Election: history.ElectionDelete, Verb: "delete", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: lease, Code: 200,
	}})
}

// fault tells of a fault at a member.
func (h *helm) fault(m *member, id, kind, action, component string, phase history.Phase, prefixes ...string) {
	f := &history.Fault{ID: id, Type: kind, Action: action, Component: component, Phase: phase, Prefixes: prefixes}
	if phase == history.PhaseWitness {
		f.Proof, f.Count = "it was seen to bite", 3
	}
	h.emit(history.Event{Kind: history.KindFault, Member: m.name, Fault: f})
}

func (h *helm) end() []history.Event {
	h.pass(3000)
	h.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return h.events
}

// electionStory is a run in which members are upgraded one by one, a leader
// crashes, and an older candidate comes back.
func electionStory() []history.Event { return tellElection(nil) }

func tellElection(otherwise map[string]func(*helm)) []history.Event {
	h := newHelm(otherwise)
	cp1, cp2, cp3 := h.members[0], h.members[1], h.members[2]
	h.afloat()
	a, b, c := h.manager(cp1, "1.2"), h.manager(cp2, "1.2"), h.manager(cp3, "1.2")
	h.pass(2500)
	h.vote(managersLease, a, b, c)
	h.sail(10)

	h.erase(cp1, managersLease)
	h.pass(30)
	h.point("erased")
	h.vote(managersLease, a, b, c)
	h.sail(5)

	for _, m := range []*member{cp1, cp2} {
		h.yield(managersLease)
		h.withdraw(fmt.Sprintf("%s_%d", m.name, h.managers[m.name]))
		h.process(m, history.ProcessExited, "exit status 0")
		h.pass(200)
		up := h.manager(m, "1.3")
		h.pass(2500)
		if m == cp1 {
			a = up
			h.vote(managersLease, b, a, c)
		} else {
			b = up
			h.vote(managersLease, c, a, b)
		}
		h.sail(10)
	}

	h.fault(cp3, "controller-manager-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseInject)
	h.process(cp3, history.ProcessExited, "signal: killed")
	h.fault(cp3, "controller-manager-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseWitness)
	h.sail(15, managersLease)
	h.pass(1000)
	h.point("crashed")
	h.ping(a, b, c)
	h.answer(a, b)
	h.pass(5000)
	h.elect(managersLease, a)
	h.sail(5)

	h.fault(cp3, "controller-manager-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseHeal)
	d := h.manager(cp3, "1.2")
	h.ping(d)
	h.answer(d)
	h.point("older is back")
	h.mark(managersLease, d)
	h.yield(managersLease)
	h.vote(managersLease, d, a, b)
	h.sail(25)
	h.point("at rest")
	return h.end()
}

// strandedStory is a run in which leaders and coordinators are alive and cannot do
// what they have to.
func strandedStory() []history.Event { return tellStranded(nil) }

func tellStranded(otherwise map[string]func(*helm)) []history.Event {
	h := newHelm(otherwise)
	cp1, cp2, cp3 := h.members[0], h.members[1], h.members[2]
	h.afloat()
	a, b, c := h.manager(cp1, "1.3"), h.manager(cp2, "1.3"), h.manager(cp3, "1.2")
	h.pass(2500)
	h.vote(managersLease, c, a, b)
	h.sail(5)
	h.point("led")
	h.sail(5)

	again := func(leader string) {
		h.ping(leader)
		h.answer(leader)
		h.mark(managersLease, leader)
		h.yield(managersLease)
		h.vote(managersLease, leader, a, b)
		h.sail(5)
	}
	// It stands still for longer than its Lease lasts.
	h.fault(cp3, "controller-manager-pause-1", "PodChaos", "pod-failure", history.ComponentControllerManager, history.PhaseInject)
	h.process(cp3, history.ProcessPaused, "")
	h.fault(cp3, "controller-manager-pause-1", "PodChaos", "pod-failure", history.ComponentControllerManager, history.PhaseWitness)
	h.sail(15, managersLease)
	h.pass(1000)
	h.ping(a, b, c)
	h.answer(a, b)
	h.pass(5000)
	h.elect(managersLease, a)
	h.sail(5)
	h.process(cp3, history.ProcessResumed, "")
	h.fault(cp3, "controller-manager-pause-1", "PodChaos", "pod-failure", history.ComponentControllerManager, history.PhaseHeal)
	h.point("resumed")
	h.answer(c)
	again(c)

	// It cannot renew.
	h.fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseInject)
	h.fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseWitness)
	h.point("cannot renew begins")
	h.sail(15, managersLease)
	h.pass(1000)
	h.point("cannot renew")
	h.ping(c, a, b)
	h.answer(c, a, b)
	h.elect(managersLease, a)
	h.sail(5)
	h.fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseHeal)
	again(c)

	// The coordinator's server crashes.
	h.fault(cp1, "apiserver-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentAPIServer, history.PhaseInject)
	h.exit(cp1, "signal: killed", true)
	h.fault(cp1, "apiserver-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentAPIServer, history.PhaseWitness)
	h.sail(15, coordinatorsLease)
	h.pass(1500)
	h.coordinate("cp2_c")
	h.start(cp1, cp1.release)
	h.ready(cp1, 200, true)
	h.fault(cp1, "apiserver-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentAPIServer, history.PhaseHeal)
	h.sail(5)

	// The coordinator cannot write when the leader crashes.
	managersKey, coordinatorsKey := "/registry/leases/"+managersLease, "/registry/leases/"+coordinatorsLease
	h.fault(cp2, "coordinator-cannot-write-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseInject, managersKey)
	h.process(cp3, history.ProcessExited, "signal: killed")
	h.fault(cp2, "coordinator-cannot-write-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseWitness, managersKey)
	h.sail(20, managersLease)
	h.fault(cp2, "coordinator-cannot-write-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseHeal, managersKey)
	h.point("can write")
	h.ping(a, b)
	h.answer(a, b)
	h.elect(managersLease, a)
	h.sail(5)

	// Nobody can coordinate when the next one crashes.
	for _, m := range h.members {
		h.fault(m, "coordinators-cannot-renew-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseInject, coordinatorsKey)
		h.fault(m, "coordinators-cannot-renew-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseWitness, coordinatorsKey)
	}
	h.sail(20, coordinatorsLease)
	h.process(cp1, history.ProcessExited, "signal: killed")
	h.pass(16_000)
	h.ready(cp2, 200, false)
	h.point("nobody elects")
	h.pass(25_000)
	h.claims = true
	h.elect(managersLease, b)
	h.sail(5, coordinatorsLease)
	for _, m := range h.members {
		h.fault(m, "coordinators-cannot-renew-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseHeal, coordinatorsKey)
	}
	return h.end()
}

// seizedStory is a run in which the coordinators' Lease is taken by force, twice.
func seizedStory() []history.Event { return tellSeized(nil) }

func tellSeized(otherwise map[string]func(*helm)) []history.Event {
	h := newHelm(otherwise)
	cp1 := h.members[0]
	h.afloat()
	h.sail(10)
	for _, next := range []string{"cp2_c", "cp1_c"} {
		l := h.leases[coordinatorsLease]
		l.Holder, l.Duration, l.Renewed = history.ElectionNobody, 4, h.wall()
		h.tellLease(coordinatorsLease)
		h.request(cp1, history.Request{Class: history.ClassElection, Election: history.ElectionSeize, Verb: "update", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: coordinatorsLease, Code: 200})
		h.sail(5, coordinatorsLease)
		if next == "cp2_c" {
			h.point("seized")
		}
		h.coordinate(next)
		h.sail(5)
	}
	h.sail(20)
	return h.end()
}

const rowersLease = "kube-system/evenkeel-rowers"

// rowersStory is a run in which participants of the harness's own stand for Leases.
func rowersStory() []history.Event { return tellRowers(nil) }

func tellRowers(otherwise map[string]func(*helm)) []history.Event {
	h := newHelm(otherwise)
	cp1 := h.members[0]
	h.afloat()
	name := func(who string) string { return "evenkeel-rowers-" + who }
	dead, mute, old, twin, newer := name("dead"), name("mute"), name("old"), name("twin"), name("newer")
	h.declare(dead, rowersLease, "1.0.0", "1.0.0")
	c := h.candidates[dead]
	c.Renewed = c.Renewed.Add(-31 * time.Minute)
	h.events[len(h.events)-1].Stored.Candidate.Renewed = c.Renewed
	h.declare(mute, rowersLease, "1.1.0", "1.1.0")
	h.declare(old, rowersLease, "1.2.0", "1.2.0")
	h.declare(twin, rowersLease, "1.2.0", "1.2.0")
	h.declare(newer, rowersLease, "1.3.0", "1.3.0")
	h.pass(2500)
	h.ping(mute, old, twin, newer)
	h.answer(old, twin, newer)
	h.pass(5000)
	first := old
	for who := range h.otherwise {
		if h.candidates[who] != nil {
			first = who // somebody else is elected
		}
	}
	h.elect(rowersLease, first)
	for range 2 {
		h.pass(3000)
		h.erase(cp1, rowersLease)
		h.pass(30)
		h.vote(rowersLease, old, twin, newer)
	}
	h.withdraw(dead)
	h.withdraw(mute)
	for range 4 {
		h.pass(3000)
		h.extend(coordinatorsLease)
		h.erase(cp1, rowersLease)
		h.pass(30)
		h.vote(rowersLease, old, twin, newer)
	}
	h.pass(3000)
	h.point("again")
	for range 3 {
		l := h.leases[rowersLease]
		l.Holder, l.Renewed, l.Strategy, l.Coordinator = "", time.Time{}, "", ""
		h.tellLease(rowersLease)
		h.request(cp1, history.Request{Class: history.ClassElection, Election: history.ElectionOdd, Verb: "update", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: rowersLease, Code: 200, ResourceVersion: h.revision})
		h.pass(30)
		h.vote(rowersLease, old, twin, newer)
		h.pass(3000)
		h.extend(coordinatorsLease)
	}
	h.pass(500)
	for _, m := range h.members {
		h.ready(m, 200, false)
	}
	h.erase(cp1, rowersLease)
	h.pass(30)
	h.vote(rowersLease, old, twin, newer)

	const draftLease = "kube-system/evenkeel-draft"
	h.declare("evenkeel-draft-a", draftLease, "1.2.0", "1.2.0")
	h.candidates["evenkeel-draft-a"].Strategy = "example.com/draft"
	h.events[len(h.events)-1].Stored.Candidate.Strategy = "example.com/draft"
	h.leases[draftLease] = &history.Lease{Duration: 10, Strategy: "example.com/draft", Coordinator: h.coordinator()}
	h.tellLease(draftLease)
	h.pass(500)
	h.point("drafted")
	l := h.leases[draftLease]
	l.Holder, l.Duration, l.Renewed = history.ElectionThirdParty, 3600, h.wall()
	h.tellLease(draftLease)
	h.request(cp1, history.Request{Class: history.ClassElection, Election: history.ElectionAssign, Verb: "update", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: draftLease, Code: 200})
	h.pass(6000)
	h.extend(coordinatorsLease)
	return h.end()
}

// steadyStory is a run in which nothing happens.
func steadyStory() []history.Event { return tellSteady(nil) }

func tellSteady(otherwise map[string]func(*helm)) []history.Event {
	h := newHelm(otherwise)
	h.afloat()
	var names []string
	for _, m := range h.members {
		names = append(names, h.manager(m, "1.2"))
	}
	h.pass(2500)
	h.vote(managersLease, names...)
	h.sail(100)
	h.point("alone")
	h.pass(250_000)
	h.answer(names...)
	return h.end()
}
