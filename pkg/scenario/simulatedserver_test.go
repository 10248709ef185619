package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
)

func TestWhatGuestsAndTamperingMaySay(t *testing.T) {
	for _, tc := range []struct {
		name, complaint string
		step            Step
	}{
		{"guest", "", Step{Action: &SimulatedServer{Member: "cp1", Name: "g", StorageVersions: []string{"core.configmaps"}}}},
		{"simulated server without a name", "is no name for a simulated server", Step{Action: &SimulatedServer{Member: "cp1"}}},
		{"simulated server with the name of the unknown one", "is no name for a simulated server", Step{Action: &SimulatedServer{Member: "cp1", Name: "unknown"}}},
		{"guest that reports of no resource", "is not <group or core>.<resource>", Step{Action: &SimulatedServer{Member: "cp1", Name: "g", StorageVersions: []string{"configmaps"}}}},
		{"tampering with a Lease", "", Step{Action: &Tamper{Member: "cp1", DeleteIdentityLeases: []string{"cp2"}}}},
		{"tampering with nothing", "needs one of deleteStorageVersions, deleteIdentityLeases and addUnknownServer", Step{Action: &Tamper{Member: "cp1"}}},
		{"inventing no name", "is not <group or core>.<resource>", Step{Action: &Tamper{Member: "cp1", AddUnknownServer: []string{"x"}}}},
		{"meet", "", Step{Action: &WaitForHits{Fault: "f.yaml", Completed: 2}}},
		{"meet nothing", "fault is missing", Step{Action: &WaitForHits{}}},
		{"meet a negative number", "must not be negative", Step{Action: &WaitForHits{Fault: "f.yaml", Requests: -1}}},
	} {
		err := tc.step.validate()
		if tc.complaint == "" && err != nil || tc.complaint != "" && (err == nil || !strings.Contains(err.Error(), tc.complaint)) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.complaint)
		}
	}
}

func TestOnlyFaultsOfHTTPCanBeMet(t *testing.T) {
	met := &WaitForHits{Fault: "f"}
	if err := met.fits(&fault.Fault{Type: fault.TypePod, Effect: fault.Kill{}}); err == nil {
		t.Error("a kill can be met")
	}
	if err := met.fits(&fault.Fault{Type: fault.TypeHTTP, Effect: fault.HTTPRequests{}, Member: fault.StepMember}); err != nil {
		t.Error(err)
	}
}

// Where links do not understand HTTP a scenario that needs it does not begin.
func TestFaultsOfHTTPNeedALinkThatUnderstandsIt(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	r.Scenario.Steps = []Step{{Action: &Inject{Strike: Strike{Fault: "f", Member: "cp1"}}}}
	r.Scenario.Faults = map[string]*fault.Fault{"f": {Name: "f", Type: fault.TypeHTTP, Effect: fault.HTTPRequests{}, Member: fault.StepMember, Components: []cluster.Component{cluster.ControllerManager}}}
	err := r.Play(t.Context(), fake)
	if err == nil || !strings.Contains(err.Error(), cluster.ErrUnsupported.Error()) {
		t.Errorf("got %v", err)
	}
}

func TestAGuestJoinsBeforeItReports(t *testing.T) {
	r, s, _ := onShelf(t)
	if err := r.simulatedServer(t.Context(), "cp1", &SimulatedServer{Member: "cp1", Name: "g", StorageVersions: []string{"g.io.things"}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"POST apiserver-evenkeel-g", "POST g.io.things", "PUT status"}; !slices.Equal(s.calls, want) {
		t.Errorf("sent %q, want %q", s.calls, want)
	}
}
