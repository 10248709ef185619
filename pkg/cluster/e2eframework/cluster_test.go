package e2eframework

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"
	"sigs.k8s.io/e2e-framework/support"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

func TestMain(m *testing.M) {
	fakeplane.Main()
	os.Exit(m.Run())
}

// name of the clusters in these tests.
const name = "adapted"

// fake gives a cluster of the fake control plane, with one member because that
// starts soonest. When the test ends nothing of it may be left.
func fake(t *testing.T) *Cluster {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, temporary := t.TempDir(), t.TempDir()
	t.Setenv(fakeplane.Variable, "1")
	t.Setenv(reference.Variable, self)
	t.Setenv(state.RootVariable, root)
	t.Setenv("TMPDIR", temporary)
	c := NewCluster(name)
	c.WithVersion(fakeplane.Good).WithOpts(WithTopology("clusters/local-1.yaml"))
	t.Cleanup(func() {
		for range 2 {
			if err := c.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for _, folder := range []string{root, temporary} {
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("left in %s: %v, %v", folder, left, err)
			}
		}
	})
	return c
}

func TestClusterInAnEnvironment(t *testing.T) {
	c := fake(t)
	c.topology = ""   // the default has three members
	c.WithVersion("") // is no release, so the option that follows decides
	release := func(p support.E2EClusterProvider) { p.WithVersion(fakeplane.Good) }
	config := envconf.New()
	ctx, err := envfuncs.CreateClusterWithOpts(c, name, release, WithDefects("SV-06"))(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	control, err := c.ControlPlane()
	if err != nil {
		t.Fatal(err)
	}

	t.Run("kubeconfig", func(t *testing.T) { checkKubeconfigs(t, c, control, config) })
	t.Run("clients", func(t *testing.T) { checkClients(t, c, control) })

	t.Run("stop, and start at another release", func(t *testing.T) {
		node := &support.Node{Name: "cp3", Cluster: name}
		perform := func(action support.NodeOperation, args ...string) error {
			_, err := envfuncs.PerformNodeOperation(name, action, node, args...)(ctx, config)
			return err
		}
		for range 2 { // what has stopped may be stopped
			checkError(t, perform(support.StopNode), "")
			checkStates(t, c, NodeRunning, NodeRunning, NodeStopped)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		checkError(t, c.WaitForControlPlane(ended, nil), "the API server of member")
		checkError(t, perform(support.StartNode, "9"), `there is no release "9"`)
		checkError(t, perform(support.StartNode, fakeplane.Next, fakeplane.Good), "takes one release")
		checkError(t, perform(support.StartNode, fakeplane.Next), "")
		checkStates(t, c, NodeRunning, NodeRunning, NodeRunning)
		if got := control.Release("cp3"); got != fakeplane.Next {
			t.Errorf("cp3 runs %s", got)
		}
		checkError(t, perform(support.StartNode), "runs already")
		checkError(t, perform(support.StopNode), "")
		checkError(t, perform(support.StartNode), "")
		if got := control.Release("cp3"); got != fakeplane.Next {
			t.Errorf("cp3 came back at %s", got)
		}
		checkError(t, c.WaitForControlPlane(t.Context(), config.Client()), "")
		checkError(t, perform(support.StopNode, "now"), `StopNode takes no arguments but was given ["now"]`)
	})

	t.Run("impaired nodes", func(t *testing.T) {
		checkError(t, control.Pause(t.Context(), "cp1", cluster.APIServer), "")
		checkError(t, control.Kill(t.Context(), "cp2", cluster.ControllerManager), "")
		checkStates(t, c, NodeImpaired, NodeImpaired, NodeRunning)
		checkError(t, control.Resume(t.Context(), "cp1", cluster.APIServer), "")
		checkStates(t, c, NodeRunning, NodeImpaired, NodeRunning)
	})

	t.Run("what cannot be done", func(t *testing.T) {
		for _, err := range []error{
			c.AddNode(t.Context(), &support.Node{Name: "cp4"}), c.AddNode(t.Context(), nil),
			c.RemoveNode(t.Context(), &support.Node{Name: "cp1"}),
		} {
			checkError(t, err, "the topology fixes the members of cluster adapted")
			if !errors.Is(err, cluster.ErrUnsupported) {
				t.Errorf("%v is not ErrUnsupported", err)
			}
		}
		checkError(t, c.StopNode(t.Context(), nil), "no node was named; the cluster adapted has: cp1, cp2, cp3")
		checkError(t, c.StopNode(t.Context(), &support.Node{Name: "cp9"}), `has no node "cp9"`)
		checkError(t, c.StartNode(t.Context(), &support.Node{Name: "cp1", Cluster: "other"}), "belongs to the cluster other")
		_, err := c.ListNode(t.Context(), "all")
		checkError(t, err, "takes no arguments")
		_, err = c.Create(t.Context())
		checkError(t, err, "exists already")
	})

	t.Run("logs", func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "deep", "logs")
		for range 2 { // the second time replaces the first
			_, err := envfuncs.ExportClusterLogs(name, to)(ctx, config)
			checkError(t, err, "")
		}
		raw, err := os.ReadFile(filepath.Join(to, "cp2-apiserver.log"))
		if err != nil || !strings.Contains(string(raw), "--defect SV-06") {
			t.Errorf("the log of cp2 says %q, %v", raw, err)
		}
		checkError(t, c.ExportLogs(t.Context(), ""), "without a folder")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		checkError(t, c.ExportLogs(ended, to), "context canceled")
	})

	t.Run("destroy", func(t *testing.T) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := envfuncs.DestroyCluster(name)(ended, config)
		checkError(t, err, "")
		checkAbsent(t, c)
	})
}

// checkKubeconfigs looks at the kubeconfigs of the cluster and of one member.
func checkKubeconfigs(t *testing.T, c *Cluster, control cluster.Cluster, config *envconf.Config) {
	t.Helper()
	if config.KubeconfigFile() != c.GetKubeconfig() || c.GetKubectlContext() != "cp1" {
		t.Errorf("the environment has %q, the cluster %q with the context %q", config.KubeconfigFile(), c.GetKubeconfig(), c.GetKubectlContext())
	}
	second, err := c.GenerateKubeconfig("cp2")
	if err != nil {
		t.Fatal(err)
	}
	for file, member := range map[string]string{c.GetKubeconfig(): "cp1", second: "cp2"} {
		read, err := clientcmd.LoadFromFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := control.ClientConfig(member, false)
		if read.CurrentContext != member || len(read.Contexts) != 3 || read.Clusters[member].Server != want.Host {
			t.Errorf("%s: the context is %s of %d, its server %s", file, read.CurrentContext, len(read.Contexts), read.Clusters[member].Server)
		}
	}
	if again, err := c.GenerateKubeconfig(); err != nil || again != c.GetKubeconfig() {
		t.Errorf("%s, %v", again, err)
	}
	_, err = c.GenerateKubeconfig("cp9")
	checkError(t, err, `no node "cp9"; it has: cp1, cp2, cp3`)
	_, err = c.GenerateKubeconfig("cp1", "cp2")
	checkError(t, err, "the name of one member")
}

// checkClients looks at which member the clients ask.
func checkClients(t *testing.T, c *Cluster, control cluster.Cluster) {
	t.Helper()
	client, err := c.Client("cp3")
	if err != nil {
		t.Fatal(err)
	}
	third, _ := control.ClientConfig("cp3", false)
	if client.RESTConfig().Host != third.Host || c.KubernetesRestConfig().Host == third.Host {
		t.Errorf("cp3 is at %s, its client asks %s, the cluster's %s", third.Host, client.RESTConfig().Host, c.KubernetesRestConfig().Host)
	}
	_, err = c.Client("cp9")
	checkError(t, err, `no member "cp9"`)
}

func TestClusterThatIsNotThere(t *testing.T) {
	checkAbsent(t, fake(t))
}

// checkAbsent checks what a cluster answers while it does not exist.
func checkAbsent(t *testing.T, c *Cluster) {
	t.Helper()
	if c.GetKubeconfig() != "" || c.GetKubectlContext() != "" || c.KubernetesRestConfig() != nil {
		t.Errorf("it still tells of %q, %q, %v", c.GetKubeconfig(), c.GetKubectlContext(), c.KubernetesRestConfig())
	}
	node := &support.Node{Name: "cp1"}
	_, control := c.ControlPlane()
	_, client := c.Client("cp1")
	_, list := c.ListNode(t.Context())
	_, generate := c.GenerateKubeconfig()
	for i, err := range []error{
		control, client, list, generate, c.ExportLogs(t.Context(), t.TempDir()), c.WaitForControlPlane(t.Context(), nil),
		c.AddNode(t.Context(), node), c.RemoveNode(t.Context(), node), c.StartNode(t.Context(), node), c.StopNode(t.Context(), node),
	} {
		if err == nil || err.Error() != "there is no cluster: it was not created, or was destroyed" {
			t.Errorf("call %d: %v", i, err)
		}
	}
	checkError(t, c.Destroy(t.Context()), "")
}

func TestCreateThatFails(t *testing.T) {
	for _, tc := range []struct {
		name, expectError string
		change            func(*Cluster)
		create            func(context.Context, *Cluster) (string, error)
	}{
		{name: "no such release", change: func(c *Cluster) { c.WithVersion("9") }, expectError: `no release "9" for member cp1`},
		{name: "no such name", change: func(c *Cluster) { c.WithName("A B") }, expectError: `name "A B" is no DNS label`},
		{name: "no such defect", change: func(c *Cluster) { c.WithOpts(WithDefects("SV-99")) }, expectError: `no defect "SV-99"`},
		{name: "no such topology", change: func(c *Cluster) { c.WithOpts(WithTopology("nowhere.yaml")) }, expectError: "open nowhere.yaml"},
		{name: "no such config", expectError: "open nowhere.yaml",
			create: func(ctx context.Context, c *Cluster) (string, error) { return c.CreateWithConfig(ctx, "nowhere.yaml") }},
		{name: "nothing to replace", change: func(c *Cluster) { c.WithPath("bin") }, expectError: "the reference is one binary, which EVENKEEL_REFPLANE names"},
		{name: "no such provider", change: func(c *Cluster) { c.registry = nil }, expectError: `there is no provider "local"`},
		{name: "arguments", expectError: `Create takes no arguments but was given ["--wait"]`,
			create: func(ctx context.Context, c *Cluster) (string, error) { return c.Create(ctx, "--wait") }},
		{name: "no kubeconfig", change: func(c *Cluster) { c.registry = cluster.Registry{odd{made: mute}} }, expectError: "writes no kubeconfig file"},
		{name: "ended context", expectError: "context canceled",
			create: func(ctx context.Context, c *Cluster) (string, error) {
				ended, cancel := context.WithCancel(ctx)
				defer cancel()
				// It ends when everything is prepared and nothing has started.
				c.registry = cluster.Registry{odd{made: func(made cluster.Cluster) cluster.Cluster { cancel(); return made }}}
				return c.Create(ended)
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := fake(t)
			if tc.change != nil {
				tc.change(c)
			}
			create := tc.create
			if create == nil {
				create = func(ctx context.Context, c *Cluster) (string, error) { return c.Create(ctx) }
			}
			_, err := create(t.Context(), c)
			checkError(t, err, tc.expectError)
			checkAbsent(t, c)
		})
	}
}

func TestCreateWhoseClusterDoesNotStart(t *testing.T) {
	c := fake(t)
	c.WithVersion(fakeplane.Broken)
	_, err := c.Create(t.Context())
	checkError(t, err, "the flag of the year is missing")
	// The error names a log, which has to be there.
	logs, globErr := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*", "logs", "*.log"))
	if globErr != nil || !slices.ContainsFunc(logs, func(log string) bool { return strings.Contains(fmt.Sprint(err), log) }) {
		t.Errorf("none of %v is named by %v", logs, err)
	}
	c.WithVersion(fakeplane.Good)
	_, err = c.Create(t.Context())
	checkError(t, err, "")
}

func TestLogDirOutlivesTheCluster(t *testing.T) {
	c := fake(t)
	logs := t.TempDir()
	c.WithName("").WithOpts(WithLogDir(logs))
	_, err := c.Create(t.Context())
	checkError(t, err, "")
	nodes, err := c.ListNode(t.Context())
	if err != nil || len(nodes) != 1 || nodes[0].Cluster != "local-1" {
		t.Errorf("%+v, %v", nodes, err)
	}
	checkError(t, c.Destroy(t.Context()), "")
	if _, err := os.Stat(filepath.Join(logs, "cp1-etcd.log")); err != nil {
		t.Error(err)
	}
}

func TestDestroyCanBeTriedAgain(t *testing.T) {
	c := fake(t)
	var failing bool
	c.registry = cluster.Registry{odd{made: func(made cluster.Cluster) cluster.Cluster {
		return &stubborn{Cluster: made, KubeconfigWriter: made.(cluster.KubeconfigWriter), failing: &failing}
	}}}
	_, err := c.Create(t.Context())
	checkError(t, err, "")
	failing = true
	checkError(t, c.Destroy(t.Context()), "process 7 does not end")
	_, err = c.Create(t.Context())
	checkError(t, err, "Destroy it first")
	failing = false
}

// odd is the local provider with something about its clusters changed.
type odd struct {
	local.Provider
	made func(cluster.Cluster) cluster.Cluster
}

func (o odd) New(ctx context.Context, topology *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	made, err := o.Provider.New(ctx, topology, options)
	if err != nil {
		return nil, err
	}
	return o.made(made), nil
}

// mute hides that a cluster writes a kubeconfig.
func mute(made cluster.Cluster) cluster.Cluster { return struct{ cluster.Cluster }{made} }

// stubborn does not stop while it is failing.
type stubborn struct {
	cluster.Cluster
	cluster.KubeconfigWriter
	failing *bool
}

func (s *stubborn) Stop(ctx context.Context) error {
	if *s.failing {
		return fmt.Errorf("process 7 does not end")
	}
	return s.Cluster.Stop(ctx)
}

func checkStates(t *testing.T, c *Cluster, want ...string) {
	t.Helper()
	nodes, err := c.ListNode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, node := range nodes {
		got = append(got, node.State)
		if node.Role != ControlPlaneRole || node.Cluster != name || !node.IP.IsLoopback() {
			t.Errorf("%+v", node)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the nodes are %v, want %v", got, want)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error = %v, want one with %q", err, want)
	}
}

func TestWithPathIsForTheReleasesOfTheMembers(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	c := NewCluster(name)
	c.WithVersion("v1.36.3").WithPath("mine").WithOpts(WithTopology("clusters/local-3-kubernetes.yaml"))
	topology, err := c.load()
	if err != nil {
		t.Fatal(err)
	}
	if len(topology.Spec.Binaries) != 1 || topology.Path(topology.Spec.Binaries["v1.36.3"]) != filepath.Join(folder, "mine") {
		t.Errorf("the binaries are %v", topology.Spec.Binaries)
	}
}
