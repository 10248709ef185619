package conformance

import (
	"reflect"
	"strings"
	"testing"
)

// A scenario goes by the name that the list has, and by its path in the tree.
func TestPlan_ScenariosByNameFileAndPath(t *testing.T) {
	want := planned(t, func(r *Request) { r.Scenarios = []string{"restart-skew"} })
	for _, name := range []string{"restart-skew.yaml", "fixtures/scenarios/restart-skew.yaml"} {
		if got := planned(t, func(r *Request) { r.Scenarios = []string{name} }); !reflect.DeepEqual(got.Lines, want.Lines) {
			t.Errorf("%s: %+v", name, got.Lines)
		}
	}
	if _, err := makePlan(func(r *Request) { r.Scenarios = []string{"mine/restart-skew.yaml"} }); err == nil {
		t.Error("a file at a path of its own is taken for the scenario that ships")
	}
}

// Where no scenario is to blame, the error is about what is.
func TestPlan_SaysWhatIsWrongWithTheTarget(t *testing.T) {
	_, err := makePlan(func(r *Request) { r.Release = "9.9" })
	if err == nil || !strings.Contains(err.Error(), `no release "9.9"`) || strings.Contains(err.Error(), "no scenario") {
		t.Errorf("error %v", err)
	}
}
