package external

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// countedFilter is a packet filter that only counts.
type countedFilter struct {
	mu         sync.Mutex
	cut, mends int
}

func (f *countedFilter) Cut([]netip.Addr, bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut++
	return nil
}

func (f *countedFilter) Mend() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mends++
	return nil
}

func (*countedFilter) Dropped() (int64, error) { return 3, nil }

// agentNode is a node of one member, with an agent on it and a scheduler that a kubelet of
// the test runs as long as its manifest is there.
type agentNode struct {
	*plane
	manifest string
	filter   *countedFilter
	clock    *clocktesting.FakeClock // of the agent
}

// withAgent puts an agent of a rung on the node of the only member.
func (p *plane) withAgent(rung cluster.Rung) *agentNode {
	p.t.Helper()
	p.agent = rung
	manifests := p.t.TempDir()
	n := &agentNode{plane: p, manifest: filepath.Join(manifests, "sleeper.yaml"), filter: &countedFilter{}, clock: clocktesting.NewFakeClock(time.Now())}
	if err := os.WriteFile(n.manifest, []byte("kind: Pod\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	made, err := install.MakeKeys(install.KeysFolder(p.topology()))
	if err != nil {
		p.t.Fatal(err)
	}
	keys := p.t.TempDir()
	for name, content := range map[string][]byte{
		agent.AuthorityFile: made.CA, agent.CertFile: made.Server.CertPEM, agent.KeyFile: made.Server.KeyPEM, agent.SaltFile: made.Salt,
	} {
		if err := os.WriteFile(filepath.Join(keys, name), content, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	// Every address of 127.0.0.0/8 is this machine's, so that the port can be the agent's own.
	listener, err := net.Listen("tcp", net.JoinHostPort(agentHost, fmt.Sprint(agent.Port)))
	if err != nil {
		p.t.Fatal(err)
	}
	healthy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	p.t.Cleanup(healthy.Close)
	service, err := agent.NewService(agent.Installed{
		Rung: rung, Manifests: manifests, Logs: p.t.TempDir(), Expires: time.Now().Add(time.Hour),
		Components: []agent.Component{
			{Name: cluster.APIServer, Program: n.program("apiserver"), Pod: "apiserver"},
			{Name: cluster.Scheduler, Program: n.program("scheduler"), Pod: "sleeper", Health: healthy.URL},
		},
	}, keys, "node-1", "v1", n.filter, n.clock)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx, listener, slog.New(slog.DiscardHandler)) }()
	p.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			p.t.Error(err)
		}
	})
	n.run("apiserver", func() bool { return true })
	n.run("scheduler", func() bool { _, err := os.Stat(n.manifest); return err == nil })
	return n
}

// agentHost is an address of this machine that nothing else of the tests uses.
const agentHost = "127.37.37.37"

// program is the name of a component's program, which no other process of this machine has.
func (n *agentNode) program(component string) string {
	return fmt.Sprintf("%s-%d", component, os.Getpid())
}

// run keeps a process of a component running as a kubelet does, while wanted.
func (n *agentNode) run(component string, wanted func() bool) {
	n.t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		n.t.Fatal(err)
	}
	path := filepath.Join(n.t.TempDir(), n.program(component))
	if err := os.Symlink(sleep, path); err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if wanted() {
				_ = exec.CommandContext(ctx, path, "3600").Run()
			}
			pause(ctx, frozenLook)
		}
	})
	n.t.Cleanup(func() { cancel(); running.Wait() })
}

// seenBy waits for a change of a component.
func (n *agentNode) seenBy(component cluster.Component, what string, expected bool) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 10*time.Second)
	defer cancel()
	for {
		n.changes.mu.Lock()
		found := slices.ContainsFunc(n.changes.all, func(one cluster.Change) bool {
			return one.Component == component && one.What == what && one.Expected == expected && one.Process.Seen() && !one.Noticed
		})
		n.changes.mu.Unlock()
		if found {
			return
		}
		if ctx.Err() != nil {
			n.t.Fatalf("no %s of the %s (expected %t) was told of: %+v", what, component, expected, n.changes.all)
		}
		pause(ctx, frozenLook)
	}
}

func TestAgent_SeesAndOperatesComponents(t *testing.T) {
	n := newPlane(t, "cp1").withAgent(cluster.RungDisrupt)
	c := n.up()
	if why := cluster.Lacking(c, cluster.SeesProcesses, cluster.Kills, cluster.Pauses, cluster.StopsComponents, cluster.CutsOff); why != "" {
		t.Errorf("it lacks: %s", why)
	}
	n.seenBy(cluster.Scheduler, history.ProcessStarted, false)

	// A pause is the kernel's word, and a resume too.
	if err := c.Pause(t.Context(), "cp1", cluster.Scheduler); err != nil {
		t.Fatal(err)
	}
	if held, err := c.Paused("cp1", cluster.Scheduler); err != nil || !held {
		t.Errorf("paused: %t, %v", held, err)
	}
	if err := c.Resume(t.Context(), "cp1", cluster.Scheduler); err != nil {
		t.Fatal(err)
	}
	if held, err := c.Paused("cp1", cluster.Scheduler); err != nil || held {
		t.Errorf("resumed: %t, %v", !held, err)
	}

	// What is killed stays away, and what is started is another process.
	before, _ := c.Process("cp1", cluster.Scheduler)
	if err := c.Kill(t.Context(), "cp1", cluster.Scheduler); err != nil {
		t.Fatal(err)
	}
	n.seenBy(cluster.Scheduler, history.ProcessExited, true)
	if process, runs := c.Process("cp1", cluster.Scheduler); runs {
		t.Errorf("after it was killed %+v runs", process)
	}
	if err := c.StartComponent(t.Context(), "cp1", cluster.Scheduler); err != nil {
		t.Fatal(err)
	}
	if now, runs := c.Process("cp1", cluster.Scheduler); !runs || now == before {
		t.Errorf("%+v runs, and before it was %+v", now, before)
	}

	// A node that is cut off counts what it drops.
	if err := c.SetLink(t.Context(), "cp1", cluster.LinkNode, cluster.Shape{Cut: true}); err != nil || n.filter.cut != 1 {
		t.Errorf("%v, %+v", err, n.filter)
	}
	if stats, err := c.LinkStats("cp1", cluster.LinkNode); err != nil || stats.Withheld != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
	if err := c.SetLink(t.Context(), "cp1", cluster.LinkNode, cluster.Shape{}); err != nil {
		t.Error(err)
	}
}

// Stop takes back what is still in effect, and so does the agent if the harness is killed.
func TestAgent_LeavesTheNodeAsItWasFound(t *testing.T) {
	n := newPlane(t, "cp1").withAgent(cluster.RungDisrupt)
	c := n.up()
	n.seenBy(cluster.Scheduler, history.ProcessStarted, false)
	if err := c.StopComponent(t.Context(), "cp1", cluster.Scheduler); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(n.manifest); err == nil {
		t.Error("the manifest is there while the component is stopped")
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if raw, err := os.ReadFile(n.manifest); err != nil || string(raw) != "kind: Pod\n" {
		t.Errorf("the manifest is %q, %v", raw, err)
	}
}

func TestAgent_ThatLooksOperatesNothing(t *testing.T) {
	n := newPlane(t, "cp1").withAgent(cluster.RungLook)
	c := n.up()
	n.seenBy(cluster.Scheduler, history.ProcessStarted, false)
	if why := cluster.Lacking(c, cluster.SeesProcesses); why != "" {
		t.Errorf("it lacks: %s", why)
	}
	if why := cluster.Lacking(c, cluster.Kills); why != "the topology has no hook kill" {
		t.Errorf("it lacks: %q", why)
	}
	if err := c.Kill(t.Context(), "cp1", cluster.Scheduler); err == nil {
		t.Error("it kills")
	}
}

func TestAgent_NothingIsDoneWithoutLeave(t *testing.T) {
	n := newPlane(t, "cp1").withAgent(cluster.RungDisrupt)
	c, err := n.made(true)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(t.Context(), "cp1", cluster.Scheduler); err == nil || !strings.Contains(err.Error(), "--allow-disruption") {
		t.Errorf("%v", err)
	}
}

func TestAgent_OfAnotherRungIsRefused(t *testing.T) {
	n := newPlane(t, "cp1").withAgent(cluster.RungLook)
	n.agent = cluster.RungDisrupt
	if _, err := n.made(false); err == nil || !strings.Contains(err.Error(), "install it again with `evenkeel agent install`") {
		t.Errorf("%v", err)
	}
}

// A renewal that came after the run has left the agent would begin a session that nothing ends:
// the agent would find its harness silent, and be away when the next run begins.
func TestAgent_IsNotRenewedAfterItWasLeft(t *testing.T) {
	n := newPlane(t, "cp1").withAgent(cluster.RungDisrupt)
	c := n.up()
	others, _, err := agents(n.topology(), "another")
	if err != nil {
		t.Fatal(err)
	}
	on := c.(*external).members[0].node
	stop, stopped := on.stopRenewing, false
	on.stopRenewing = func() {
		stop()
		on.renewing.Wait()
		stopped = true
		if err := others["cp1"].Renew(t.Context(), nil); err == nil {
			t.Error("the agent was left before the renewals had ended")
		}
	}
	if err := c.Stop(t.Context()); err != nil || !stopped {
		t.Errorf("the renewals have ended: %t, %v", stopped, err)
	}
	if err := others["cp1"].Renew(t.Context(), nil); err != nil {
		t.Errorf("the next run: %v", err)
	}
}

// An agent that starts anew is away for a moment, and not for ever.
func TestAgent_IsWaitedForWhenARunBegins(t *testing.T) {
	n := newPlane(t, "cp1").withAgent(cluster.RungLook)
	c, err := n.made(false)
	if err != nil {
		t.Fatal(err)
	}
	m := c.(*external).members[0]
	refusals := 2
	secured, _, err := install.ClientTLS(install.KeysFolder(n.topology()))
	if err != nil {
		t.Fatal(err)
	}
	m.node.agent = agent.NewRemoteClient("cp1", "r1", func(ctx context.Context) (net.Conn, error) {
		if refusals--; refusals >= 0 {
			return nil, errors.New("connection refused")
		}
		return agent.Direct(agentHost)(ctx)
	}, secured)
	if err := m.meetAgent(t.Context()); err != nil || refusals >= 0 {
		t.Errorf("%v, with %d refusals left", err, refusals)
	}
}
