package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestElectionsThatMakeNoSense(t *testing.T) {
	for want, step := range map[string]interface{ validate() error }{
		"participants must be there":   &SimulateElection{Member: "cp1", Lease: "a"},
		"legacyHolderFor not negative": &SimulateElection{Member: "cp1", Lease: "a", LegacyHolderFor: -1, Participants: []Participant{{Name: "a", Binary: "1.2.0"}}},
		"not negative":                 &SimulateElection{Member: "cp1", Lease: "a", Elections: -1, Participants: []Participant{{Name: "a", Binary: "1.2.0"}}},
		"a name of its own":            &SimulateElection{Member: "cp1", Lease: "a", Participants: []Participant{{Name: "a", Binary: "1.2.0"}, {Name: "a", Binary: "1.2.0"}}},
		"a binary version":             &SimulateElection{Member: "cp1", Lease: "a", Participants: []Participant{{Name: "a"}}},
		"whenPreferred of":             &SimulateElection{Member: "cp1", Lease: "a", Participants: []Participant{{Name: "a", Binary: "1.2.0", WhenPreferred: "sings"}}},
		"no short DNS label":           &SimulateElection{Member: "cp1", Lease: "A/b", Participants: []Participant{{Name: "a", Binary: "1.2.0"}}},
		"action must be":               &DisruptLease{Member: "cp1", Lease: "a", Action: "shake"},
		"of is missing":                &DeleteCandidates{Member: "cp1", Lease: "a"},
		"lease is missing":             &DeleteCandidates{Member: "cp1", Of: []string{"@all"}},
		"count not negative":           &DisruptLease{Member: "cp1", Lease: "a", Action: history.ElectionDelete, Count: -1},
	} {
		if err := step.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %q", err, want)
		}
	}
	if err := (&SimulateElection{Member: "cp1", Lease: "a", Participants: []Participant{{Name: "a", Binary: "1.2.0"}}}).validate(); err != nil {
		t.Error(err)
	}
}

// What is odd about the Leases must not be the same everywhere.
func TestOddities(t *testing.T) {
	all := oddities(time.Unix(0, 0))
	without := map[string]int{}
	for _, spec := range all {
		if spec.HolderIdentity == nil {
			without["holder"]++
		}
		if spec.RenewTime == nil {
			without["renewal"]++
		}
		if spec.LeaseDurationSeconds == nil {
			without["duration"]++
		}
	}
	for _, what := range []string{"holder", "renewal", "duration"} {
		if without[what] == 0 || without[what] == len(all) {
			t.Errorf("%d of %d are without %s", without[what], len(all), what)
		}
	}
}
