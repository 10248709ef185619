//go:build linux

package kind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kind "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/kind/archive"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// reference is the control plane of this repository as static Pods on nodes
// that kind has made and nothing has set up: no Kubernetes runs beside it.
type reference struct {
	binary        refplane.Binary
	image         string // its name, once the archive is made
	node          string // the node image
	names         []string
	uncoordinated refplane.Uncoordinated
	planted       map[cluster.Component][]string
}

func findReference(ctx context.Context) (distribution, error) {
	found, err := refplane.Find(ctx)
	if err != nil {
		return nil, err
	}
	binary := refplane.Binary{Path: found}
	uncoordinated, err := binary.Uncoordinated(ctx)
	return &reference{binary: binary, uncoordinated: uncoordinated}, err
}

func (r *reference) lacks(component cluster.Component, release string) []cluster.Feature {
	return r.uncoordinated.Lacks(component, release)
}

func (*reference) components() []cluster.Component { return refplane.Components }

func (r *reference) programs() []agent.Component { return agent.Reference() }

func (r *reference) releases(ctx context.Context) ([]string, error) {
	var err error
	if r.names == nil {
		r.names, err = r.binary.Releases(ctx)
	}
	return r.names, err
}

func (r *reference) defects(ctx context.Context) ([]cluster.Defect, error) {
	return r.binary.Defects(ctx)
}

func (*reference) serverID(member, _ string) string { return refplane.ServerID(member) }

func (*reference) readyPath() string { return refplane.ReadyPath + "?verbose" }

// configure: the nodes are those of any release of Kubernetes, of which only the
// kubelet runs.
func (r *reference) configure(ctx context.Context, topology *cluster.Topology, defects []string) error {
	if len(topology.Spec.Binaries) > 0 {
		return fmt.Errorf("spec.binaries cannot be set: the reference is one binary, which %s names", refplane.Variable)
	}
	if topology.Spec.Settings.WorkloadMigrator {
		return errors.New("spec.settings.workloadMigrator cannot be set: the reference runs no workloads, its controller manager migrates by itself")
	}
	if err := checkShutdown(topology.Spec.Settings); err != nil {
		return err
	}
	if topology.Spec.ReplaceWith == cluster.ReplaceWithKubeadm {
		return fmt.Errorf("spec.replaceWith cannot be %s: the reference is no Kubernetes", cluster.ReplaceWithKubeadm)
	}
	if err := r.checkBinary(); err != nil {
		return err
	}
	known, err := r.defects(ctx)
	if err != nil {
		return err
	}
	if r.planted, err = refplane.Plant(known, defects); err != nil {
		return err
	}
	releases := kubernetes.Releases()
	slices.Reverse(releases)
	for _, release := range releases {
		if node, err := bootable(ctx, release); err == nil {
			r.node = node.Image
			return nil
		}
	}
	return fmt.Errorf("the reference needs the node image of any release of Kubernetes: run `make node-images RELEASES=%s`", releases[0])
}

func (r *reference) checkBinary() error {
	file, err := os.Open(r.binary.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := agent.CheckStatic(file); err != nil {
		return fmt.Errorf("%s: %w", r.binary.Path, err)
	}
	return nil
}

// available: the one binary plays them all.
func (*reference) available(context.Context, string) error { return nil }

func (*reference) equip(*kindCluster, *member) error { return nil }

func (r *reference) shape(c *kindCluster, config *v1alpha4.Cluster) ([]kind.CreateOption, error) {
	for i := range config.Nodes {
		config.Nodes[i].Image = r.node
	}
	return []kind.CreateOption{kind.CreateWithStopBeforeSettingUpKubernetes(true)}, nil
}

// begin sets the nodes up and starts all members.
func (r *reference) begin(ctx context.Context, c *kindCluster) error {
	image, err := r.pack(c)
	if err != nil {
		return fmt.Errorf("cannot make the image of the reference: %w", err)
	}
	err = together(ctx, c.members, func(ctx context.Context, m *member) error {
		if err := r.certify(c, m); err != nil {
			return fmt.Errorf("cannot write certificates: %w", err)
		}
		if err := c.awaitBoot(ctx, m); err != nil {
			return err
		}
		if err := r.loneKubelet(ctx, c, m); err != nil {
			return fmt.Errorf("setting up the kubelet of %s: %w", m.name, err)
		}
		return c.importImages(ctx, m, image)
	})
	if err != nil {
		return err
	}
	return c.bringAll(ctx, c.members)
}

// program is where the image has the binary, and what it is called.
const program = agent.ReferenceProgram

// pack makes the image of the binary, named after its content.
func (r *reference) pack(c *kindCluster) (string, error) {
	binary, err := os.Open(r.binary.Path)
	if err != nil {
		return "", err
	}
	defer binary.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, binary); err != nil {
		return "", err
	}
	r.image = "evenkeel.dev/" + program + ":" + hex.EncodeToString(sum.Sum(nil)[:6])
	path := filepath.Join(c.imageDir(), program+".tar")
	into, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, privateMode)
	if err != nil {
		return "", err
	}
	err = archive.Write(into, r.image, map[string]string{"/" + program: r.binary.Path}, []string{"/" + program})
	if closing := into.Close(); err == nil {
		err = closing
	}
	return path, err
}

func (*reference) keys() agent.Keys {
	files := func(name string) agent.KeyFiles {
		return agent.KeyFiles{Cert: inNode(name + ".crt"), Key: inNode(name + ".key")}
	}
	return agent.Keys{
		Etcd: files("etcd"), EtcdClient: files("etcd-client"), EtcdAuthority: inNode("etcd-ca.crt"),
		APIServer: files("apiserver"), Authority: inNode("ca.crt"),
		Callers: []agent.Caller{{Component: cluster.ControllerManager, Kubeconfig: inNode("controller-manager.kubeconfig")}},
	}
}

// secrets: all keys are of our making, and kind leaves its configuration of kubeadm on
// nodes on which that is never run.
func (*reference) secrets() []string { return []string{kubeadmConfig} }

// inNode is where a node has a file of the shared folder.
func inNode(name string) string { return filepath.Join(agent.Shared, "pki", name) }

// frontProxy is what the files are called by which an API server is known to its
// peers.
const frontProxy = "front-proxy"

// certify writes what the member's components need to trust each other.
func (r *reference) certify(c *kindCluster, m *member) error {
	dir := filepath.Join(m.shared, "pki")
	server := pki.Subject{Server: true, Hosts: []string{m.address, m.host}}
	type wanted struct {
		file string
		by   *pki.Authority
		whom pki.Subject
	}
	all := []wanted{
		{"etcd", c.etcdAuthority, named(server, m.name)},
		{"etcd-client", c.etcdAuthority, pki.Subject{Name: m.serverID}},
		{"apiserver", c.authority, named(server, m.serverID)},
		{"controller-manager", c.authority, named(server, "controller-manager-"+m.name)},
	}
	if settings := c.topology.Spec.Settings; settings.PeerDiscovery || settings.AggregatedServers {
		all = append(all, wanted{frontProxy, c.frontProxyAuthority, pki.Subject{Name: pki.FrontProxy}})
	}
	for _, one := range all {
		pair, err := one.by.Issue(m.name+"-"+one.file, one.whom)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, one.file+".crt"), pair.CertPEM); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, one.file+".key"), pair.KeyPEM); err != nil {
			return err
		}
	}
	if err := writeFile(filepath.Join(dir, "ca.crt"), c.authority.PEM()); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, frontProxy+"-ca.crt"), c.frontProxyAuthority.PEM()); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "etcd-ca.crt"), c.etcdAuthority.PEM()); err != nil {
		return err
	}
	const user = "system:kube-controller-manager"
	client, err := c.authority.Issue(m.name+"-controller-manager-client", pki.Subject{Name: user})
	if err != nil {
		return err
	}
	return pki.WriteKubeconfig(filepath.Join(dir, "controller-manager.kubeconfig"), c.authority, user, client,
		pki.Endpoint{Name: m.name, URL: fmt.Sprintf("https://%s:%d", m.address, apiserverPort)})
}

func named(subject pki.Subject, name string) pki.Subject {
	subject.Name = name
	return subject
}

// loneKubelet makes the node's kubelet run static Pods and know no API server.
func (r *reference) loneKubelet(ctx context.Context, c *kindCluster, m *member) error {
	node, err := c.node(m)
	if err != nil {
		return err
	}
	config := KubeletPatch()
	for key, value := range map[string]any{
		"apiVersion":                  "kubelet.config.k8s.io/v1beta1",
		"staticPodPath":               manifests,
		"containerRuntimeEndpoint":    "unix:///run/containerd/containerd.sock",
		"cgroupDriver":                "systemd",
		"cgroupRoot":                  "/kubelet",
		"failSwapOn":                  false,
		"enableServer":                false,
		"authentication":              map[string]any{"anonymous": map[string]any{"enabled": true}, "webhook": map[string]any{"enabled": false}},
		"authorization":               map[string]any{"mode": "AlwaysAllow"},
		"imageGCHighThresholdPercent": 100,
		"evictionHard":                map[string]string{"nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%"},
	} {
		config[key] = value
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	for path, content := range map[string]string{
		"/var/lib/kubelet/config.yaml":                                   string(raw),
		"/etc/systemd/system/kubelet.service.d/30-evenkeel-nobodys.conf": "[Service]\nEnvironment=KUBELET_KUBECONFIG_ARGS=\n",
	} {
		if err := explain(nodeutils.WriteFile(node, path, content)); err != nil {
			return err
		}
	}
	// Images are imported next: on a busy machine the container runtime may still be
	// on its way, and starting what is being started waits for that.
	return c.run(ctx, m, "sh", "-c", "mkdir -p "+manifests+" && systemctl daemon-reload && systemctl start containerd && systemctl restart kubelet")
}

// awaitKubelet implements distribution: a kubelet that knows no API server waits for none.
func (*reference) awaitKubelet(context.Context, *kindCluster, *member, time.Time) error { return nil }

// supply: the image plays every release.
func (*reference) supply(context.Context, *kindCluster, *member, string) error { return nil }

// dataDir is where a node keeps etcd's data; /var is a volume of the node.
const dataDir = "/var/lib/evenkeel-etcd"

func (r *reference) pod(c *kindCluster, m *member, component cluster.Component, release string) ([]byte, error) {
	arguments, err := refplane.Args(component, r.site(c, m, component), release)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.puts++
	count := m.puts
	m.mu.Unlock()
	volume := func(name, path string, kind corev1.HostPathType) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}}
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: string(component), Namespace: metav1.NamespaceSystem,
			Labels: map[string]string{"component": string(component), "tier": "control-plane"},
		},
		Spec: corev1.PodSpec{
			HostNetwork:                   true,
			TerminationGracePeriodSeconds: ptr.To(int64(stopGrace.Seconds())),
			Containers: []corev1.Container{{
				Name: string(component), Image: r.image, ImagePullPolicy: corev1.PullNever,
				Command: append([]string{"/" + program}, arguments...),
				VolumeMounts: []corev1.VolumeMount{
					{Name: "pki", MountPath: inNode(""), ReadOnly: true},
					{Name: "data", MountPath: dataDir},
				},
			}},
			Volumes: []corev1.Volume{
				volume("pki", inNode(""), corev1.HostPathDirectory),
				volume("data", dataDir, corev1.HostPathDirectoryOrCreate),
			},
		},
	}
	pod.Annotations = map[string]string{}
	raw, err := another(pod, count)
	if err != nil {
		return nil, err
	}
	return raw, yaml.Unmarshal(raw, &corev1.Pod{})
}

func (r *reference) site(c *kindCluster, m *member, component cluster.Component) *refplane.Site {
	files := func(name string) refplane.Files {
		return refplane.Files{Cert: inNode(name + ".crt"), Key: inNode(name + ".key")}
	}
	var peers []string
	for _, one := range c.members {
		peers = append(peers, fmt.Sprintf("%s=https://%s:2380", one.name, one.address))
	}
	return &refplane.Site{
		Cluster: c.id(), Member: m.name, ServerID: m.serverID, Host: m.host,
		BindAddress: "0.0.0.0", DataDir: dataDir, InitialCluster: strings.Join(peers, ","),
		EtcdClientURL:     fmt.Sprintf("https://0.0.0.0:%d", etcdPort),
		EtcdPeerListenURL: fmt.Sprintf("https://%s:2380", m.address),
		EtcdPeerURL:       fmt.Sprintf("https://%s:2380", m.address),
		// By the loopback, where the agent carries the link.
		EtcdServers:   local(etcdPort),
		APIServerPort: fmt.Sprint(apiserverPort), ControllerManagerPort: fmt.Sprint(agent.ControllerManagerPort),
		CAFile: inNode("ca.crt"), EtcdCAFile: inNode("etcd-ca.crt"), FrontProxyCAFile: inNode(frontProxy + "-ca.crt"),
		Kubeconfig: inNode("controller-manager.kubeconfig"),
		Etcd:       files("etcd"), EtcdClient: files("etcd-client"),
		APIServer: files("apiserver"), ControllerManager: files("controller-manager"),
		FrontProxy: files(frontProxy), PeerAdvertiseIP: m.address,
		Settings: c.topology.Spec.Settings, Planted: r.planted, Off: m.lacks(component),
	}
}
