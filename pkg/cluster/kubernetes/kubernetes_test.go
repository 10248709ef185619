package kubernetes

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/semver"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestReleasesAreInOrderAndComplete(t *testing.T) {
	names := Releases()
	if len(names) == 0 || !slices.IsSortedFunc(names, semver.Compare) {
		t.Errorf("releases %v", names)
	}
	if !semver.IsValid(EtcdVersion()) {
		t.Errorf("etcd %q", EtcdVersion())
	}
	for _, name := range names {
		release, err := Find(name)
		if err != nil || release.Name != name {
			t.Fatalf("%+v, %v", release, err)
		}
		for _, binary := range Binaries {
			if !strings.Contains(release.Gates(binary), "CoordinatedLeaderElection=true") {
				t.Errorf("%s of %s has the gates %q", binary, name, release.Gates(binary))
			}
		}
		for binary := range release.FeatureGates {
			if !slices.Contains(Binaries, binary) {
				t.Errorf("%s has gates for %q, which is no binary", name, binary)
			}
		}
		// Either half alone keeps a server from ever being ready.
		if !strings.Contains(release.Gates(APIServer), "StorageVersionAPI=true") ||
			!slices.Contains(release.RuntimeConfig, "internal.apiserver.k8s.io/v1alpha1=true") {
			t.Errorf("%s does not serve StorageVersions: %+v", name, release)
		}
	}
	if _, err := Find("v1.2.3"); err == nil || !strings.Contains(err.Error(), names[0]) {
		t.Errorf("error %v", err)
	}
}

func TestAllGates(t *testing.T) {
	release, err := Find("v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	all := release.AllGates()
	if len(all) != len(Binaries) || all[Scheduler] != "CoordinatedLeaderElection=true" || all[APIServer] != release.Gates(APIServer) {
		t.Errorf("gates %v", all)
	}
}

func TestReleasesWithPeers(t *testing.T) {
	const gate = "UnknownVersionInteroperabilityProxy=true"
	for _, name := range Releases() {
		release, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		with, err := release.For(cluster.Settings{PeerDiscovery: true})
		if can := semver.Compare(name, "v1.35") > 0; !can {
			if !errors.Is(err, cluster.ErrUnsupported) || !strings.Contains(err.Error(), "release "+name+" cannot tell of what other API servers host") || !strings.Contains(err.Error(), "use one of v1.35.4,") {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil || !strings.HasSuffix(with.Gates(APIServer), ","+gate) || strings.Contains(with.Gates(ControllerManager), gate) {
			t.Errorf("%s with peers has the gates %q (%v)", name, with.Gates(APIServer), err)
		}
		if again, _ := Find(name); strings.Contains(again.Gates(APIServer), gate) || strings.Contains(release.Gates(APIServer), gate) {
			t.Errorf("%s has the gate without peers", name)
		}
	}
}

func TestTopologiesAddGatesOfAPIServers(t *testing.T) {
	release, err := Find(Releases()[0])
	if err != nil {
		t.Fatal(err)
	}
	with, err := release.For(cluster.Settings{APIServerGates: "A=false"})
	if err != nil || with.Gates(APIServer) != release.Gates(APIServer)+",A=false" || with.Gates(Scheduler) != release.Gates(Scheduler) {
		t.Errorf("%q (%v)", with.Gates(APIServer), err)
	}
}

func TestTopologiesDoWithoutWatchCaches(t *testing.T) {
	release, err := Find(Releases()[0])
	if err != nil {
		t.Fatal(err)
	}
	without, err := release.For(cluster.Settings{WithoutWatchCache: true})
	if err != nil || without.Flags(APIServer)["watch-cache"] != "false" || without.Flags(ControllerManager)["watch-cache"] != "" || release.Flags(APIServer)["watch-cache"] != "" {
		t.Errorf("%v, as it is %v (%v)", without.Flags(APIServer), release.Flags(APIServer), err)
	}
}

func TestTopologiesDelayTheShutdown(t *testing.T) {
	release, err := Find(Releases()[0])
	if err != nil {
		t.Fatal(err)
	}
	const flag = "shutdown-delay-duration"
	delayed, err := release.For(cluster.Settings{ShutdownDelayDuration: cluster.Duration(5 * time.Second)})
	if err != nil || delayed.Flags(APIServer)[flag] != "5s" || delayed.Flags(Scheduler)[flag] != "" || release.Flags(APIServer)[flag] != "" {
		t.Errorf("%v, as it is %v (%v)", delayed.Flags(APIServer), release.Flags(APIServer), err)
	}
}

func TestWithout(t *testing.T) {
	for _, name := range Releases() {
		release, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := release.Without(cluster.FeatureAggregatedDiscovery); !errors.Is(err, cluster.ErrUnsupported) {
			t.Errorf("%s has no gate of aggregated discovery, and says %v", name, err)
		}
		for _, feature := range []cluster.Feature{cluster.FeatureStorageVersions, cluster.FeatureCoordination} {
			off, err := release.Without(feature)
			if err != nil || off.Gates(APIServer) == release.Gates(APIServer) {
				t.Errorf("%s without %s has the gates %q (%v)", name, feature, off.Gates(APIServer), err)
			}
		}
		off, err := release.Without(cluster.FeatureStorageVersions)
		if gates := off.Gates(APIServer); err != nil || !strings.Contains(gates, "StorageVersionAPI=false") || strings.Contains(gates, "StorageVersionAPI=true") {
			t.Errorf("the gates are %q (%v)", gates, err)
		}
		if off.Gates(ControllerManager) != release.Gates(ControllerManager) {
			t.Error("the collector is switched off too")
		}
		if release.Gates(APIServer) == off.Gates(APIServer) {
			t.Error("the release itself has changed")
		}
	}
	if _, err := (Release{}).Without("gravity"); err == nil || !strings.Contains(err.Error(), "gravity") {
		t.Errorf("error %v", err)
	}
}

// The expectation is what a kube-apiserver v1.35.4 called itself on a host of
// the name.
func TestServerID(t *testing.T) {
	if got, want := ServerID("cp1"), "apiserver-j6fw5vwdh4fr5uizaw6kujejnq"; got != want {
		t.Errorf("ServerID = %s, want %s", got, want)
	}
}

func TestLookUp(t *testing.T) {
	cache, own := t.TempDir(), t.TempDir()
	t.Setenv(CacheVariable, cache)
	program := func(path string, mode os.FileMode) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cached := program(filepath.Join(ReleaseDir(cache, "v1.35.4"), APIServer), 0o700)
	patched := program(filepath.Join(own, APIServer), 0o700)
	program(filepath.Join(own, Scheduler), 0o600)
	etcd := program(filepath.Join(EtcdDir(cache), "etcd"), 0o700)

	named := map[string]string{"v1.36.3": own}
	for _, tc := range []struct{ name, binary, release, want, expectError string }{
		{"from the cache", APIServer, "v1.35.4", cached, ""},
		{"from the folder", APIServer, "v1.36.3", patched, ""},
		{"not built", APIServer, "v1.34.4", "", "is not there: run `make binaries RELEASES=v1.34.4`"},
		{"not in the folder", ControllerManager, "v1.36.3", "", "put it into the folder that spec.binaries names for v1.36.3"},
		{"no program", Scheduler, "v1.36.3", "", "kube-scheduler cannot be run"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := LookUp(tc.binary, tc.release, named)
			check(t, got, err, tc.want, tc.expectError)
		})
	}
	got, err := LookUpEtcd(nil)
	check(t, got, err, etcd, "")
	_, err = LookUpEtcd(map[string]string{"etcd": own})
	check(t, "", err, "", "names for etcd")
	t.Setenv(CacheVariable, t.TempDir())
	_, err = LookUpEtcd(nil)
	check(t, "", err, "", "run `make binaries`")
}

func check(t *testing.T, got string, err error, want, expectError string) {
	t.Helper()
	switch {
	case expectError != "":
		if err == nil || !strings.Contains(err.Error(), expectError) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one with %q", err, expectError)
		}
	case err != nil || got != want:
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestCacheDirWithoutItsVariable(t *testing.T) {
	t.Setenv(CacheVariable, "")
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	if got, err := CacheDir(); err != nil || got != "/somewhere/evenkeel" {
		t.Errorf("%s (%v)", got, err)
	}
}

func TestMigratorTakesTheLimitOfTheTopology(t *testing.T) {
	if flags := MigratorFlags(cluster.Settings{}); len(flags) > 0 {
		t.Errorf("without a limit of the topology's there are %v", flags)
	}
	if flags := MigratorFlags(cluster.Settings{MigrationRate: 25}); flags["kube-api-qps"] != "1.25" {
		t.Errorf("there are %v", flags)
	}
}

// With --emulated-version the APIs and gates are those of the version that is emulated.
func TestFind_EmulatingHasTheSwitchesOfTheEmulatedVersion(t *testing.T) {
	older, err := Find("v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	emulating, err := Find("v1.37.1 emulating 1.36")
	if err != nil || emulating.Name != "v1.37.1" {
		t.Fatalf("%+v, %v", emulating, err)
	}
	for _, binary := range Binaries {
		got, want := emulating.Flags(binary), older.Flags(binary)
		if got["emulated-version"] != "1.36" || want["emulated-version"] != "" {
			t.Errorf("%s emulates %q, and without it %q", binary, got["emulated-version"], want["emulated-version"])
		}
		if got["feature-gates"] != want["feature-gates"] || got["runtime-config"] != want["runtime-config"] {
			t.Errorf("%s has %v, want the switches of %v", binary, got, want)
		}
	}
	if own, err := Find("v1.37.1"); err != nil || own.Flags(APIServer)["runtime-config"] == emulating.Flags(APIServer)["runtime-config"] {
		t.Errorf("what v1.37.1 emulates changes none of its APIs (%v)", err)
	}
}

func TestFind_KnowsWhichReleasesHaveACompatibilityVersion(t *testing.T) {
	if got, err := Find("v1.36.3 compatible with 1.34"); err != nil || got.Flags(APIServer)["min-compatibility-version"] != "1.34" {
		t.Errorf("%v, %v", got.Flags(APIServer), err)
	}
	if _, err := Find("v1.34.4 compatible with 1.33"); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}
