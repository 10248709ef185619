package scenario

import (
	"strings"
	"testing"
)

func TestCrew_TheFirstCandidateFollowsTheStrategyAndTheVersionDeclaredLast(t *testing.T) {
	step := &SimulateElection{Lease: "e", Participants: []Participant{
		{Name: "old", Binary: "1.2.0"},
		{Name: "new", Binary: "1.10.0"},
		{Name: "mute", Binary: "1.0.0", IgnoresPings: true},
		{Name: "later", Binary: "1.11.0", Becomes: "1.1.0"},
	}}
	c := &crew{step: step, lease: "e", standing: map[string]*Participant{}}
	if c.first(oldestStrategy) != nil {
		t.Error("a candidate comes first before any is declared")
	}
	for i := range step.Participants[:3] {
		c.standing[c.name(&step.Participants[i])] = &step.Participants[i]
	}
	if got := c.first(oldestStrategy); got == nil || got.Name != "old" {
		t.Errorf("the oldest is %+v", got)
	}
	if got := c.first(newestStrategy); got == nil || got.Name != "new" {
		t.Errorf("the newest is %+v", got)
	}
	c.standing[c.name(&step.Participants[3])] = &step.Participants[3]
	if got := c.first(oldestStrategy); got == nil || got.Name != "later" {
		t.Errorf("after one declared another version the oldest is %+v", got)
	}
}

func TestSimulateElection_RefusesAStrategyByWhichNoCoordinatorElects(t *testing.T) {
	step := &SimulateElection{Member: "cp1", Lease: "a", ChooseStrategies: []string{"example.com/draft"}, Participants: []Participant{{Name: "a", Binary: "1.2.0"}}}
	if err := step.validate(); err == nil || !strings.Contains(err.Error(), newestStrategy) {
		t.Errorf("%v", err)
	}
}
