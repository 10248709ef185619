package stories

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	// ManagersLease is the Lease that the controller managers lead by, as namespace/name.
	ManagersLease     = "kube-system/kube-controller-manager"
	coordinatorsLease = "kube-system/leader-election-controller"
	oldestStrategy    = "OldestEmulationVersion"
)

// Builder is a control plane whose leaders are elected by a coordinator.
type Builder struct {
	*story.ControlPlane
	// Leases and Candidates are the objects as they are now, by name.
	Leases     map[string]*history.Lease
	Candidates map[string]*history.Candidate
	// Managers are the numbers of the controller managers' processes, by member.
	Managers map[string]int
	acts     int64
	// uncoordinated is whether instances take Leases by themselves.
	uncoordinated bool
	// at is what happens besides at the points of a story that have a name.
	at map[string]func(*Builder)
}

// point is a place in a story at which something else may happen.
func (h *Builder) point(name string) {
	if do := h.at[name]; do != nil {
		do(h)
	}
}

func newBuilder(otherwise map[string]func(*Builder)) *Builder {
	return &Builder{at: otherwise, ControlPlane: story.NewControlPlane(), Leases: map[string]*history.Lease{}, Candidates: map[string]*history.Candidate{}, Managers: map[string]int{}}
}

// WallTime gives the time as the servers write it.
func (h *Builder) WallTime() time.Time { return story.Epoch.Add(time.Duration(h.Now)) }

// ServeAll has all members serve, and the coordinator of the first one be active.
func (h *Builder) ServeAll() {
	for _, m := range h.Members {
		h.Start(m, m.Release)
		h.RenewIdentity(m)
		h.AnswerReady(m, 200, true)
	}
	h.Coordinate("cp1_c")
}

// Coordinate has a coordinator take the coordinators' Lease.
func (h *Builder) Coordinate(who string) {
	l := &history.Lease{Holder: who, Duration: 15, Acquired: h.WallTime(), Renewed: h.WallTime()}
	if before := h.Leases[coordinatorsLease]; before != nil {
		l.Transitions = before.Transitions + 1
	}
	h.Leases[coordinatorsLease] = l
	h.StoreLease(coordinatorsLease)
}

// Coordinator gives the holder of the Lease of the coordinators.
func (h *Builder) Coordinator() string { return h.Leases[coordinatorsLease].Holder }

// RenewFor lets time pass, while who holds a Lease renews it and acts. Those that are
// named do not.
func (h *Builder) RenewFor(seconds int, without ...string) {
	for range seconds / 5 {
		h.Advance(5000)
		for _, lease := range []string{coordinatorsLease, ManagersLease} {
			if l := h.Leases[lease]; l != nil && l.Holder != "" && !has(without, lease) {
				h.RenewLease(lease)
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

// StartManager starts a member's controller manager, which declares itself.
func (h *Builder) StartManager(m *story.Member, release string) string {
	m.Release = release
	h.Managers[m.Name]++
	h.ManagerProcess(m, history.ProcessStarted, "")
	h.Advance(300)
	name := fmt.Sprintf("%s_%d", m.Name, h.Managers[m.Name])
	h.Declare(name, ManagersLease, release+".0", release+".0")
	return name
}

// ManagerProcess records a change of the process of a member's controller manager.
func (h *Builder) ManagerProcess(m *story.Member, change, exit string) {
	// A stop that the harness asks for gives status 0 or a signal; any other exit is
	// unexpected.
	expected := exit == "exit status 0" || strings.HasPrefix(exit, "signal: ")
	h.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentControllerManager, Change: change, Instance: h.Managers[m.Name], Release: m.Release, Exit: exit, Expected: expected,
	}})
}

// Declare makes a candidate.
func (h *Builder) Declare(name, lease, binary, emulation string) {
	h.Candidates[name] = &history.Candidate{Lease: lease[len("kube-system/"):], Binary: binary, Emulation: emulation, Strategy: oldestStrategy, Renewed: h.WallTime()}
	h.StoreCandidate(name)
}

// Withdraw takes one away.
func (h *Builder) Withdraw(name string) {
	delete(h.Candidates, name)
	h.Delete("/registry/leasecandidates/kube-system/"+name, "kube-system/"+name)
}

// StoreCandidate records a write of a candidate as it is in Candidates.
func (h *Builder) StoreCandidate(name string) {
	now := *h.Candidates[name]
	h.Store("/registry/leasecandidates/kube-system/"+name, "coordination.k8s.io/v1beta1", "LeaseCandidate", "kube-system/"+name, history.Stored{Candidate: &now})
}

// StoreLease records a write of a Lease as it is in Leases.
func (h *Builder) StoreLease(lease string) {
	now := *h.Leases[lease]
	h.Store("/registry/leases/"+lease, "coordination.k8s.io/v1", "Lease", lease, history.Stored{Lease: &now})
}

// Ping asks candidates; answer has them answer.
func (h *Builder) Ping(names ...string) {
	for _, name := range names {
		c := h.Candidates[name]
		c.Pinged, c.Coordinator = h.WallTime(), h.Coordinator()
		h.StoreCandidate(name)
	}
	h.Advance(20)
}

// AnswerPing has candidates answer a ping.
func (h *Builder) AnswerPing(names ...string) {
	for _, name := range names {
		h.Candidates[name].Renewed = h.WallTime()
		h.StoreCandidate(name)
	}
	h.Advance(20)
}

// PingAndElect asks all of the given candidates, and gives the Lease to the first one.
func (h *Builder) PingAndElect(lease string, names ...string) {
	h.Ping(names...)
	h.AnswerPing(names...)
	h.Elect(lease, names[0])
}

// Elect gives a Lease to a candidate, which renews it at once.
func (h *Builder) Elect(lease, who string) {
	h.Name(lease, who)
	h.Advance(30)
	h.RenewLease(lease)
}

// Name has the coordinator give a Lease to a candidate, which does not renew it.
func (h *Builder) Name(lease, who string) {
	l := h.Leases[lease]
	transitions := 0
	if l != nil {
		transitions = l.Transitions + 1
	}
	coordinator := h.Coordinator()
	if h.uncoordinated {
		coordinator = ""
	}
	h.Leases[lease] = &history.Lease{Holder: who, Duration: 10, Acquired: h.WallTime(), Renewed: h.WallTime(), Transitions: transitions, Strategy: oldestStrategy, Coordinator: coordinator}
	h.StoreLease(lease)
}

// RenewLease renews a Lease; a leader of the managers acts, too.
func (h *Builder) RenewLease(lease string) {
	h.RenewIdly(lease)
	if lease == ManagersLease {
		h.Act(h.Leases[lease].Holder)
	}
}

// RenewIdly renews a Lease, and its leader does not act.
func (h *Builder) RenewIdly(lease string) {
	l := h.Leases[lease]
	l.Renewed, l.Duration = h.WallTime(), 15
	h.StoreLease(lease)
}

// IdleFor lets time pass while the leaders renew and do nothing.
func (h *Builder) IdleFor(seconds int) {
	for range seconds / 5 {
		h.Advance(5000)
		h.RenewIdly(coordinatorsLease)
		h.RenewIdly(ManagersLease)
	}
}

// Act leaves a mark of a leader of the managers.
func (h *Builder) Act(who string) {
	h.acts++
	h.Store("/registry/configmaps/kube-system/acting-kube-controller-manager", "v1", "ConfigMap", "kube-system/acting-kube-controller-manager", history.Stored{
		LeaderAction: &history.LeaderAction{Lease: ManagersLease, Holder: who, Version: "1.2.0", Term: int64(h.Leases[ManagersLease].Transitions), Number: h.acts},
	})
}

// PreferHolder tells a leader who should lead, and it gives its Lease up.
func (h *Builder) PreferHolder(lease, preferred string) {
	h.Leases[lease].Preferred, h.Leases[lease].Coordinator = preferred, h.Coordinator()
	h.StoreLease(lease)
	h.Advance(50)
}

// ReleaseLease has the holder give a Lease up.
func (h *Builder) ReleaseLease(lease string) {
	l := h.Leases[lease]
	l.Holder, l.Preferred, l.Duration, l.Renewed = "", "", 1, h.WallTime()
	h.StoreLease(lease)
	h.Advance(20)
}

// DeleteLease is a deletion by an administrator.
func (h *Builder) DeleteLease(m *story.Member, lease string) {
	from := h.Now
	h.Advance(2)
	delete(h.Leases, lease)
	h.Delete("/registry/leases/"+lease, lease)
	h.Advance(2)
	h.Emit(history.Event{Kind: history.KindRequest, Member: m.Name, From: from, Request: &history.Request{
		Class: history.ClassElection, Election: history.ElectionDelete, Verb: "delete", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: lease, Code: 200,
	}})
}

// Fault tells of a fault at a member.
func (h *Builder) Fault(m *story.Member, id, kind, action, component string, phase history.Phase, prefixes ...string) {
	f := &history.Fault{ID: id, Type: kind, Action: action, Component: component, Phase: phase, Prefixes: prefixes}
	if phase == history.PhaseWitness {
		f.Proof, f.Count = "it was seen to bite", 3
	}
	h.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: f})
}

func (h *Builder) end() []history.Event {
	h.Advance(3000)
	h.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return h.Events
}

// upgradeStory is a run in which members are upgraded one by one, a leader
// crashes, and an older candidate comes back.
func upgradeStory() []history.Event { return Upgrade(nil) }

// Upgrade builds upgradeStory with further events at its points, which the map names:
// erased, crashed, older is back, at rest.
func Upgrade(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1, cp2, cp3 := h.Members[0], h.Members[1], h.Members[2]
	h.ServeAll()
	a, b, c := h.StartManager(cp1, "1.2"), h.StartManager(cp2, "1.2"), h.StartManager(cp3, "1.2")
	h.Advance(2500)
	h.PingAndElect(ManagersLease, a, b, c)
	h.RenewFor(10)

	h.DeleteLease(cp1, ManagersLease)
	h.Advance(30)
	h.point("erased")
	h.PingAndElect(ManagersLease, a, b, c)
	h.RenewFor(5)

	for _, m := range []*story.Member{cp1, cp2} {
		h.ReleaseLease(ManagersLease)
		h.Withdraw(fmt.Sprintf("%s_%d", m.Name, h.Managers[m.Name]))
		h.ManagerProcess(m, history.ProcessExited, "exit status 0")
		h.Advance(200)
		up := h.StartManager(m, "1.3")
		h.Advance(2500)
		if m == cp1 {
			a = up
			h.PingAndElect(ManagersLease, b, a, c)
		} else {
			b = up
			h.PingAndElect(ManagersLease, c, a, b)
		}
		h.RenewFor(10)
	}

	h.Fault(cp3, "controller-manager-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseInject)
	h.ManagerProcess(cp3, history.ProcessExited, "signal: killed")
	h.Fault(cp3, "controller-manager-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseWitness)
	h.RenewFor(15, ManagersLease)
	h.Advance(1000)
	h.point("crashed")
	h.Ping(a, b, c)
	h.AnswerPing(a, b)
	h.Advance(5000)
	h.Elect(ManagersLease, a)
	h.RenewFor(5)

	h.Fault(cp3, "controller-manager-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseHeal)
	d := h.StartManager(cp3, "1.2")
	h.Ping(d)
	h.AnswerPing(d)
	h.point("older is back")
	h.PreferHolder(ManagersLease, d)
	h.ReleaseLease(ManagersLease)
	h.PingAndElect(ManagersLease, d, a, b)
	h.RenewFor(25)
	h.point("at rest")
	return h.end()
}

// impairedStory is a run in which leaders and coordinators are alive and cannot do
// what they have to.
func impairedStory() []history.Event { return Impaired(nil) }

// Impaired builds impairedStory with further events at its points: led, resumed, cannot
// renew begins, cannot renew, can write, no coordinator.
func Impaired(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1, cp2, cp3 := h.Members[0], h.Members[1], h.Members[2]
	h.ServeAll()
	a, b, c := h.StartManager(cp1, "1.3"), h.StartManager(cp2, "1.3"), h.StartManager(cp3, "1.2")
	h.Advance(2500)
	h.PingAndElect(ManagersLease, c, a, b)
	h.RenewFor(5)
	h.point("led")
	h.RenewFor(5)

	again := func(leader string) {
		h.Ping(leader)
		h.AnswerPing(leader)
		h.PreferHolder(ManagersLease, leader)
		h.ReleaseLease(ManagersLease)
		h.PingAndElect(ManagersLease, leader, a, b)
		h.RenewFor(5)
	}
	// It stands still for longer than its Lease lasts.
	h.Fault(cp3, "controller-manager-pause-1", "PodChaos", "pod-failure", history.ComponentControllerManager, history.PhaseInject)
	h.ManagerProcess(cp3, history.ProcessPaused, "")
	h.Fault(cp3, "controller-manager-pause-1", "PodChaos", "pod-failure", history.ComponentControllerManager, history.PhaseWitness)
	h.RenewFor(15, ManagersLease)
	h.Advance(1000)
	h.Ping(a, b, c)
	h.AnswerPing(a, b)
	h.Advance(5000)
	h.Elect(ManagersLease, a)
	h.RenewFor(5)
	h.ManagerProcess(cp3, history.ProcessResumed, "")
	h.Fault(cp3, "controller-manager-pause-1", "PodChaos", "pod-failure", history.ComponentControllerManager, history.PhaseHeal)
	h.point("resumed")
	h.AnswerPing(c)
	again(c)

	// It cannot renew.
	h.Fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseInject)
	h.Fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseWitness)
	h.point("cannot renew begins")
	h.RenewFor(15, ManagersLease)
	h.Advance(1000)
	h.point("cannot renew")
	h.Ping(c, a, b)
	h.AnswerPing(c, a, b)
	h.Elect(ManagersLease, a)
	h.RenewFor(5)
	h.Fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseHeal)
	again(c)

	// The coordinator's server crashes.
	h.Fault(cp1, "apiserver-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentAPIServer, history.PhaseInject)
	h.Exit(cp1, "signal: killed", true)
	h.Fault(cp1, "apiserver-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentAPIServer, history.PhaseWitness)
	h.RenewFor(15, coordinatorsLease)
	h.Advance(1500)
	h.Coordinate("cp2_c")
	h.Start(cp1, cp1.Release)
	h.AnswerReady(cp1, 200, true)
	h.Fault(cp1, "apiserver-crash-1", "PodChaos", history.FaultContainerKill, history.ComponentAPIServer, history.PhaseHeal)
	h.RenewFor(5)

	// The coordinator cannot write when the leader crashes.
	managersKey, coordinatorsKey := "/registry/leases/"+ManagersLease, "/registry/leases/"+coordinatorsLease
	h.Fault(cp2, "coordinator-cannot-write-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseInject, managersKey)
	h.ManagerProcess(cp3, history.ProcessExited, "signal: killed")
	h.Fault(cp2, "coordinator-cannot-write-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseWitness, managersKey)
	h.RenewFor(20, ManagersLease)
	h.Fault(cp2, "coordinator-cannot-write-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseHeal, managersKey)
	h.point("can write")
	h.Ping(a, b)
	h.AnswerPing(a, b)
	h.Elect(ManagersLease, a)
	h.RenewFor(5)

	// No coordinator can renew when the next leader crashes.
	for _, m := range h.Members {
		h.Fault(m, "coordinators-cannot-renew-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseInject, coordinatorsKey)
		h.Fault(m, "coordinators-cannot-renew-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseWitness, coordinatorsKey)
	}
	h.RenewFor(20, coordinatorsLease)
	h.ManagerProcess(cp1, history.ProcessExited, "signal: killed")
	h.Advance(16_000)
	h.AnswerReady(cp2, 200, false)
	h.point("no coordinator")
	h.Advance(25_000)
	h.uncoordinated = true
	h.Elect(ManagersLease, b)
	h.RenewFor(5, coordinatorsLease)
	for _, m := range h.Members {
		h.Fault(m, "coordinators-cannot-renew-1", history.FaultKeys, history.FaultKeysFail, "", history.PhaseHeal, coordinatorsKey)
	}
	h.Coordinate("cp3_c")
	return h.end()
}

// seizedStory is a run in which the coordinators' Lease is taken by force, twice.
func seizedStory() []history.Event { return Seized(nil) }

// Seized builds seizedStory with further events at its point: seized.
func Seized(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1 := h.Members[0]
	h.ServeAll()
	h.RenewFor(10)
	for _, next := range []string{"cp2_c", "cp1_c"} {
		l := h.Leases[coordinatorsLease]
		l.Holder, l.Duration, l.Renewed = history.AbsentHolder, 4, h.WallTime()
		h.StoreLease(coordinatorsLease)
		h.Request(cp1, history.Request{Class: history.ClassElection, Election: history.ElectionAbsentHolder, Verb: "update", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: coordinatorsLease, Code: 200})
		h.RenewFor(5, coordinatorsLease)
		if next == "cp2_c" {
			h.point("seized")
		}
		h.Coordinate(next)
		h.RenewFor(5)
	}
	h.RenewFor(20)
	return h.end()
}

// processesStory is a run in which an API server is stopped and started, and a leader that
// cannot renew gives up and ends.
func processesStory() []history.Event { return Processes(nil) }

// Processes builds processesStory with further events at its points: led, at
// rest. What happens at the point cannot renew takes the place of the end of the leader.
func Processes(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1, cp3 := h.Members[0], h.Members[2]
	h.ServeAll()
	a, c := h.StartManager(cp1, "1.2"), h.StartManager(cp3, "1.2")
	h.Advance(2500)
	h.PingAndElect(ManagersLease, c, a)
	h.RenewFor(10)
	h.point("led")
	h.Exit(cp1, "exit status 0", true)
	h.Start(cp1, "1.2")
	h.AnswerReady(cp1, 200, true)
	h.Fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseInject)
	h.Fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseWitness)
	h.point("cannot renew")
	if h.at["cannot renew"] == nil {
		h.RenewFor(10, ManagersLease)
		h.ManagerProcess(cp3, history.ProcessExited, "exit status 1")
	}
	h.Fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseHeal)
	h.StartManager(cp3, "1.2")
	h.RenewFor(10, ManagersLease)
	h.point("at rest")
	return h.end()
}

const extraLease = "kube-system/evenkeel-rowers"

// extraElectionsStory is a run in which participants of the harness's own stand for Leases.
func extraElectionsStory() []history.Event { return ExtraElections(nil) }

// ExtraElections builds extraElectionsStory with further events at its points: again,
// drafted. The name of a candidate as a point elects that candidate first.
func ExtraElections(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1 := h.Members[0]
	h.ServeAll()
	name := func(who string) string { return "evenkeel-rowers-" + who }
	dead, mute, old, twin, newer := name("dead"), name("mute"), name("old"), name("twin"), name("newer")
	h.Declare(dead, extraLease, "1.0.0", "1.0.0")
	c := h.Candidates[dead]
	c.Renewed = c.Renewed.Add(-31 * time.Minute)
	h.Events[len(h.Events)-1].Stored.Candidate.Renewed = c.Renewed
	h.Declare(mute, extraLease, "1.1.0", "1.1.0")
	h.Declare(old, extraLease, "1.2.0", "1.2.0")
	h.Declare(twin, extraLease, "1.2.0", "1.2.0")
	h.Declare(newer, extraLease, "1.3.0", "1.3.0")
	h.Advance(2500)
	h.Ping(mute, old, twin, newer)
	h.AnswerPing(old, twin, newer)
	h.Advance(5000)
	first := old
	for who := range h.at {
		if h.Candidates[who] != nil {
			first = who // elect the candidate that must not be
		}
	}
	h.Elect(extraLease, first)
	for range 2 {
		h.Advance(3000)
		h.DeleteLease(cp1, extraLease)
		h.Advance(30)
		h.PingAndElect(extraLease, old, twin, newer)
	}
	h.Withdraw(dead)
	h.Withdraw(mute)
	for range 4 {
		h.Advance(3000)
		h.RenewLease(coordinatorsLease)
		h.DeleteLease(cp1, extraLease)
		h.Advance(30)
		h.PingAndElect(extraLease, old, twin, newer)
	}
	h.Advance(3000)
	h.point("again")
	for range 3 {
		l := h.Leases[extraLease]
		l.Holder, l.Renewed, l.Strategy, l.Coordinator = "", time.Time{}, "", ""
		h.StoreLease(extraLease)
		h.Request(cp1, history.Request{Class: history.ClassElection, Election: history.ElectionMalformed, Verb: "update", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: extraLease, Code: 200, ResourceVersion: h.Revision})
		h.Advance(30)
		h.PingAndElect(extraLease, old, twin, newer)
		h.Advance(3000)
		h.RenewLease(coordinatorsLease)
	}
	h.Advance(500)
	for _, m := range h.Members {
		h.AnswerReady(m, 200, false)
	}
	h.DeleteLease(cp1, extraLease)
	h.Advance(30)
	h.PingAndElect(extraLease, old, twin, newer)

	const draftLease = "kube-system/evenkeel-draft"
	h.Declare("evenkeel-draft-a", draftLease, "1.2.0", "1.2.0")
	h.Candidates["evenkeel-draft-a"].Strategy = "example.com/draft"
	h.Events[len(h.Events)-1].Stored.Candidate.Strategy = "example.com/draft"
	h.Leases[draftLease] = &history.Lease{Duration: 10, Strategy: "example.com/draft", Coordinator: h.Coordinator()}
	h.StoreLease(draftLease)
	h.Advance(500)
	h.point("drafted")
	l := h.Leases[draftLease]
	l.Holder, l.Duration, l.Renewed = history.ThirdPartyHolder, 3600, h.WallTime()
	h.StoreLease(draftLease)
	h.Request(cp1, history.Request{Class: history.ClassElection, Election: history.ElectionAssign, Verb: "update", Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: draftLease, Code: 200})
	h.Advance(6000)
	h.RenewLease(coordinatorsLease)
	return h.end()
}

// electFirst starts all members, and has the controller manager of the first one elected. It returns
// the names of all candidates.
func (h *Builder) electFirst() (names []string) {
	h.ServeAll()
	for _, m := range h.Members {
		names = append(names, h.StartManager(m, "1.2"))
	}
	h.Advance(2500)
	h.PingAndElect(ManagersLease, names...)
	return names
}

// steadyStory is a run in which nothing happens.
func steadyStory() []history.Event { return Steady(nil) }

// Steady builds steadyStory with further events at its point: alone.
func Steady(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	names := h.electFirst()
	h.RenewFor(100)
	h.point("alone")
	h.Advance(200_000)
	h.AnswerPing(names...)
	return h.end()
}
