package local

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// useFolders makes a cache and a state of the test's own. The cache has what
// can be started of the releases, though not run.
func useFolders(t *testing.T, releases ...string) (cache string) {
	t.Helper()
	cache = t.TempDir()
	t.Setenv(kubernetes.CacheVariable, cache)
	t.Setenv(state.RootVariable, t.TempDir())
	fill(t, kubernetes.EtcdDir(cache), "etcd")
	for _, release := range releases {
		fill(t, kubernetes.ReleaseDir(cache, release), kubernetes.Binaries...)
	}
	return cache
}

func fill(t *testing.T, folder string, programs ...string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(folder, program), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func publishedTopology() *cluster.Topology {
	topology := &cluster.Topology{Metadata: cluster.Metadata{Name: "k"}, File: "f.yaml"}
	topology.Spec = cluster.Spec{
		Provider: Name, Distribution: kubernetesName, Release: "v1.35.4",
		Members: []cluster.MemberSpec{{Name: "cp1"}, {Name: "cp2"}},
	}
	return topology
}

func newPublished(t *testing.T, topology *cluster.Topology) *local {
	t.Helper()
	made, err := Provider{}.New(t.Context(), topology, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return made.(*local)
}

func TestPublishedCommands(t *testing.T) {
	cache := useFolders(t, "v1.35.4", "v1.37.1")
	c := newPublished(t, publishedTopology())
	site := c.byName["cp2"].site
	for _, tc := range []struct {
		component     cluster.Component
		release       string
		program, host string
		want          []string
		never         string
	}{
		{cluster.Etcd, "v1.35.4", filepath.Join(kubernetes.EtcdDir(cache), "etcd"), "",
			[]string{"--name=cp2", "--peer-client-cert-auth=true", "--listen-client-urls=" + site.etcdClient.URL(), "--initial-cluster=" + site.initialCluster}, "feature-gates"},
		{cluster.APIServer, "v1.35.4", filepath.Join(kubernetes.ReleaseDir(cache, "v1.35.4"), kubernetes.APIServer), "cp2",
			[]string{"--authorization-mode=RBAC", "--etcd-servers=" + site.etcdProxy.URL(), "--service-account-key-file=" + site.serviceAccountPair.CertFile}, "identity-lease"},
		{cluster.APIServer, "v1.37.1", filepath.Join(kubernetes.ReleaseDir(cache, "v1.37.1"), kubernetes.APIServer), "cp2",
			[]string{"--runtime-config=internal.apiserver.k8s.io/v1alpha1=true,coordination.k8s.io/v1beta1=true,storagemigration.k8s.io/v1beta1=true"}, "admissionregistration.k8s.io"},
		{cluster.ControllerManager, "v1.35.4", filepath.Join(kubernetes.ReleaseDir(cache, "v1.35.4"), kubernetes.ControllerManager), "cp2",
			[]string{"--use-service-account-credentials=true", "--kubeconfig=" + site.controllerKubeconfig, "--leader-elect=true"}, "kube-api-qps"},
		{cluster.Scheduler, "v1.35.4", filepath.Join(kubernetes.ReleaseDir(cache, "v1.35.4"), kubernetes.Scheduler), "cp2",
			[]string{"--feature-gates=CoordinatedLeaderElection=true", "--kubeconfig=" + site.schedulerKubeconfig, "--secure-port=" + site.scheduler.Port()}, "controllers"},
	} {
		t.Run(string(tc.component)+" "+tc.release, func(t *testing.T) {
			line, err := c.distribution.command(tc.component, site, tc.release)
			if err != nil || line.host != tc.host {
				t.Fatalf("%+v (%v)", line, err)
			}
			want := filepath.Base(tc.program)
			if tc.component != cluster.Etcd {
				want += "@cp2"
			}
			if program, err := filepath.EvalSymlinks(line.path); err != nil || program != tc.program || filepath.Base(line.path) != want {
				t.Fatalf("%s is %s (%v), want %s called %s", line.path, program, err, tc.program, want)
			}
			for _, want := range tc.want {
				if !slices.Contains(line.args, want) {
					t.Errorf("%s is missing in %q", want, line.args)
				}
			}
			if strings.Contains(strings.Join(line.args, " "), tc.never) {
				t.Errorf("%q is in %q", tc.never, line.args)
			}
		})
	}
	for release, want := range map[string]string{"v1.36.3": "make binaries RELEASES=v1.36.3", "v1.2.3": "v1.2.3"} {
		if _, err := c.distribution.command(cluster.APIServer, site, release); err == nil {
			t.Errorf("%s can be started", release)
		} else {
			expectError(t, err, want)
		}
	}
	if _, err := c.distribution.command("proxy", site, "v1.35.4"); err == nil {
		t.Error("there is a component that is not known")
	}
}

func TestPublishedPeers(t *testing.T) {
	useFolders(t, "v1.34.4", "v1.35.4")
	topology := publishedTopology()
	topology.Spec.Settings.PeerDiscovery = true
	c := newPublished(t, topology)
	site := c.byName["cp2"].site
	line, err := c.distribution.command(cluster.APIServer, site, "v1.35.4")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--peer-ca-file=" + site.caFile, "--proxy-client-cert-file=" + site.frontProxyPair.CertFile, "--proxy-client-key-file=" + site.frontProxyPair.KeyFile,
		"--requestheader-client-ca-file=" + site.frontProxyCAFile, "--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
	} {
		if !slices.Contains(line.args, want) {
			t.Errorf("%s is missing in %q", want, line.args)
		}
	}
	if !strings.Contains(strings.Join(line.args, " "), "UnknownVersionInteroperabilityProxy=true") {
		t.Errorf("the gate is missing in %q", line.args)
	}
	// kube-apiserver looks for this name in what a peer shows.
	block, _ := pem.Decode(site.apiserverPair.CertPEM)
	if shown, err := x509.ParseCertificate(block.Bytes); err != nil || shown.VerifyHostname("kubernetes.default.svc") != nil || shown.VerifyHostname("127.0.0.1") != nil {
		t.Errorf("a peer would not accept the certificate: %v", err)
	}
	if info, err := os.Stat(site.frontProxyPair.KeyFile); err != nil || info.Mode().Perm() != privateMode {
		t.Errorf("the key: %v, %v", info, err)
	}
	err = c.Prepare(t.Context(), []string{"v1.34.4"})
	if !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("%v is not ErrUnsupported", err)
	}
	expectError(t, err, "the Kubernetes release v1.34.4 cannot tell of what other API servers host")
	topology.Spec.Release = "v1.34.4"
	_, err = Provider{}.New(t.Context(), topology, cluster.Options{})
	expectError(t, err, "f.yaml: the Kubernetes release v1.34.4 cannot tell")
	if without := newPublished(t, publishedTopology()).byName["cp1"].site; without.frontProxyPair.KeyFile != "" {
		t.Error("there is a certificate that no component needs")
	}
}

func TestWorkloadMigrator(t *testing.T) {
	useFolders(t, "v1.35.4")
	for _, on := range []bool{false, true} {
		topology := publishedTopology()
		topology.Spec.Settings.WorkloadMigrator = on
		c := newPublished(t, topology)
		line, err := c.distribution.command(cluster.ControllerManager, c.byName["cp1"].site, "v1.35.4")
		if err != nil {
			t.Fatal(err)
		}
		flags := strings.Join(line.args, " ")
		if strings.Contains(flags, "storage-version-migrator-controller") == on || strings.Contains(flags, "job-controller") != on {
			t.Errorf("with a migrator of one's own %v: %q", on, flags)
		}
	}
	_, err := reference{}.configure(&cluster.Topology{Spec: cluster.Spec{Settings: cluster.Settings{WorkloadMigrator: true}}})
	expectError(t, err, "the reference runs no workloads")
}

func TestPublishedMembers(t *testing.T) {
	useFolders(t, "v1.35.4")
	c := newPublished(t, publishedTopology())
	members := c.Members()
	if len(members) != 2 || len(members[0].Components) != 4 || members[0].ServerID != kubernetes.ServerID("cp1") || members[1].ServerID == members[0].ServerID {
		t.Errorf("members %+v", members)
	}
	for _, m := range c.members {
		for _, file := range []string{m.site.schedulerKubeconfig, m.site.schedulerPair.KeyFile, m.site.serviceAccountPair.KeyFile} {
			info, err := os.Stat(file)
			if err != nil {
				t.Error(err)
			} else if info.Mode().Perm() != privateMode {
				t.Errorf("%s has mode %s", file, info.Mode())
			}
		}
		if m.site.serviceAccountPair.KeyFile != c.members[0].site.serviceAccountPair.KeyFile {
			t.Error("a member does not accept the others' tokens")
		}
	}
	if path := c.distribution.readyPath(cluster.APIServer); path != "/readyz" {
		t.Errorf("an API server is asked at %s", path)
	}
	if path := c.distribution.readyPath(cluster.Scheduler); path != "/healthz" {
		t.Errorf("a scheduler is asked at %s", path)
	}
}

func TestPublishedTopologiesThatCannotBe(t *testing.T) {
	useFolders(t, "v1.35.4")
	own := t.TempDir()
	fill(t, own, kubernetes.APIServer)
	for _, tc := range []struct {
		name        string
		change      func(*cluster.Spec)
		expectError string
	}{
		{"not built", func(s *cluster.Spec) { s.Members[1].Release = "v1.36.3" }, "f.yaml: "},
		{"not built, remedy", func(s *cluster.Spec) { s.Members[1].Release = "v1.36.3" }, "make binaries RELEASES=v1.36.3"},
		{"unknown key", func(s *cluster.Spec) { s.Binaries = map[string]string{"1.35": own} }, `the key "1.35", which is neither "etcd" nor a release`},
		{"half a folder", func(s *cluster.Spec) { s.Binaries = map[string]string{"v1.35.4": own} }, "kube-controller-manager is not there: put it into the folder"},
		{"no etcd in its folder", func(s *cluster.Spec) { s.Binaries = map[string]string{"etcd": own} }, "names for etcd"},
		{"a setting without a flag", func(s *cluster.Spec) { s.Settings.IdentityLeaseDuration = 1 }, "kube-apiserver has no flags for them"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			topology := publishedTopology()
			tc.change(&topology.Spec)
			_, err := Provider{}.New(t.Context(), topology, cluster.Options{})
			expectError(t, err, tc.expectError)
		})
	}
	topology := publishedTopology()
	topology.Spec.Distribution, topology.Spec.Binaries = "reference", map[string]string{"1.2": own}
	if _, err := (reference{}).configure(topology); err == nil {
		t.Error("the reference was given folders")
	}
}

func TestOwnFolder(t *testing.T) {
	useFolders(t, "v1.35.4")
	own := t.TempDir()
	fill(t, own, kubernetes.Binaries...)
	topology := publishedTopology()
	topology.File = filepath.Join(own, "topologies", "f.yaml")
	topology.Spec.Binaries = map[string]string{"v1.35.4": ".."}
	c := newPublished(t, topology)
	line, err := c.distribution.command(cluster.APIServer, c.members[0].site, "v1.35.4")
	if err != nil {
		t.Fatal(err)
	}
	if program, err := filepath.EvalSymlinks(line.path); err != nil || program != filepath.Join(own, kubernetes.APIServer) {
		t.Errorf("%s would run (%v), want that of %s", program, err, own)
	}
}
