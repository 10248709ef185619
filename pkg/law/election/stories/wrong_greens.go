package stories

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// WrongGreens gives stories that break a requirement plainly and that a judge with one
// state machine for each requirement passed: their obligations end silently. They are
// not among All.
func WrongGreens() []story.Story {
	all := All()
	return []story.Story{
		story.Named(all, "CLE-10/pass").With("acts without lease", story.Fail, actsWithoutLease),
		story.Named(all, "CLE-11/pass").With("clock restarts", story.Fail, atPoint(Upgrade, "at rest", redeclareWithoutLeader)),
	}
}

// actsWithoutLease has a process of cp3 that never held the Lease act once a second.
// For part of that time the Lease is free, for the rest another process holds it.
func actsWithoutLease(e *story.Edit) {
	const times, firstNumber, term = 40, 100, 9
	begin := int64(139 * time.Second)
	created := e.Event(1, leaderActions).Stored
	for i := range int64(times) {
		s := *created
		s.LeaderAction = &history.LeaderAction{Lease: ManagersLease, Holder: "cp3_9", Version: "1.2.0", Term: term, Number: firstNumber + i}
		e.InsertStored(begin+i*int64(time.Second), s)
	}
}

// redeclareWithoutLeader crashes the leader and elects no other for 11 minutes. Both
// remaining candidates are deleted and declared anew every 40 s meanwhile.
func redeclareWithoutLeader(h *Builder) {
	const times, interval = 17, 40
	cp3 := h.Members[2]
	const id = "controller-manager-crash-2"
	h.Fault(cp3, id, "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseInject)
	h.ManagerProcess(cp3, history.ProcessExited, "signal: killed")
	h.Fault(cp3, id, "PodChaos", history.FaultContainerKill, history.ComponentControllerManager, history.PhaseWitness)
	for range times {
		h.RenewFor(interval, ManagersLease)
		for _, name := range []string{"cp1_2", "cp2_2"} {
			h.Withdraw(name)
		}
		h.Advance(500)
		for _, name := range []string{"cp1_2", "cp2_2"} {
			h.Declare(name, ManagersLease, "1.3.0", "1.3.0")
		}
	}
	h.RenewFor(15, ManagersLease)
}
