// Package kubernetes is what the harness knows of published Kubernetes without
// running it: its releases, how the features under test are switched on in
// each, where their binaries are, and what an API server calls itself.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package kubernetes

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/release"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// The binaries of a release, as Kubernetes calls them.
const (
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// Binaries that make a control plane, beside etcd.
var Binaries = []string{APIServer, ControllerManager, Scheduler}

// Release is one that can be run, with what switches the features on.
type Release struct {
	Name string `yaml:"name"`
	// RuntimeConfig of the API server.
	RuntimeConfig []string `yaml:"runtimeConfig"`
	// FeatureGates to switch on, by binary.
	FeatureGates map[string][]string `yaml:"featureGates"`
	// PeerDiscovery are the API server's feature gates for telling of what peers
	// host (KEP-4020); none where the release cannot do that.
	PeerDiscovery []string `yaml:"peerDiscovery"`
	// ReleaseOnExit is the feature gate of kube-controller-manager by which a leader that is
	// asked to end releases its Lease (KEP-5366); empty where the release has none.
	ReleaseOnExit string `yaml:"releaseOnExit"`
	// MinCompatibilityVersion is whether the binaries have --min-compatibility-version. All
	// have --emulated-version.
	MinCompatibilityVersion bool `yaml:"minCompatibilityVersion"`
	// emulated and compatible are the versions of --emulated-version and
	// --min-compatibility-version; empty leaves the flag out.
	emulated, compatible string
	// off are gates to switch off, by binary.
	off map[string][]string
	// releaseGate is the value of the gate ReleaseOnExit, as a topology sets it; empty leaves
	// the gate at its default.
	releaseGate string
	// apiServerGates are those that a topology adds, and withoutWatchCache is what it has.
	apiServerGates    string
	withoutWatchCache bool
	// shutdownDelay is that of API servers, as a topology sets it; 0 is their own.
	shutdownDelay cluster.Duration
}

//go:embed releases.yaml
var releasesFile []byte

type table struct {
	Etcd string `yaml:"etcd"`
	// Features are the gates of each feature that can be switched off, by binary.
	Features map[cluster.Feature]map[string][]string `yaml:"features"`
	Releases []Release                               `yaml:"releases"`
}

// known reads the table, which ships inside the program: that it can be read
// is for the tests to prove.
var known = sync.OnceValue(func() table {
	var t table
	if err := strictyaml.Decode("releases.yaml", releasesFile, &t); err != nil {
		panic(err)
	}
	return t
})

// EtcdVersion is the etcd that all releases run on.
func EtcdVersion() string { return known().Etcd }

// Releases are the names of those that are known, oldest first.
func Releases() []string {
	names := make([]string, 0, len(known().Releases))
	for _, release := range known().Releases {
		names = append(names, release.Name)
	}
	return names
}

// Find gives what is known of a release. One that emulates an older version gets what
// switches the features on in that version: with --emulated-version the gates and the APIs
// are those of the version that is emulated.
func Find(name string) (Release, error) {
	played := release.Parse(name)
	for _, one := range known().Releases {
		if one.Name != played.Binary {
			continue
		}
		if emulated, ok := ofMinor(played.Emulated); ok {
			one.RuntimeConfig, one.FeatureGates = emulated.RuntimeConfig, emulated.FeatureGates
			one.PeerDiscovery, one.ReleaseOnExit = emulated.PeerDiscovery, emulated.ReleaseOnExit
		}
		one.emulated, one.compatible = played.Emulated, played.Compatible
		return one, one.compatibleProblem()
	}
	return Release{}, fmt.Errorf("nothing is known of the Kubernetes release %q; known are: %s", name, strings.Join(Releases(), ", "))
}

// ofMinor finds the release of a version such as 1.36.
func ofMinor(version string) (Release, bool) {
	for _, one := range known().Releases {
		if minor, err := release.Minor(one.Name); err == nil && minor == version {
			return one, true
		}
	}
	return Release{}, false
}

func (r Release) compatibleProblem() error {
	if r.compatible != "" && !r.MinCompatibilityVersion {
		return fmt.Errorf("the Kubernetes release %s has no --min-compatibility-version: %w", r.Name, cluster.ErrUnsupported)
	}
	return nil
}

// For gives the release as the settings of a topology want it. It is an error that
// wraps cluster.ErrUnsupported where it cannot be so.
func (r Release) For(settings cluster.Settings) (Release, error) {
	r.apiServerGates, r.withoutWatchCache, r.shutdownDelay = settings.APIServerGates, settings.WithoutWatchCache, settings.ShutdownDelayDuration
	r, err := r.releasing(settings.LeaderElectReleaseOnExit)
	if err != nil || !settings.PeerDiscovery {
		return r, err
	}
	return r.withPeers()
}

// Without gives the release with features switched off.
func (r Release) Without(features ...cluster.Feature) (Release, error) {
	off := map[string][]string{}
	for _, feature := range features {
		gates, ok := known().Features[feature]
		if !ok {
			return Release{}, fmt.Errorf("no feature gate of Kubernetes %s switches %q off: %w", r.Name, feature, cluster.ErrUnsupported)
		}
		for binary, names := range gates {
			off[binary] = append(off[binary], names...)
		}
	}
	r.off = off
	return r, nil
}

// AllGates are the Gates of all binaries that have some.
func (r Release) AllGates() map[string]string {
	out := map[string]string{}
	for _, binary := range Binaries {
		if gates := r.Gates(binary); gates != "" {
			out[binary] = gates
		}
	}
	return out
}

// Gates is the value of a binary's --feature-gates, or empty.
func (r Release) Gates(binary string) string {
	gates := make([]string, 0, len(r.FeatureGates[binary]))
	for _, gate := range r.FeatureGates[binary] {
		if !slices.Contains(r.off[binary], gate) {
			gates = append(gates, gate+"=true")
		}
	}
	for _, gate := range r.off[binary] {
		gates = append(gates, gate+"=false")
	}
	if binary == APIServer && r.apiServerGates != "" {
		gates = append(gates, r.apiServerGates)
	}
	if binary == ControllerManager && r.releaseGate != "" {
		gates = append(gates, r.releaseGate)
	}
	return strings.Join(gates, ",")
}
