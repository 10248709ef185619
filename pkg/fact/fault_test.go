package fact_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func faultOf(at int64, of history.Fault) history.Event {
	return history.Event{At: at, Member: "a", Fault: &of}
}

func TestFault_IsActiveFromItsInjectionToItsHealing(t *testing.T) {
	keys := history.Fault{ID: "f", Type: history.FaultKeys, Prefixes: []string{"/registry/leases/"}}
	inject, witness, heal := keys, keys, keys
	inject.Phase, witness.Phase, heal.Phase = history.PhaseInject, history.PhaseWitness, history.PhaseHeal
	witness.Proof = "a write failed"
	h := observed(faultOf(2*s, inject), faultOf(4*s, witness), faultOf(6*s, heal), faultOf(8*s, inject))
	want := map[int64]fact.Truth{2: fact.No, 6: fact.Yes, 14: fact.No, 18: fact.Yes}
	truths(t, "a fault is at the member", h.FaultAt("a"), want)
	truths(t, "any fault is active", h.AnyFault(), want)
	truths(t, "a fault is about the key", h.FaultOn("/registry/leases/x"), want)
	truths(t, "a fault is about another key", h.FaultOn("/registry/pods/x"), map[int64]fact.Truth{6: fact.No})
	truths(t, "a fault is at another member", h.FaultAt("b"), map[int64]fact.Truth{6: fact.No})
	backend := observed(faultOf(2*s, history.Fault{ID: "b", Type: history.FaultBackend, Phase: history.PhaseInject}))
	truths(t, "a fault of an aggregated server is one at a member", backend.AnyFault(), map[int64]fact.Truth{6: fact.No})
	if h.Faults[0].Witness == "" || h.Faults[1].Witness != "" {
		t.Error("the witness is not that of the injection before it")
	}
}

func TestPowerless_UntilTheMemberWasSeenToBeBack(t *testing.T) {
	power := func(phase history.Phase, proof string) history.Fault {
		return history.Fault{ID: "p", Type: history.FaultPower, Phase: phase, Proof: proof}
	}
	events := []history.Event{faultOf(2*s, power(history.PhaseInject, "")), faultOf(4*s, power(history.PhaseHeal, "")), {At: 5 * s, EtcdHealth: &history.EtcdHealth{}}}
	truths(t, "it is powerless", observed(events...).Powerless("a"), map[int64]fact.Truth{2: fact.No, 6: fact.Yes, 12: fact.Yes})
	h := observed(append(events, faultOf(6*s, power(history.PhaseWitness, "all is back")))...)
	truths(t, "it is powerless", h.Powerless("a"), map[int64]fact.Truth{6: fact.Yes, 12: fact.No})
	if f := h.Faults[0]; f.Recovery == "" || f.Witness != "" {
		t.Errorf("what proves that it is back is a witness of the cut: %+v", f)
	}
}

func TestStep_EndsTheOneThatBegan(t *testing.T) {
	step := func(at int64, index int, phase history.Phase) history.Event {
		return history.Event{At: at, Member: "a", Step: &history.Step{Index: index, Action: "upgrade", Phase: phase, Message: string(phase)}}
	}
	h := observed(step(2*s, 1, history.PhaseBegin), step(4*s, 1, history.PhaseEnd), step(5*s, 2, history.PhaseSkipped), step(6*s, 3, history.PhaseBegin))
	if len(h.Steps) != 3 {
		t.Fatalf("there are %d steps", len(h.Steps))
	}
	if one := h.Steps[0]; one.Began.Latest != 2*s || one.Ended == nil || one.Ended.Latest != 4*s || one.Phase != history.PhaseEnd {
		t.Errorf("the first step is %+v", one)
	}
	if one := h.Steps[1]; one.Ended == nil || one.Phase != history.PhaseSkipped || one.Message == "" {
		t.Errorf("the step that was left out is %+v", one)
	}
	if h.Steps[2].Ended != nil {
		t.Error("the last step has ended")
	}
}

func TestHold_KeepsTheRevisionsOfItsBeginAndEnd(t *testing.T) {
	hold := func(at, revision int64, phase history.Phase) history.Event {
		return history.Event{At: at, Hold: &history.Hold{Name: "h", Phase: phase, Revision: revision, Releases: map[string]string{"a": "1"}}}
	}
	h := observed(hold(2*s, 5, history.PhaseBegin), hold(4*s, 9, history.PhaseEnd), hold(6*s, 11, history.PhaseEnd))
	if len(h.Holds) != 2 || h.Holds[0].BeganRevision != 5 || h.Holds[0].EndedRevision != 9 || h.Holds[1].Ended == nil {
		t.Errorf("the holds are %+v", h.Holds)
	}
	if h.LastTold() != 11 || h.Told(11, 6*s) != fact.Yes {
		t.Error("at the end of a hold the recorder of etcd has told of all up to its revision")
	}
}
