package local

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	"github.com/evenkeel/evenkeel/pkg/history"
	releases "github.com/evenkeel/evenkeel/pkg/release"
)

const kubernetesName = "kubernetes"

// etcdKey is what a topology's binaries call the folder of etcd, which is the
// same one for all releases.
const etcdKey = "etcd"

// published is Kubernetes as its releases are published: the binaries of a
// release, and a real etcd.
type published struct {
	// named are the folders that the topology gives, by release.
	named    map[string]string
	settings cluster.Settings
}

func (published) components() []cluster.Component {
	return []cluster.Component{cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler}
}

// serverID follows from the host name, which command makes the member's name.
func (published) serverID(member string) string { return kubernetes.ServerID(member) }

func (published) releases(context.Context) ([]string, error) { return kubernetes.Releases(), nil }

// defects cannot be planted in what others have built.
func (published) defects(context.Context) ([]cluster.Defect, error) { return nil, nil }

// readyPath: the elected components have long told by /healthz whether they
// serve, the newer paths are not in all releases.
func (published) readyPath(component cluster.Component) string {
	if component == cluster.APIServer {
		return "/readyz"
	}
	return "/healthz"
}

// configure checks what the topology asks for before anything is made of it.
func (p published) configure(topology *cluster.Topology) (distribution, error) {
	settings := topology.Spec.Settings
	if settings.IdentityLeaseDuration != 0 || settings.IdentityLeaseRenewInterval != 0 {
		return nil, fmt.Errorf("spec.settings.identityLeaseDuration and identityLeaseRenewInterval cannot be set: kube-apiserver has no flags for them")
	}
	p.named, p.settings = map[string]string{}, settings
	for _, name := range slices.Sorted(maps.Keys(topology.Spec.Binaries)) {
		if name != etcdKey && !slices.Contains(kubernetes.Releases(), name) {
			return nil, fmt.Errorf("spec.binaries has the key %q, which is neither %q nor a release that is known: %s",
				name, etcdKey, strings.Join(kubernetes.Releases(), ", "))
		}
		p.named[name] = topology.Path(topology.Spec.Binaries[name])
	}
	if _, err := kubernetes.LookUpEtcd(p.named); err != nil {
		return nil, err
	}
	for _, member := range topology.Spec.Members {
		if _, err := p.find(topology.ReleaseOf(member)); err != nil {
			return nil, err
		}
		for _, binary := range kubernetes.Binaries {
			if _, err := kubernetes.LookUp(binary, topology.ReleaseOf(member), p.named); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func (p published) command(component cluster.Component, s *site, name string) (command, error) {
	if component == cluster.Etcd {
		path, err := kubernetes.LookUpEtcd(p.named)
		return command{path: path, args: publishedEtcd(s)}, err
	}
	release, err := p.find(name)
	if err != nil {
		return command{}, err
	}
	off := cluster.FeaturesOf(component, s.off.get())
	if release, err = release.Without(off...); err != nil {
		return command{}, err
	}
	builder, ok := publishedBuilders[component]
	if !ok {
		return command{}, fmt.Errorf("kubernetes has no %s", component)
	}
	path, err := kubernetes.LookUp(builder.binary, name, p.named)
	if err != nil {
		return command{}, err
	}
	args := builder.flags(s)
	args.setAll(release.Flags(builder.binary))
	if path, err = s.namedProgram(builder.binary, name, path); err != nil {
		return command{}, err
	}
	// The API server hashes its host name into its identity, and the others
	// begin their identity as candidates with it.
	return command{path: path, args: args, host: s.member, off: off}, nil
}

// namedProgram is a release's program by a name that tells the member: what it writes
// then tells who it was.
func (s *site) namedProgram(binary, release, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	link := filepath.Join(s.dir, "programs", releases.Binary(release), history.ProgramOn(binary, s.member))
	if target, err := os.Readlink(link); err == nil && target == path {
		return link, nil
	}
	if err = os.MkdirAll(filepath.Dir(link), 0o700); err == nil {
		err = os.Symlink(path, link)
	}
	if err != nil {
		return "", fmt.Errorf("cannot give %s a name of the member's: %w", path, err)
	}
	return link, nil
}

// gates of a release; none if it cannot be run as the topology wants it.
func (p published) gates(name string) map[string]string {
	release, err := p.find(name)
	if err != nil {
		return nil
	}
	return release.AllGates()
}

// find gives a release as the topology wants it.
func (p published) find(name string) (kubernetes.Release, error) {
	release, err := kubernetes.Find(name)
	if err != nil {
		return release, err
	}
	return release.For(p.settings)
}

var publishedBuilders = map[cluster.Component]struct {
	binary string
	flags  func(*site) settings
}{
	cluster.APIServer:         {kubernetes.APIServer, publishedAPIServer},
	cluster.ControllerManager: {kubernetes.ControllerManager, publishedControllerManager},
	cluster.Scheduler:         {kubernetes.Scheduler, publishedScheduler},
}

// settings collects flags in the notation --name=value, which switches need;
// those without a value are left out, so that the default holds.
type settings []string

func (f *settings) set(name, value string) {
	if value != "" {
		*f = append(*f, "--"+name+"="+value)
	}
}

// setAll sets flags in the order of their names.
func (f *settings) setAll(flags map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		f.set(name, flags[name])
	}
}

func publishedEtcd(s *site) []string {
	var f settings
	f.set("name", s.member)
	f.set("data-dir", s.dataDir())
	f.set("listen-client-urls", s.etcdClient.URL())
	f.set("advertise-client-urls", s.etcdClient.URL())
	f.set("listen-peer-urls", s.etcdPeer.URL())
	f.set("initial-advertise-peer-urls", s.peerProxy.URL())
	f.set("initial-cluster", s.initialCluster)
	f.set("initial-cluster-token", s.cluster)
	for _, side := range []string{"", "peer-"} {
		f.set(side+"client-cert-auth", "true")
		f.set(side+"trusted-ca-file", s.caFile)
		f.set(side+"cert-file", s.etcdPair.CertFile)
		f.set(side+"key-file", s.etcdPair.KeyFile)
	}
	f.set("log-level", "warn")
	return f
}

func publishedAPIServer(s *site) settings {
	var f settings
	f.set("bind-address", port.Loopback)
	f.set("advertise-address", port.Loopback)
	f.set("secure-port", s.apiserver.Port())
	f.set("tls-cert-file", s.apiserverPair.CertFile)
	f.set("tls-private-key-file", s.apiserverPair.KeyFile)
	f.set("client-ca-file", s.caFile)
	f.set("authorization-mode", "RBAC")
	f.set("etcd-servers", s.etcdProxy.URL())
	f.set("etcd-cafile", s.caFile)
	f.set("etcd-certfile", s.etcdClientPair.CertFile)
	f.set("etcd-keyfile", s.etcdClientPair.KeyFile)
	f.set("service-account-issuer", "https://kubernetes.default.svc")
	f.set("service-account-signing-key-file", s.serviceAccountPair.KeyFile)
	f.set("service-account-key-file", s.serviceAccountPair.CertFile)
	f.set("service-cluster-ip-range", "10.96.0.0/16")
	// The Endpoints of the Service "kubernetes" may not be on the loopback.
	f.set("endpoint-reconciler-type", "none")
	if s.settings.PeerDiscovery {
		f.set("peer-ca-file", s.caFile)
		f.set("proxy-client-cert-file", s.frontProxyPair.CertFile)
		f.set("proxy-client-key-file", s.frontProxyPair.KeyFile)
		f.set("requestheader-client-ca-file", s.frontProxyCAFile)
		f.set("requestheader-allowed-names", pki.FrontProxy)
		f.set("requestheader-username-headers", "X-Remote-User")
		f.set("requestheader-group-headers", "X-Remote-Group")
		f.set("requestheader-extra-headers-prefix", "X-Remote-Extra-")
	}
	return f
}

// publishedControllers are those that the features under test need; all others
// would only take the machine's time. They are named in full: the short names
// are not the same in all releases, and an unknown one ends the process.
var publishedControllers = []string{
	"storageversion-garbage-collector-controller",
	kubernetes.MigratorController,
	"garbage-collector-controller",
	"namespace-controller",
	// It shows who leads: see workload.LeaderActivityProbe.
	"root-ca-certificate-publisher-controller",
}

// workloadControllers are on in place of them where a migrator is installed as a
// workload. There is no kubelet: the Pods that they make do not run.
var workloadControllers = []string{
	"storageversion-garbage-collector-controller",
	"garbage-collector-controller",
	"namespace-controller",
	"deployment-controller",
	"replicaset-controller",
	"job-controller",
}

func publishedControllerManager(s *site) settings {
	f := electedFlags(s, s.controllerKubeconfig, s.controllerManager, s.controllerPair)
	controllers := publishedControllers
	if s.settings.WorkloadMigrator {
		controllers = workloadControllers
	}
	f.set("controllers", strings.Join(controllers, ","))
	f.set("use-service-account-credentials", "true")
	f.set("root-ca-file", s.caFile)
	f.setAll(kubernetes.MigratorFlags(s.settings))
	return f
}

func publishedScheduler(s *site) settings {
	return electedFlags(s, s.schedulerKubeconfig, s.scheduler, s.schedulerPair)
}

// electedFlags are what the components have in common of which one member's
// leads at a time.
func electedFlags(s *site, kubeconfig string, at *port.Slot, pair pki.Pair) settings {
	var f settings
	f.set("kubeconfig", kubeconfig)
	f.set("bind-address", port.Loopback)
	f.set("secure-port", at.Port())
	f.set("tls-cert-file", pair.CertFile)
	f.set("tls-private-key-file", pair.KeyFile)
	f.set("leader-elect", "true")
	f.setAll(kubernetes.ElectionFlags(s.settings))
	return f
}

// addScheduler gives the member what its scheduler needs, if it has one.
func (c *local) addScheduler(m *member) error {
	u, ok := m.units[cluster.Scheduler]
	if !ok {
		return nil
	}
	s := m.site
	var err error
	if s.scheduler, err = port.New(&c.ports); err != nil {
		return err
	}
	u.slots = []*port.Slot{s.scheduler}
	if s.schedulerPair, err = c.ca.Issue(m.name+"-scheduler", pki.Subject{Name: "scheduler-" + m.name, Server: true}); err != nil {
		return err
	}
	const user = "system:kube-scheduler"
	if s.schedulerClient, err = c.ca.Issue(m.name+"-scheduler-client", pki.Subject{Name: user}); err != nil {
		return err
	}
	s.schedulerKubeconfig = filepath.Join(s.dir, "scheduler.kubeconfig")
	return pki.WriteKubeconfig(s.schedulerKubeconfig, c.ca, user, s.schedulerClient, pki.Endpoint{Name: m.name, URL: s.componentsProxy.URL()})
}
