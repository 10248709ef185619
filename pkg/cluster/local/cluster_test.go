package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// played is a cluster of three members that the parts of TestCluster change one after the
// other. Each part leaves the cluster complete.
type played struct {
	c    *local
	seen *changes
	// root is the state folder, in which the cluster is the only one.
	root string
}

func TestCluster(t *testing.T) {
	root := useFake(t)
	seen := &changes{}
	c := newCluster(t, 3, cluster.Options{Observer: seen.add, Defects: []string{"SV-06"}})
	began := time.Now()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("started within %s", time.Since(began))
	p := &played{c, seen, root}
	t.Run("observer was told of every start", p.tellsOfEveryStart)
	t.Run("every process tells how long it waited for a CPU", p.tellsItsWaits)
	t.Run("logs do not tell where the cluster lies", p.hidesPathsInLogs)
	t.Run("files are readable by the owner only", p.keepsFilesPrivate)
	t.Run("kubeconfig reaches every member", p.writesKubeconfig)
	t.Run("flags", p.passesFlags)
	t.Run("pause and resume", p.pausesAComponent)
	t.Run("pause and resume a whole member", p.pausesAMember)
	t.Run("a member of which a part is paused is not paused", p.pausesAPart)
	t.Run("a pause that is given up leaves nothing paused", p.givesUpAPause)
	t.Run("kill leaves it down", p.killsAComponent)
	t.Run("an exit by itself is followed by a restart", p.restartsWhatExits)
	t.Run("replace a member", p.replacesAMember)
	t.Run("power cut", p.cutsThePower)
	t.Run("cut client link", p.cutsClients)
	t.Run("cut etcd link makes the API server unready", p.cutsEtcd)
	t.Run("cut peer link silences both directions", p.cutsPeers)
	t.Run("a node that is cut off", p.cutsANode)
	t.Run("start members together", p.startsMembersTogether)
	t.Run("refused", p.refuses)
	t.Run("stop leaves the logs and nothing else", p.stops)
}

func (p *played) tellsOfEveryStart(t *testing.T) {
	c, seen := p.c, p.seen
	for _, m := range c.Members() {
		for _, component := range m.Components {
			process, ok := c.Process(m.Name, component)
			started := seen.last(m.Name, component)
			if !ok || started.What != history.ProcessStarted || started.Instance != 1 || started.Process != process || started.Release != fakeplane.Good {
				t.Errorf("%s of %s: %+v, process %v", component, m.Name, started, process)
			}
			if !procfs.HasVariable(process.PID, state.Marker, c.entry.Record().ID) {
				t.Errorf("%s of %s does not carry the marker", component, m.Name)
			}
		}
	}
}

func (p *played) tellsItsWaits(t *testing.T) {
	c := p.c
	for _, m := range c.Members() {
		waits, err := c.WaitedForCPU(t.Context(), m.Name)
		if err != nil || len(waits) != len(m.Components) {
			t.Errorf("%s: %+v, %v", m.Name, waits, err)
		}
		for _, w := range waits {
			if process, ok := c.Process(m.Name, w.Component); !ok || w.Process != process || len(w.Threads) == 0 {
				t.Errorf("%s of %s: %+v, want that of %v", w.Component, m.Name, w, process)
			}
		}
	}
}

func (p *played) hidesPathsInLogs(t *testing.T) {
	c, root := p.c, p.root
	for _, m := range c.Members() {
		for _, component := range m.Components {
			// The fake writes its command line to its log, as real ones do.
			raw, err := os.ReadFile(filepath.Join(c.LogDir(), fmt.Sprintf("%s-%s.log", m.Name, component)))
			if err != nil || len(raw) == 0 || strings.Contains(string(raw), root) {
				t.Errorf("%s of %s wrote %s (%v)", component, m.Name, raw, err)
			}
		}
	}
}

func (p *played) keepsFilesPrivate(t *testing.T) {
	root := p.root
	err := filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := file.Info()
		if err == nil && path != root && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func (p *played) writesKubeconfig(t *testing.T) {
	c := p.c
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Members() {
		client, err := clientcmd.NewNonInteractiveClientConfig(*config, m.Name, nil, nil).ClientConfig()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call(t.Context(), client, "/readyz", ""); err != nil {
			t.Error(err)
		}
	}
}

func (p *played) passesFlags(t *testing.T) {
	c := p.c
	config, _ := c.ClientConfig("cp2", false)
	flags, err := call(t.Context(), config, "/flags", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--server-id apiserver-cp2", "--release " + fakeplane.Good, "--identity-lease-duration 40s", "--defect SV-06"} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q is not among %s", want, flags)
		}
	}
}

func (p *played) killsAComponent(t *testing.T) {
	c, seen := p.c, p.seen
	before, _ := c.Process("cp2", cluster.ControllerManager)
	if err := c.Kill(t.Context(), "cp2", cluster.ControllerManager); err != nil {
		t.Fatal(err)
	}
	if process, ok := c.Process("cp2", cluster.ControllerManager); ok {
		t.Errorf("process %v runs", process)
	}
	if last := seen.last("cp2", cluster.ControllerManager); last.What != history.ProcessExited || last.Exit != "signal: killed" || !last.Expected || last.Process != before {
		t.Errorf("told %+v", last)
	}
	expectError(t, c.Kill(t.Context(), "cp2", cluster.ControllerManager), "cannot kill the controller-manager of member cp2: no process runs")
	if err := c.StartComponent(t.Context(), "cp2", cluster.ControllerManager); err != nil {
		t.Fatal(err)
	}
	if last := seen.last("cp2", cluster.ControllerManager); last.What != history.ProcessStarted || last.Instance != 2 {
		t.Errorf("told %+v", last)
	}
	expectError(t, c.StartComponent(t.Context(), "cp2", cluster.ControllerManager), "it runs already; stop it first")
}

func (p *played) restartsWhatExits(t *testing.T) {
	c, seen := p.c, p.seen
	process, _ := c.Process("cp3", cluster.APIServer)
	dying, err := os.FindProcess(process.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := dying.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a second instance", func() bool { return seen.last("cp3", cluster.APIServer).Instance == 2 })
	exited := seen.all("cp3", cluster.APIServer)[1]
	if exited.What != history.ProcessExited || exited.Expected || exited.Exit != "signal: killed" {
		t.Errorf("told %+v", exited)
	}
	if now, ok := c.Process("cp3", cluster.APIServer); !ok || now == process {
		t.Errorf("process %v, %v", now, ok)
	}
}

func (p *played) replacesAMember(t *testing.T) {
	c, seen := p.c, p.seen
	expectError(t, c.StartMembers(t.Context(), map[string]string{"cp1": fakeplane.Next}), "runs already; stop the member first")
	if err := c.StopMember(t.Context(), "cp1"); err != nil {
		t.Fatal(err)
	}
	for _, component := range c.upwards() {
		if last := seen.last("cp1", component); last.What != history.ProcessExited || last.Exit != "exit status 0" || !last.Expected {
			t.Errorf("told %+v", last)
		}
	}
	if err := c.StartMembers(t.Context(), map[string]string{"cp1": fakeplane.Next}); err != nil {
		t.Fatal(err)
	}
	if c.Release("cp1") != fakeplane.Next || seen.last("cp1", cluster.APIServer).Release != fakeplane.Next {
		t.Errorf("release %s, told %+v", c.Release("cp1"), seen.last("cp1", cluster.APIServer))
	}
	if err := c.StopComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := c.StartComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	expectError(t, c.StartMembers(t.Context(), map[string]string{"cp1": "9"}), `there is no release "9"; there are: 1.0, 1.1,`)
}

func (p *played) startsMembersTogether(t *testing.T) {
	c, seen := p.c, p.seen
	for _, name := range []string{"cp1", "cp2"} {
		if err := c.StopMember(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	var serves atomic.Bool
	seen.onStart(func(change cluster.Change) {
		switch {
		case change.Member == "cp2" && change.Component == cluster.Etcd:
			pid := change.Process.PID
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			time.AfterFunc(20*readyPoll, func() {
				serves.Store(true)
				_ = syscall.Kill(pid, syscall.SIGCONT)
			})
		case change.Component == cluster.APIServer && !serves.Load():
			t.Errorf("the API server of %s starts before the etcd of cp2 serves", change.Member)
		}
	})
	defer seen.onStart(nil)
	if err := c.StartMembers(t.Context(), map[string]string{"cp1": fakeplane.Next, "cp2": fakeplane.Good}); err != nil {
		t.Fatal(err)
	}
}

func (p *played) refuses(t *testing.T) {
	c := p.c
	for _, tc := range []struct {
		name        string
		err         error
		expectError string
	}{
		{"member", c.StopMember(t.Context(), "cp9"), `no member "cp9"; it has: cp1, cp2, cp3`},
		{"component", c.Kill(t.Context(), "cp1", cluster.Scheduler), "member cp1 has no scheduler: not supported by this provider"},
		{"link", c.SetLink(t.Context(), "cp1", "moon", cluster.Shape{}), `member cp1 has no link "moon"`},
		{"latency", c.SetLink(t.Context(), "cp1", cluster.LinkEtcd, cluster.Shape{Latency: -1}), "must not be negative"},
		{"keys of no member", c.SetKeyFault("cp9", cluster.KeyFault{}), `no member "cp9"`},
		{"keys without requests", c.SetKeyFault("cp1", cluster.KeyFault{Prefixes: []string{"/k"}}), "requests and prefixes must both"},
		{"direction", c.SetLink(t.Context(), "cp1", cluster.LinkEtcd, cluster.Shape{Only: "up"}), `no direction "up"`},
	} {
		t.Run(tc.name, func(t *testing.T) { expectError(t, tc.err, tc.expectError) })
	}
	if err := c.Kill(t.Context(), "cp1", cluster.Scheduler); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("%v is no ErrUnsupported", err)
	}
}

func (p *played) stops(t *testing.T) {
	c, root := p.c, p.root
	if err := c.Pause(t.Context(), "cp1", cluster.Etcd); err != nil {
		t.Fatal(err)
	}
	stopCluster(t, c)
	if log := logtail.Read(filepath.Join(c.LogDir(), "cp1-etcd.log")); !strings.Contains(log, "cp1-etcd.key") {
		t.Errorf("log ends with %q", log)
	}
	if left, _ := os.ReadDir(root); len(left) != 0 {
		t.Errorf("left in the state folder: %v", left)
	}
	expectError(t, c.StartMembers(t.Context(), map[string]string{"cp1": fakeplane.Good}), "the cluster was stopped")
}

func TestStartFails(t *testing.T) {
	useFake(t)
	c := newCluster(t, 1, cluster.Options{})
	c.members[0].release = fakeplane.Broken
	err := c.Start(t.Context())
	for _, want := range []string{
		"the cluster local-1 did not start: the apiserver of member cp1 cannot run: it exited 3 times; its log ",
		"cp1-apiserver.log ends with: ",
		"fake: the flag of the year is missing",
	} {
		expectError(t, err, want)
	}
	if !errors.As(err, new(*cluster.StartError)) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%T: %q", err, err)
	}
}

func TestStopInTheMiddleOfStart(t *testing.T) {
	useFake(t)
	seen := &changes{}
	c := newCluster(t, 3, cluster.Options{Observer: seen.add})
	for _, m := range c.members {
		m.release = fakeplane.Unready
	}
	failed := make(chan error, 1)
	go func() { failed <- c.Start(context.Background()) }()
	eventually(t, "an API server", func() bool { return len(seen.all("cp1", cluster.APIServer)) > 0 })
	began := time.Now()
	stopCluster(t, c)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("stopping took %s", took)
	}
	// Which member says so first, and whether it was still to start something or
	// waited already, is a matter of chance.
	expectError(t, <-failed, "the cluster was stopped")
}

func TestStartIsInterrupted(t *testing.T) {
	useFake(t)
	seen := &changes{}
	c := newCluster(t, 1, cluster.Options{Observer: seen.add})
	c.members[0].release = fakeplane.Unready
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	failed := make(chan error, 1)
	go func() { failed <- c.Start(ctx) }()
	eventually(t, "an API server", func() bool { return len(seen.all("cp1", cluster.APIServer)) > 0 })
	cancel(errors.New("enough"))
	expectError(t, <-failed, "waiting for the apiserver of member cp1 was given up: enough")
	if err := c.Stop(ctx); err != nil {
		t.Errorf("Stop with an ended context: %v", err)
	}
	stopCluster(t, c)
}

// A member of which one component is not ready runs all others, as it would with a
// kubelet or a service manager.
func TestStartMembers_GoesOnBesideWhatIsNotReady(t *testing.T) {
	useFake(t)
	c := newCluster(t, 1, cluster.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err := c.StartMembers(ctx, map[string]string{"cp1": fakeplane.Unready})
	var unready *cluster.Unready
	if !errors.As(err, &unready) {
		t.Fatalf("error %v is none of the control plane's", err)
	}
	if unready.Member != "cp1" || unready.Component != cluster.APIServer || unready.Code != 500 || !slices.Equal(unready.Failing, []string{"etcd"}) || unready.Waited <= 0 {
		t.Errorf("told %+v", unready)
	}
	for _, component := range c.upwards() {
		if _, runs := c.Process("cp1", component); !runs {
			t.Errorf("no %s runs", component)
		}
	}
}

func TestStart_AMachineFailureIsNotTheControlPlanes(t *testing.T) {
	useFake(t)
	c := newCluster(t, 1, cluster.Options{})
	c.members[0].release = fakeplane.Full
	err := c.Start(t.Context())
	if unready := (*cluster.Unready)(nil); errors.As(err, &unready) {
		t.Errorf("it blames the control plane: %v", err)
	}
	expectError(t, err, "a failure of this machine (no space left on device)")
}

func TestStopComponent_TellsOfTheStopBeforeTheEnd(t *testing.T) {
	useFake(t)
	seen := &changes{}
	c := newCluster(t, 1, cluster.Options{Observer: seen.add})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.StopComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	told := seen.all("cp1", cluster.APIServer)
	if len(told) != 3 || told[1].What != history.ProcessStopping || told[1].Instance != 1 || told[1].Process != told[0].Process ||
		told[2].What != history.ProcessExited || !told[2].Expected || told[2].Forced {
		t.Errorf("told %+v", told)
	}
	// One that is killed is not asked to stop.
	if err := c.Kill(t.Context(), "cp1", cluster.Etcd); err != nil {
		t.Fatal(err)
	}
	if told := seen.all("cp1", cluster.Etcd); len(told) != 2 || told[1].What != history.ProcessExited {
		t.Errorf("told %+v", told)
	}
}

func TestStopBound(t *testing.T) {
	delayed := cluster.Settings{ShutdownDelayDuration: cluster.Duration(7 * time.Second)}
	for _, tc := range []struct {
		component cluster.Component
		settings  cluster.Settings
		want      time.Duration
	}{
		{cluster.APIServer, cluster.Settings{}, stopGrace},
		{cluster.APIServer, delayed, stopGrace + 7*time.Second},
		{cluster.Etcd, delayed, stopGrace},
	} {
		if got := stopBound(tc.component, tc.settings); got != tc.want {
			t.Errorf("the %s may take %s, want %s", tc.component, got, tc.want)
		}
	}
}

func TestDeafComponentIsKilled(t *testing.T) {
	useFake(t)
	seen := &changes{}
	c := newCluster(t, 1, cluster.Options{Observer: seen.add})
	c.members[0].release = fakeplane.Deaf
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	expectError(t, c.StopComponent(ctx, "cp1", cluster.APIServer), "stopping the apiserver of member cp1")
	if last := seen.last("cp1", cluster.APIServer); last.Exit != "signal: killed" || !last.Forced || !last.Expected {
		t.Errorf("told %+v", last)
	}
}

func TestUnreachableEtcdIsSaid(t *testing.T) {
	useFake(t)
	c := newCluster(t, 1, cluster.Options{})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	setLink(t, c, "cp1", cluster.LinkEtcd, cluster.Shape{Cut: true})
	expectError(t, c.probe.ask(t.Context(), cluster.APIServer, c.members[0].site), "it does not reach its etcd")
}

func TestFixedPorts(t *testing.T) {
	useFake(t)
	var ports port.Source
	defer ports.Close()
	var listeners []net.Listener
	for range 3 {
		listener, err := ports.Listen()
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		listeners = append(listeners, listener)
	}
	listeners[0].Close()
	listeners[1].Close()
	number := listeners[2].Addr().(*net.TCPAddr).Port
	topology := topologyOf(t, 1)
	topology.Spec.Settings.BasePort = number - 2
	_, err := Provider{}.New(t.Context(), topology, cluster.Options{LogDir: t.TempDir()})
	expectError(t, err, fmt.Sprintf("port %d is in use", number))
	root, _ := state.Root()
	if left, _ := os.ReadDir(root); len(left) != 0 {
		t.Errorf("left in the state folder: %v", left)
	}
}

func TestDataFolderThatCannotBeWritten(t *testing.T) {
	useFake(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(state.RootVariable, file)
	_, err := Provider{}.New(t.Context(), topologyOf(t, 1), cluster.Options{})
	expectError(t, err, "set EVENKEEL_STATE to a folder that can be written to")
	expectError(t, checkSpace(t.TempDir(), 1<<30), "is too full")
}

// --- Helpers ---

// changes collects what the observer is told.
type changes struct {
	mu      sync.Mutex
	list    []cluster.Change
	started func(cluster.Change)
}

func (c *changes) add(change cluster.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, change)
	if c.started != nil && change.What == history.ProcessStarted {
		c.started(change)
	}
}

// onStart has every start told to one more; nil ends that.
func (c *changes) onStart(do func(cluster.Change)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = do
}

func (c *changes) all(member string, component cluster.Component) []cluster.Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []cluster.Change
	for _, change := range c.list {
		if change.Member == member && change.Component == component {
			found = append(found, change)
		}
	}
	return found
}

func (c *changes) last(member string, component cluster.Component) cluster.Change {
	found := c.all(member, component)
	if len(found) == 0 {
		return cluster.Change{}
	}
	return found[len(found)-1]
}

func topologyOf(t *testing.T, members int) *cluster.Topology {
	t.Helper()
	topology, err := cluster.LoadTopology(filepath.Join("..", "..", "..", "clusters", fmt.Sprintf("local-%d.yaml", members)))
	if err != nil {
		t.Fatal(err)
	}
	topology.SetRelease(fakeplane.Good)
	return topology
}

func newCluster(t *testing.T, members int, options cluster.Options) *local {
	t.Helper()
	options.LogDir = t.TempDir()
	made, err := cluster.Registry{Provider{}}.New(t.Context(), topologyOf(t, members), options)
	if err != nil {
		t.Fatal(err)
	}
	c := made.(*local)
	t.Cleanup(func() { stopCluster(t, c) })
	return c
}

// stopCluster stops and checks that no process is left.
func stopCluster(t *testing.T, c *local) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if left, err := procfs.WithVariable(state.Marker, c.entry.Record().ID); err != nil || len(left) != 0 {
		t.Errorf("processes left: %v, %v", left, err)
	}
}

func call(ctx context.Context, config *rest.Config, path, body string) (string, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, config.Host+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, raw)
	}
	return string(raw), err
}

func setLink(t *testing.T, c *local, member string, link cluster.Link, shape cluster.Shape) {
	t.Helper()
	if err := c.SetLink(t.Context(), member, link, shape); err != nil {
		t.Fatal(err)
	}
}

func stats(t *testing.T, c *local, member string, link cluster.Link) cluster.LinkStats {
	t.Helper()
	found, err := c.LinkStats(member, link)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want one with %q", err, want)
	}
}
