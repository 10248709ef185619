// Package e2eframework lets the tests of others run on Evenkeel's clusters: it
// makes every provider of package cluster one of sigs.k8s.io/e2e-framework, so
// that envfuncs.CreateCluster and its kin bring up a topology with several
// control-plane members, and node operations stop, start and upgrade members.
//
// A cluster lives no longer than the process that made it: links are proxies in
// that process, which also restarts what exits. A test binary that is killed
// leaves processes behind, which `evenkeel cluster clean` removes.
//
// envfuncs forgets a cluster whose setup failed, and e2e-framework does not fail
// a test run whose clean-up failed. A TestMain that calls Destroy itself after
// the environment has run sees to both; Destroy may be called any number of
// times.
//
// Others may build on it.
package e2eframework

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/support"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
)

// owner is what lists of clusters show as the purpose of ours.
const owner = "e2e-framework"

// Cluster is one control plane for e2e-framework. Make it with NewCluster,
// NewProvider or For. Methods may be called from several goroutines, except for
// those whose name begins with With, which belong before Create.
type Cluster struct {
	registry cluster.Registry

	name, release, path, topology, logDir string
	defects                               []string

	mu sync.Mutex
	// dir holds what this package writes; it exists from Create to Destroy.
	dir string
	// made is there from Create on until it could be stopped.
	made cluster.Cluster
	// up is there while the cluster can be used.
	up *running
}

// running is what is known of a cluster that is up.
type running struct {
	cluster.Cluster
	name string
	// first is the member that clients reach unless they name another.
	first      string
	kubeconfig string
	config     *rest.Config
}

var (
	_ support.E2EClusterProvider              = (*Cluster)(nil)
	_ support.E2EClusterProviderWithLifeCycle = (*Cluster)(nil)
)

// NewCluster gives a cluster of any provider that Evenkeel has, by a name, which is a DNS
// label; the topology says which provider.
func NewCluster(name string) *Cluster {
	c := For(providers.All())
	c.name = name
	return c
}

// For gives a cluster of one of the providers in a registry.
func For(registry cluster.Registry) *Cluster { return &Cluster{registry: registry} }

// SetDefaults implements support.E2EClusterProvider: without a topology it is
// the one that ships as clusters/local-3.yaml.
func (c *Cluster) SetDefaults() support.E2EClusterProvider {
	if c.topology == "" {
		c.topology = clusters.Default
	}
	return c
}

// WithName implements support.E2EClusterProvider. The name is a DNS label;
// empty means the topology's.
func (c *Cluster) WithName(name string) support.E2EClusterProvider {
	c.name = name
	return c
}

// WithVersion implements support.E2EClusterProvider: it names the release that
// all members begin with. Empty means what the topology says.
func (c *Cluster) WithVersion(release string) support.E2EClusterProvider {
	c.release = release
	return c
}

// WithPath implements support.E2EClusterProvider: it names the folder with the
// binaries of the releases that members begin with, like spec.binaries of a
// topology. Create fails for a distribution that has none to be replaced, such
// as the reference, whose one binary EVENKEEL_REFPLANE names.
func (c *Cluster) WithPath(path string) support.E2EClusterProvider {
	c.path = path
	return c
}

// WithOpts implements support.E2EClusterProvider; the options are WithTopology,
// WithLogDir and WithDefects.
func (c *Cluster) WithOpts(opts ...support.ClusterOpts) support.E2EClusterProvider {
	for _, opt := range opts {
		opt(c)
	}
	return c
}

// Create implements support.E2EClusterProvider: it brings up the topology and
// returns the path of a kubeconfig file once every component is ready. It takes
// no arguments. What a failed Create had started is stopped; the logs stay until
// Destroy for the user who reads the error.
func (c *Cluster) Create(ctx context.Context, args ...string) (string, error) {
	if err := none("Create", args); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made != nil {
		return "", fmt.Errorf("this cluster exists already: Destroy it first, or take another provider for another cluster")
	}
	topology, err := c.load()
	if err != nil {
		return "", err
	}
	options, err := c.options()
	if err != nil {
		return "", err
	}
	made, err := c.registry.New(ctx, topology, options)
	if err != nil {
		return "", err
	}
	c.made = made
	if c.up, err = c.start(ctx, made); err != nil {
		return "", c.discard(ctx, err)
	}
	c.up.name = options.Name
	if c.up.name == "" {
		c.up.name = topology.Metadata.Name
	}
	return c.up.kubeconfig, nil
}

// CreateWithConfig implements support.E2EClusterProvider: the file is a
// topology, or the path of one that ships with Evenkeel. Empty means the one
// that was set before.
func (c *Cluster) CreateWithConfig(ctx context.Context, configFile string) (string, error) {
	if configFile != "" {
		c.topology = configFile
	}
	return c.Create(ctx)
}

// load reads the topology as the With methods want it.
func (c *Cluster) load() (*cluster.Topology, error) {
	c.SetDefaults()
	topology, err := cluster.LoadTopology(c.topology)
	if err != nil {
		return nil, err
	}
	if c.release != "" {
		topology.SetRelease(c.release)
	}
	if c.path == "" {
		return topology, nil
	}
	// A topology's own paths begin at its file, this one where the test runs.
	folder, err := filepath.Abs(c.path)
	if err != nil {
		return nil, fmt.Errorf("cannot tell where the binaries' folder %s is: %w", c.path, err)
	}
	if topology.Spec.Binaries == nil {
		topology.Spec.Binaries = map[string]string{}
	}
	for _, member := range topology.Spec.Members {
		topology.Spec.Binaries[topology.ReleaseOf(member)] = folder
	}
	return topology, nil
}

// options makes the cluster's own folder and says what goes where.
func (c *Cluster) options() (cluster.Options, error) {
	if err := c.removeDir(); err != nil { // that of a failed Create
		return cluster.Options{}, err
	}
	dir, err := os.MkdirTemp("", "evenkeel-e2e-*")
	if err != nil {
		return cluster.Options{}, fmt.Errorf("cannot make a folder for the cluster's kubeconfig and logs: %w; set TMPDIR to one that can be written to", err)
	}
	c.dir = dir
	logs := filepath.Join(dir, "logs")
	if c.logDir != "" {
		if logs, err = filepath.Abs(c.logDir); err != nil {
			return cluster.Options{}, fmt.Errorf("cannot tell where the folder for logs %s is: %w", c.logDir, err)
		}
	}
	return cluster.Options{Name: c.name, Owner: owner, LogDir: logs, Defects: slices.Clone(c.defects)}, nil
}

// start starts a cluster and finds out how to reach it.
func (c *Cluster) start(ctx context.Context, made cluster.Cluster) (*running, error) {
	writer, ok := made.(cluster.KubeconfigWriter)
	if !ok {
		return nil, fmt.Errorf("the provider of %s writes no kubeconfig file, which e2e-framework needs: %w", c.topology, cluster.ErrUnsupported)
	}
	if err := made.Start(ctx); err != nil {
		return nil, err
	}
	up := &running{Cluster: made, first: made.Members()[0].Name}
	var err error
	if up.config, err = made.ClientConfig(up.first, false); err != nil {
		return nil, err
	}
	up.kubeconfig = filepath.Join(c.dir, "kubeconfig")
	return up, writeKubeconfig(up.kubeconfig, writer.Kubeconfig(), up.first)
}

// discard stops what came to nothing and gives the reason, which matters more
// than trouble with stopping.
func (c *Cluster) discard(ctx context.Context, reason error) error {
	if err := c.stop(ctx); err != nil {
		return fmt.Errorf("%w; and stopping what had started failed, call Destroy: %w", reason, err)
	}
	return reason
}

// Destroy implements support.E2EClusterProvider: it stops everything and removes
// all files but the logs below WithLogDir. It does so although the context has
// ended, and does nothing for a cluster that is not there; after an error it can
// be called again.
func (c *Cluster) Destroy(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.stop(ctx); err != nil {
		return err
	}
	return c.removeDir()
}

func (c *Cluster) stop(ctx context.Context) error {
	c.up = nil
	if c.made == nil {
		return nil
	}
	// A caller that was interrupted comes with an ended context, and must not leave a
	// cluster behind for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), destroyBound)
	defer cancel()
	if err := c.made.Stop(ctx); err != nil {
		return err
	}
	c.made = nil
	return nil
}

func (c *Cluster) removeDir() error {
	if c.dir == "" {
		return nil
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("cannot remove the cluster's files: %w; remove %s", err, c.dir)
	}
	c.dir = ""
	return nil
}

// ControlPlane is the cluster as the rest of Evenkeel knows it, for what
// e2e-framework has no words for: killing and pausing components, bad links,
// and configurations of clients for each member. It is an error before Create
// and after Destroy.
func (c *Cluster) ControlPlane() (cluster.Cluster, error) {
	up, err := c.running()
	if err != nil {
		return nil, err
	}
	return up.Cluster, nil
}

// Client reaches the API server of one member, whatever becomes of the others.
func (c *Cluster) Client(member string) (klient.Client, error) {
	up, err := c.running()
	if err != nil {
		return nil, err
	}
	config, err := up.ClientConfig(member, false)
	if err != nil {
		return nil, err
	}
	client, err := klient.New(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for member %s: %w", member, err)
	}
	return client, nil
}

// KubernetesRestConfig implements support.E2EClusterProvider: it reaches the
// first member. It is nil while there is no cluster.
func (c *Cluster) KubernetesRestConfig() *rest.Config {
	up, err := c.running()
	if err != nil {
		return nil
	}
	return rest.CopyConfig(up.config)
}

func (c *Cluster) running() (*running, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up == nil {
		return nil, fmt.Errorf("there is no cluster: it was not created, or was destroyed")
	}
	return c.up, nil
}

// none refuses arguments that would have no effect.
func none(method string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments but was given %q: what a cluster is like stands in its topology", method, args)
	}
	return nil
}
