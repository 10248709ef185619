package reference

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestMigrationRate(t *testing.T) {
	for rate, want := range map[float64]string{0: "", 25: "--migration-rate 25", 0.5: "--migration-rate 0.5"} {
		args, err := Args(cluster.ControllerManager, &Site{Settings: cluster.Settings{MigrationRate: rate}}, "1.2")
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(args, " ")
		if strings.Contains(got, "--migration-rate") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("a rate of %v gives %s", rate, got)
		}
	}
}

func TestServerThatIsAlone(t *testing.T) {
	for initial, want := range map[string]bool{"": false, "cp1=https://a": true, "cp1=https://a,cp2=https://b": false} {
		args, err := Args(cluster.APIServer, &Site{InitialCluster: initial}, "1.2")
		if got := strings.Contains(strings.Join(args, " "), "--apiserver-count 1"); err != nil || got != want {
			t.Errorf("with the members %q a server is told to be alone: %v (%v)", initial, got, err)
		}
	}
}

func TestPeerDiscovery(t *testing.T) {
	s := &Site{CAFile: "ca.crt", FrontProxyCAFile: "fp-ca.crt", FrontProxy: Files{Cert: "fp.crt", Key: "fp.key"}, PeerAdvertiseIP: "10.0.0.2"}
	for _, on := range []bool{false, true} {
		s.Settings.PeerDiscovery = on
		args, err := Args(cluster.APIServer, s, "1.2")
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(args, " ") + " "
		for _, want := range []string{
			"--peer-ca-file ca.crt ", "--peer-advertise-ip 10.0.0.2 ", "--proxy-client-cert-file fp.crt ", "--proxy-client-key-file fp.key ",
			"--requestheader-client-ca-file fp-ca.crt ", "--requestheader-allowed-names front-proxy-client ",
		} {
			if strings.Contains(got, want) != on {
				t.Errorf("peer discovery %v: %q is in %s: %v", on, want, got, !on)
			}
		}
	}
}

func TestWithout(t *testing.T) {
	site := &Site{Off: []cluster.Feature{cluster.FeatureStorageVersions}}
	for component, want := range map[cluster.Component]bool{cluster.APIServer: true, cluster.ControllerManager: false} {
		args, err := Args(component, site, "1.2")
		if err != nil || slices.Contains(args, "--storage-version-api=false") != want {
			t.Errorf("the %s is started with %q (%v)", component, args, err)
		}
	}
	// A controller manager without coordination is seen to act all the same.
	coordinated := &Site{Settings: cluster.Settings{CoordinatedLeaderElection: true}}
	for _, off := range [][]cluster.Feature{nil, {cluster.FeatureCoordination}} {
		coordinated.Off = off
		args, err := Args(cluster.ControllerManager, coordinated, "1.2")
		if err != nil || slices.Contains(args, "coordinatedleases") != (off == nil) || !slices.Contains(args, "--leader-evidence") {
			t.Errorf("without %v the controller manager is started with %q (%v)", off, args, err)
		}
	}
}

func TestArgs_HaveTheSettingsOfTheTopology(t *testing.T) {
	elections := cluster.Settings{CoordinatedLeaderElection: true, ExtraElections: 9}
	args, err := Args(cluster.ControllerManager, &Site{Settings: elections}, "1.2")
	if at := slices.Index(args, "--extra-elections"); err != nil || at < 0 || args[at+1] != "9" {
		t.Errorf("with 9 extra elections the controller manager is started with %q (%v)", args, err)
	}
	args, err = Args(cluster.APIServer, &Site{Settings: cluster.Settings{APIServerGates: "A=false"}}, "1.2")
	if at := slices.Index(args, "--feature-gates"); err != nil || at < 0 || args[at+1] != "A=false" {
		t.Errorf("with a gate of the topology's the API server is started with %q (%v)", args, err)
	}
	args, err = Args(cluster.APIServer, &Site{Settings: cluster.Settings{WithoutWatchCache: true}}, "1.2")
	if err != nil || !slices.Contains(args, "--watch-cache=false") {
		t.Errorf("without a cache the API server is started with %q (%v)", args, err)
	}
	args, err = Args(cluster.APIServer, &Site{Settings: cluster.Settings{ShutdownDelayDuration: cluster.Duration(5 * time.Second)}}, "1.2")
	if at := slices.Index(args, "--shutdown-delay-duration"); err != nil || at < 0 || args[at+1] != "5s" {
		t.Errorf("with a shutdown delay the API server is started with %q (%v)", args, err)
	}
}

func TestWithout_TakesEachFeature(t *testing.T) {
	for _, feature := range cluster.Features {
		if _, err := Args(cluster.APIServer, &Site{Off: []cluster.Feature{feature}}, "1.2"); err != nil {
			t.Error(err)
		}
	}
	if _, err := Args(cluster.APIServer, &Site{Off: []cluster.Feature{"gravity"}}, "1.2"); err == nil || !strings.Contains(err.Error(), "gravity") {
		t.Errorf("error %v", err)
	}
}

func TestArgs_HaveWhatIsEmulated(t *testing.T) {
	for _, component := range []cluster.Component{cluster.APIServer, cluster.ControllerManager} {
		for name, want := range map[string]string{
			"1.3":                     "--release 1.3 --hostname",
			"1.3 emulating 1.2":       "--release 1.3 --emulated-version 1.2 --hostname",
			"1.3 compatible with 1.1": "--release 1.3 --min-compatibility-version 1.1 --hostname",
		} {
			args, err := Args(component, &Site{Host: "h"}, name)
			if got := strings.Join(args, " "); err != nil || !strings.Contains(got, want) {
				t.Errorf("the %s at %q gets %s (%v), without %s", component, name, got, err, want)
			}
		}
	}
}

func TestReleaseOnExit(t *testing.T) {
	for wanted, off := range map[cluster.Switch]bool{"": false, cluster.SwitchOn: false, cluster.SwitchOff: true} {
		args, err := Args(cluster.ControllerManager, &Site{Settings: cluster.Settings{LeaderElectReleaseOnExit: wanted}}, "1.2")
		if err != nil || slices.Contains(args, "--leader-elect-release-on-exit=false") != off {
			t.Errorf("%q: the controller manager is started with %q (%v)", wanted, args, err)
		}
	}
}
