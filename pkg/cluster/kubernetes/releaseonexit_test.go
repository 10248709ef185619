package kubernetes

import (
	"errors"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// The gate came with 1.36, and a newer binary that emulates an older version has none.
func TestFor_ReleaseOnExitIsSetWhereTheReleaseHasTheGate(t *testing.T) {
	const gate = "ControllerManagerReleaseLeaderElectionLockOnExit="
	for name, has := range map[string]bool{
		"v1.34.4": false, "v1.35.4": false, "v1.36.3": true, "v1.37.1": true, "v1.37.1 emulating 1.36": true, "v1.36.3 emulating 1.35": false,
	} {
		release, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for wanted, value := range map[cluster.Switch]string{"": "", cluster.SwitchOn: "true", cluster.SwitchOff: "false"} {
			made, err := release.For(cluster.Settings{LeaderElectReleaseOnExit: wanted})
			if wanted == cluster.SwitchOn && !has {
				if !errors.Is(err, cluster.ErrUnsupported) || !strings.Contains(err.Error(), "use one of v1.36.3, v1.37.1") {
					t.Errorf("%s: error %v", name, err)
				}
				continue
			}
			gates := made.Gates(ControllerManager)
			if err != nil || strings.Contains(gates, gate) != (has && wanted != "") || has && wanted != "" && !strings.HasSuffix(gates, ","+gate+value) {
				t.Errorf("%s, %q: gates %s (%v)", name, wanted, gates, err)
			}
			if strings.Contains(made.Gates(Scheduler)+made.Gates(APIServer), gate) {
				t.Errorf("%s: another binary has the gate", name)
			}
		}
	}
}
