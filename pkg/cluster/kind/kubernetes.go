//go:build linux

package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kind "sigs.k8s.io/kind/pkg/cluster"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/kind/ownname"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
	releases "github.com/evenkeel/evenkeel/pkg/release"
)

// published is Kubernetes as its releases are published, set up by kubeadm.
type published struct {
	settings cluster.Settings
	// replaceWith is the topology's.
	replaceWith string
	// base is the release that kubeadm sets all members up with.
	base string
	node kubernetes.Node
}

func (*published) components() []cluster.Component { return agent.KubernetesComponents }

// binaries names the components as kubeadm does: their static Pods, their
// containers and their programs.
var binaries = agent.KubernetesPrograms

func (p *published) programs() []agent.Component { return agent.Kubernetes() }

// replaced are the components that change with the release of a member.
var replaced = []cluster.Component{cluster.APIServer, cluster.ControllerManager, cluster.Scheduler}

// keys are where kubeadm and the kubelet keep them. The kubelet asks its own
// node's API server too, since v1.33 by default, and is never hit.
func (*published) keys() agent.Keys {
	const folder = "/etc/kubernetes/"
	files := func(name string) agent.KeyFiles {
		return agent.KeyFiles{Cert: folder + "pki/" + name + ".crt", Key: folder + "pki/" + name + ".key"}
	}
	const kubelet = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	return agent.Keys{
		Etcd: files("etcd/server"), EtcdClient: files("apiserver-etcd-client"), EtcdAuthority: folder + "pki/etcd/ca.crt",
		APIServer: files("apiserver"), Authority: folder + "pki/ca.crt",
		Callers: []agent.Caller{
			{Component: cluster.ControllerManager, Kubeconfig: folder + "controller-manager.conf"},
			{Component: cluster.Scheduler, Kubeconfig: folder + "scheduler.conf"},
			{Component: "kubelet", Files: agent.KeyFiles{Cert: kubelet, Key: kubelet}},
			{Component: "administrator", Kubeconfig: folder + "admin.conf"},
		},
	}
}

// secrets are where kubeadm and the kubelet keep them, and the tokens by which nodes
// join. The folder of keys is named by itself too: it is mounted into the other one.
func (*published) secrets() []string {
	return []string{kubeadmConfig, "/etc/kubernetes", "/etc/kubernetes/pki", "/var/lib/kubelet/pki"}
}

func (*published) releases(context.Context) ([]string, error) { return kubernetes.Releases(), nil }

// defects cannot be planted in what others have built.
func (*published) defects(context.Context) ([]cluster.Defect, error) { return nil, nil }

// serverID follows from the host name.
// lacks: all releases of Kubernetes that can be run know all features.
func (*published) lacks(cluster.Component, string) []cluster.Feature { return nil }

func (*published) serverID(_, host string) string { return kubernetes.ServerID(host) }

func (*published) readyPath() string { return "/readyz?verbose" }

func (p *published) configure(ctx context.Context, topology *cluster.Topology, _ []string) error {
	settings := topology.Spec.Settings
	if settings.IdentityLeaseDuration != 0 || settings.IdentityLeaseRenewInterval != 0 {
		return fmt.Errorf("spec.settings.identityLeaseDuration and identityLeaseRenewInterval cannot be set: kube-apiserver has no flags for them")
	}
	if err := checkShutdown(settings); err != nil {
		return err
	}
	if len(topology.Spec.Binaries) > 0 {
		return fmt.Errorf("spec.binaries cannot be set: kind nodes run images; the local provider runs binaries")
	}
	p.settings, p.replaceWith = settings, topology.Spec.ReplaceWith
	for _, member := range topology.Spec.Members {
		release := topology.ReleaseOf(member)
		if err := p.available(ctx, release); err != nil {
			return err
		}
		// kubeadm sets all members up with one release, and goes up from there.
		if binary := releases.Binary(release); p.base == "" || semver.Compare(binary, p.base) < 0 {
			p.base = binary
		}
	}
	var err error
	p.node, err = bootable(ctx, p.base)
	return err
}

// available looks for what a node that runs another release is given.
func (p *published) available(_ context.Context, release string) error {
	if p.settings.PeerDiscovery || p.settings.LeaderElectReleaseOnExit == cluster.SwitchOn {
		known, err := kubernetes.Find(release)
		if err == nil {
			_, err = known.For(p.settings)
		}
		if err != nil {
			return err
		}
	}
	look := kubernetes.LookUpImages
	if p.replaceWith == cluster.ReplaceWithKubeadm {
		look = kubernetes.LookUpNode
	}
	_, err := look(release)
	return err
}

// bootable finds the node image of a release. It also asks whether the engine still has
// it: records outlive what they tell of.
func bootable(ctx context.Context, release string) (kubernetes.Node, error) {
	node, err := kubernetes.LookUpNode(release)
	if err != nil {
		return kubernetes.Node{}, err
	}
	if _, err := docker(ctx, "image", "inspect", "--format", "{{.Id}}", node.Image); err != nil {
		return kubernetes.Node{}, fmt.Errorf("the node image %s is not there: run `make node-images RELEASES=%s` (%w)", node.Image, release, err)
	}
	return node, nil
}

// equip gives kubeadm the authorities that we know already, and has it give the
// components names that tell the host; it makes all else.
func (*published) equip(c *kindCluster, m *member) error {
	for _, component := range replaced {
		name := binaries[component]
		patch, err := ownname.Patch(name, m.host, agentProgram)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(m.shared, patches, name+namingPatch), patch); err != nil {
			return err
		}
	}
	for name, authority := range map[string]authority{"ca": c.authority, "etcd/ca": c.etcdAuthority} {
		key, err := authority.KeyPEM()
		if err != nil {
			return err
		}
		for suffix, content := range map[string][]byte{".crt": authority.PEM(), ".key": key} {
			if err := writeFile(filepath.Join(c.kubeadmPKI(m), name+suffix), content); err != nil {
				return err
			}
		}
	}
	return nil
}

type authority interface {
	PEM() []byte
	KeyPEM() ([]byte, error)
}

// kubeadmPKI is the folder that a member's kubeadm keeps certificates in.
func (c *kindCluster) kubeadmPKI(m *member) string { return filepath.Join(c.entry.Dir, "pki", m.name) }

func (p *published) shape(c *kindCluster, config *v1alpha4.Cluster) ([]kind.CreateOption, error) {
	for i, m := range c.members {
		config.Nodes[i].Image = p.node.Image
		config.Nodes[i].ExtraMounts = append(config.Nodes[i].ExtraMounts,
			v1alpha4.Mount{HostPath: c.kubeadmPKI(m), ContainerPath: "/etc/kubernetes/pki"})
	}
	release, err := kubernetes.Find(p.base)
	if err != nil {
		return nil, err
	}
	patched := map[string]any{"directory": path.Join(agent.Shared, patches)}
	for _, patch := range []map[string]any{
		{
			"kind": "InitConfiguration",
			// What ordinary Pods would need is of no use here.
			"skipPhases": []string{"preflight", "addon/coredns", "addon/kube-proxy"},
			"patches":    patched,
		},
		{"kind": "JoinConfiguration", "patches": patched},
		{
			"kind":              "ClusterConfiguration",
			"etcd":              map[string]any{"local": map[string]any{"imageTag": p.node.EtcdImageTag}},
			"apiServer":         map[string]any{"extraArgs": p.extraArgs(release, cluster.APIServer)},
			"controllerManager": map[string]any{"extraArgs": p.extraArgs(release, cluster.ControllerManager)},
			"scheduler":         map[string]any{"extraArgs": p.extraArgs(release, cluster.Scheduler)},
		},
		KubeletPatch(),
	} {
		raw, err := json.Marshal(patch)
		if err != nil {
			return nil, err
		}
		config.KubeadmConfigPatches = append(config.KubeadmConfigPatches, string(raw))
	}
	return nil, nil
}

// patches is the folder, in the one that node and harness share, of what kubeadm is to
// change in the static Pods that it writes; it goes by the ends of the files' names.
const (
	patches       = "patches"
	namingPatch   = "+strategic.json"
	commandsPatch = "+json.json"
)

// kubeadmCA is where a node has the authority of all API servers.
const kubeadmCA = "/etc/kubernetes/pki/ca.crt"

// gates of a release; none if it cannot be run as the topology wants it.
func (p *published) gates(name string) map[string]string {
	release, err := kubernetes.Find(name)
	if err == nil {
		release, err = release.For(p.settings)
	}
	if err != nil {
		return nil
	}
	return release.AllGates()
}

// flags of a component at a release.
func (p *published) flags(release kubernetes.Release, component cluster.Component) map[string]string {
	// available has refused the releases that cannot.
	release, _ = release.For(p.settings)
	flags := release.Flags(binaries[component])
	if component == cluster.APIServer && p.settings.PeerDiscovery {
		// Everything else that it takes kubeadm sets of its own accord.
		flags["peer-ca-file"] = kubeadmCA
	}
	if component != cluster.APIServer {
		maps.Copy(flags, kubernetes.ElectionFlags(p.settings))
	}
	if component == cluster.ControllerManager {
		flags["controllers"] = kubernetes.Controllers(p.settings)
		maps.Copy(flags, kubernetes.MigratorFlags(p.settings))
	}
	return flags
}

// listArguments is the first release for which kind writes the kubeadm
// configuration that has arguments as a list.
const listArguments = "v1.36"

// extraArgs are the flags in the notation of the release's kubeadm.
func (p *published) extraArgs(release kubernetes.Release, component cluster.Component) any {
	flags := p.flags(release, component)
	if semver.Compare(semver.MajorMinor(release.Name), listArguments) < 0 {
		return flags
	}
	var list []map[string]string
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		list = append(list, map[string]string{"name": name, "value": flags[name]})
	}
	return list
}

// at is a release as the member's component runs it: without what is switched off there.
func (m *member) at(component cluster.Component, name string) (kubernetes.Release, error) {
	release, err := kubernetes.Find(name)
	if err != nil {
		return kubernetes.Release{}, err
	}
	return release.Without(m.lacks(component)...)
}

// begin takes over what kubeadm has set up.
func (p *published) begin(ctx context.Context, c *kindCluster) error {
	err := together(ctx, c.members, func(ctx context.Context, m *member) error {
		m.imported = []string{p.base}
		if err := p.adopt(ctx, m); err != nil {
			return err
		}
		for _, component := range p.components() {
			if err := c.awaitReady(ctx, m, component); err != nil {
				return err
			}
		}
		return p.awaitKubelet(ctx, c, m, time.Time{})
	})
	if err != nil {
		return err
	}
	if p.settings.WorkloadMigrator {
		if err := p.supplyMigrator(ctx, c); err != nil {
			return err
		}
	}
	for _, m := range c.members {
		if m.release == p.base {
			continue
		}
		if err := c.stopAll(ctx, m); err != nil {
			return err
		}
		if err := c.startAll(ctx, []*member{m}, map[string]string{m.name: m.release}); err != nil {
			return err
		}
	}
	return nil
}

// awaitKubelet implements distribution: a kubelet of Kubernetes asks its API server.
func (p *published) awaitKubelet(ctx context.Context, c *kindCluster, m *member, since time.Time) error {
	return c.awaitMirror(ctx, m, since)
}

// adopt reads the static Pods that kubeadm has written.
func (p *published) adopt(ctx context.Context, m *member) error {
	for _, component := range p.components() {
		raw, err := m.agent.Manifest(ctx, component)
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.pods[component] = raw
		m.mu.Unlock()
	}
	return nil
}

// supplyMigrator gives all nodes the image that a migrator is installed from, which is
// that of the reference: there is no registry to pull it from.
func (p *published) supplyMigrator(ctx context.Context, c *kindCluster) error {
	found, err := refplane.Find(ctx)
	if err != nil {
		return err
	}
	r := &reference{binary: refplane.Binary{Path: found}}
	if err := r.checkBinary(); err != nil {
		return err
	}
	image, err := r.pack(c)
	if err != nil {
		return fmt.Errorf("cannot make the image of the migrator: %w", err)
	}
	return together(ctx, c.members, func(ctx context.Context, m *member) error { return c.importImages(ctx, m, image) })
}

func (p *published) supply(ctx context.Context, c *kindCluster, m *member, release string) error {
	node, err := kubernetes.LookUpImages(release)
	if err != nil {
		return err
	}
	return c.importImages(ctx, m, node.Archive)
}

// pod is kubeadm's own, with the image and the flags of the release. etcd stays
// what it is: a member's data never moves from one etcd to another.
func (p *published) pod(_ *kindCluster, m *member, component cluster.Component, name string) ([]byte, error) {
	m.mu.Lock()
	raw := m.pods[component]
	m.puts++
	count := m.puts
	m.mu.Unlock()
	pod, err := parsePod(raw)
	if err != nil {
		return nil, err
	}
	if component != cluster.Etcd {
		release, err := m.at(component, name)
		if err != nil {
			return nil, err
		}
		node, err := kubernetes.LookUpImages(name)
		if err != nil {
			return nil, err
		}
		image, err := kubernetes.ImageOf(node.Images, binaries[component])
		if err != nil {
			return nil, err
		}
		pod.Spec.Containers[0].Image = image
		setFlags(&pod.Spec.Containers[0], p.flags(release, component))
	}
	return another(pod, count)
}
