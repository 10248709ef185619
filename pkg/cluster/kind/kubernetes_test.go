//go:build linux

package kind

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// Two releases on either side of listArguments.
const oldRelease, newRelease = "v1.35.4", "v1.36.3"

// recordNodes makes records of node images in a cache of the test's own.
func recordNodes(t *testing.T, releases ...string) {
	t.Helper()
	cache := t.TempDir()
	t.Setenv(kubernetes.CacheVariable, cache)
	for _, release := range releases {
		dir := kubernetes.NodeDir(cache, release)
		if err := os.MkdirAll(dir, folderMode); err != nil {
			t.Fatal(err)
		}
		record, err := json.Marshal(kubernetes.Node{Image: "node:" + release, EtcdImageTag: "3.6.8-0", Images: []string{
			"registry.example/kube-apiserver:" + release, "registry.example/kube-controller-manager:" + release,
			"registry.example/kube-scheduler:" + release,
		}})
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{kubernetes.NodeRecord: record, kubernetes.NodeArchive: nil, "kubeadm": nil, "kubelet": nil} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestExtraArgsInBothNotations(t *testing.T) {
	p := &published{settings: cluster.Settings{LeaderElectLeaseDuration: cluster.Duration(15 * time.Second)}}
	for _, tc := range []struct {
		release string
		list    bool
	}{{oldRelease, false}, {newRelease, true}} {
		release, err := kubernetes.Find(tc.release)
		if err != nil {
			t.Fatal(err)
		}
		for _, component := range []cluster.Component{cluster.APIServer, cluster.ControllerManager, cluster.Scheduler} {
			want := p.flags(release, component)
			got := p.extraArgs(release, component)
			if !tc.list {
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %s: %v, want %v", component, tc.release, got, want)
				}
				continue
			}
			read := map[string]string{}
			var order []string
			for _, one := range got.([]map[string]string) {
				if len(one) != 2 {
					t.Errorf("an argument is %v", one)
				}
				read[one["name"]] = one["value"]
				order = append(order, one["name"])
			}
			if !maps.Equal(read, want) || !slices.IsSorted(order) {
				t.Errorf("%s of %s: %v, want %v in order", component, tc.release, got, want)
			}
		}
	}
}

func TestFlagsOfAComponent(t *testing.T) {
	p := &published{settings: cluster.Settings{LeaderElectLeaseDuration: cluster.Duration(15 * time.Second), MigrationRate: 1000}}
	release, err := kubernetes.Find(oldRelease)
	if err != nil {
		t.Fatal(err)
	}
	if flags := p.flags(release, cluster.ControllerManager); flags["kube-api-qps"] != "50" {
		t.Errorf("the controller manager has %v", flags)
	}
	if flags := p.flags(release, cluster.Scheduler); flags["leader-elect-lease-duration"] != "15s" || !strings.Contains(flags["feature-gates"], "CoordinatedLeaderElection=true") {
		t.Errorf("the scheduler has %v", flags)
	}
	if flags := p.flags(release, cluster.APIServer); flags["leader-elect-lease-duration"] != "" || !strings.Contains(flags["runtime-config"], "internal.apiserver.k8s.io/v1alpha1=true") {
		t.Errorf("the API server has %v", flags)
	}
}

func TestConfigureChoosesTheOldestRelease(t *testing.T) {
	engine := useFakeDocker(t)
	recordNodes(t, oldRelease, newRelease)
	members := func(releases ...string) *cluster.Topology {
		topology := &cluster.Topology{}
		for _, release := range releases {
			topology.Spec.Members = append(topology.Spec.Members, cluster.MemberSpec{Name: "cp", Release: release})
		}
		return topology
	}
	for _, tc := range []struct {
		releases []string
		base     string
	}{
		{[]string{newRelease}, newRelease},
		{[]string{newRelease, oldRelease, newRelease}, oldRelease},
		{[]string{oldRelease, newRelease}, oldRelease},
	} {
		p := &published{}
		if err := p.configure(t.Context(), members(tc.releases...), nil); err != nil {
			t.Fatal(err)
		}
		if p.base != tc.base || p.node.Image != "node:"+tc.base {
			t.Errorf("%v begin with %s on %s", tc.releases, p.base, p.node.Image)
		}
	}
	identity := members(oldRelease)
	identity.Spec.Settings.IdentityLeaseDuration = 1
	binaries := members(oldRelease)
	binaries.Spec.Binaries = map[string]string{oldRelease: "/x"}
	for want, topology := range map[string]*cluster.Topology{
		"kube-apiserver has no flags for them":                     identity,
		"spec.binaries cannot be set: kind nodes run images":       binaries,
		"there is no node image of v1.37.1: run `make node-images": members("v1.37.1"),
	} {
		expectError(t, (&published{}).configure(t.Context(), topology, nil), want)
	}
	// What a node is upgraded to needs no node image, unless kubeadm upgrades it.
	cache, err := kubernetes.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kubernetes.NodeDir(cache, newRelease), kubernetes.NodeRecord), []byte(`{"controlPlaneImages":["a:1"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for way, want := range map[string]string{cluster.ReplaceWithStaticPods: "", cluster.ReplaceWithKubeadm: "there is no node image of v1.36.3"} {
		topology := members(oldRelease)
		topology.Spec.ReplaceWith = way
		p := &published{}
		if err := p.configure(t.Context(), topology, nil); err != nil {
			t.Fatal(err)
		}
		if err := p.available(t.Context(), newRelease); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %s: %v, want %q", way, err, want)
		}
	}
	expectError(t, (&published{}).configure(t.Context(), members(newRelease), nil), "there is no node image of v1.36.3")
	engine.fails("image-inspect", "No such image")
	expectError(t, (&published{}).configure(t.Context(), members(oldRelease), nil), "the node image node:v1.35.4 is not there: run `make node-images RELEASES=v1.35.4`")
}

func TestShapeOfKubernetes(t *testing.T) {
	recordNodes(t, oldRelease, newRelease)
	for _, release := range []string{oldRelease, newRelease} {
		node, err := kubernetes.LookUpNode(release)
		if err != nil {
			t.Fatal(err)
		}
		p := &published{base: release, node: node}
		c := newFakeCluster(t, p, 2, nil)
		config := &v1alpha4.Cluster{Nodes: make([]v1alpha4.Node, 2)}
		if _, err := p.shape(c, config); err != nil {
			t.Fatal(err)
		}
		for i, node := range config.Nodes {
			mount := v1alpha4.Mount{HostPath: c.kubeadmPKI(c.members[i]), ContainerPath: "/etc/kubernetes/pki"}
			if node.Image != "node:"+release || !slices.Contains(node.ExtraMounts, mount) {
				t.Errorf("node %d is %+v", i, node)
			}
		}
		patches := map[string]map[string]any{}
		for _, raw := range config.KubeadmConfigPatches {
			var patch map[string]any
			if err := json.Unmarshal([]byte(raw), &patch); err != nil {
				t.Fatal(err)
			}
			patches[patch["kind"].(string)] = patch
		}
		if len(patches) != 4 || patches["KubeletConfiguration"]["fileCheckFrequency"] != "1s" ||
			!slices.Contains(patches["InitConfiguration"]["skipPhases"].([]any), any("preflight")) {
			t.Errorf("the patches are %v", patches)
		}
		for _, kind := range []string{"InitConfiguration", "JoinConfiguration"} {
			if folder := patches[kind]["patches"].(map[string]any)["directory"]; folder != "/evenkeel/patches" {
				t.Errorf("%s takes its patches from %v", kind, folder)
			}
		}
		whole := patches["ClusterConfiguration"]
		if etcd := whole["etcd"].(map[string]any)["local"].(map[string]any); etcd["imageTag"] != "3.6.8-0" {
			t.Errorf("etcd is %v", etcd)
		}
		for _, component := range []string{"apiServer", "controllerManager", "scheduler"} {
			_, isList := whole[component].(map[string]any)["extraArgs"].([]any)
			if isList != (release == newRelease) {
				t.Errorf("%s of %s has %v", component, release, whole[component])
			}
		}
	}
}

// kubeadmPod is what kubeadm could have written for a program.
func kubeadmPod(program string) []byte {
	return []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: " + program + "}\nspec:\n  containers:\n  - name: " + program +
		"\n    image: registry.example/" + program + ":old\n    command: [" + program + ", --keep=1, --feature-gates=Old=true, --leader-elect-lease-duration=1s]\n")
}

func TestPodOfARelease(t *testing.T) {
	recordNodes(t, newRelease)
	p := &published{settings: cluster.Settings{LeaderElectLeaseDuration: cluster.Duration(9 * time.Second)}}
	c := newFakeCluster(t, p, 1, nil)
	m := c.members[0]
	release, err := kubernetes.Find(newRelease)
	if err != nil {
		t.Fatal(err)
	}
	for _, component := range p.components() {
		m.pods[component] = kubeadmPod(binaries[component])
	}
	seen := map[string]bool{}
	for _, component := range p.components() {
		raw, err := p.pod(c, m, component, newRelease)
		if err != nil {
			t.Fatal(err)
		}
		pod, err := parsePod(raw)
		if err != nil {
			t.Fatal(err)
		}
		if count := pod.Annotations[instanceAnnotation]; seen[count] || count == "" {
			t.Errorf("the count %q of the %s is not its own", count, component)
		} else {
			seen[count] = true
		}
		container, program := pod.Spec.Containers[0], binaries[component]
		if component == cluster.Etcd {
			// It stays what it is.
			want := corev1.Container{Name: "etcd", Image: "registry.example/etcd:old", Command: []string{"etcd", "--keep=1", "--feature-gates=Old=true", "--leader-elect-lease-duration=1s"}}
			if !reflect.DeepEqual(container, want) {
				t.Errorf("etcd is %+v", container)
			}
			continue
		}
		if container.Image != "registry.example/"+program+":"+newRelease {
			t.Errorf("the image is %s", container.Image)
		}
		for _, want := range []string{"--keep=1", "--feature-gates=" + release.Gates(program)} {
			if !slices.Contains(container.Command, want) {
				t.Errorf("%s is not in %q", want, container.Command)
			}
		}
		if elected := slices.Contains(container.Command, "--leader-elect-lease-duration=9s"); elected != (component != cluster.APIServer) {
			t.Errorf("the command of the %s is %q", component, container.Command)
		}
	}
	if _, err := p.pod(c, m, cluster.APIServer, oldRelease); err == nil || !strings.Contains(err.Error(), "there is no node image of "+oldRelease) {
		t.Errorf("error %v", err)
	}
	if _, err := p.pod(c, m, cluster.APIServer, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "nothing is known of") {
		t.Errorf("error %v", err)
	}
}

func TestControllersThatRun(t *testing.T) {
	release, err := kubernetes.Find(newRelease)
	if err != nil {
		t.Fatal(err)
	}
	for on, want := range map[bool]string{
		false: "*,bootstrapsigner,tokencleaner,-volumeattributesclass-protection-controller",
		true:  "*,bootstrapsigner,tokencleaner,-volumeattributesclass-protection-controller,-storage-version-migrator-controller",
	} {
		p := &published{settings: cluster.Settings{WorkloadMigrator: on}}
		if got := p.flags(release, cluster.ControllerManager)["controllers"]; got != want {
			t.Errorf("with a migrator of one's own %v: controllers %q, want %q", on, got, want)
		}
		for _, component := range []cluster.Component{cluster.APIServer, cluster.Scheduler} {
			if got := p.flags(release, component)["controllers"]; got != "" {
				t.Errorf("%s is told of controllers: %q", component, got)
			}
		}
	}
}

func TestFlagsOfPeers(t *testing.T) {
	recordNodes(t, "v1.34.4", newRelease)
	p := &published{settings: cluster.Settings{PeerDiscovery: true}}
	release, err := kubernetes.Find(newRelease)
	if err != nil {
		t.Fatal(err)
	}
	const gate = "UnknownVersionInteroperabilityProxy=true"
	if flags := p.flags(release, cluster.APIServer); flags["peer-ca-file"] != "/etc/kubernetes/pki/ca.crt" || !strings.Contains(flags["feature-gates"], gate) {
		t.Errorf("flags %v", flags)
	}
	if flags := p.flags(release, cluster.Scheduler); flags["peer-ca-file"] != "" || strings.Contains(flags["feature-gates"], gate) {
		t.Errorf("flags of the scheduler %v", flags)
	}
	if err := p.available(t.Context(), "v1.34.4"); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("v1.34.4: error %v", err)
	}
}

func TestFlagsOfReleaseOnExit(t *testing.T) {
	recordNodes(t, "v1.35.4", "v1.36.3")
	const gate = "ControllerManagerReleaseLeaderElectionLockOnExit="
	for wanted, want := range map[cluster.Switch]string{"": "", cluster.SwitchOn: gate + "true", cluster.SwitchOff: gate + "false"} {
		p := &published{settings: cluster.Settings{LeaderElectReleaseOnExit: wanted}}
		release, err := kubernetes.Find("v1.36.3")
		if err != nil {
			t.Fatal(err)
		}
		if gates := p.flags(release, cluster.ControllerManager)["feature-gates"]; !strings.HasSuffix(gates, want) || strings.Contains(gates, gate) != (want != "") {
			t.Errorf("%q: gates %s", wanted, gates)
		}
		if err := p.available(t.Context(), "v1.35.4"); errors.Is(err, cluster.ErrUnsupported) != (wanted == cluster.SwitchOn) {
			t.Errorf("%q with v1.35.4: error %v", wanted, err)
		}
	}
}
