package external

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	apiwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// node is what the provider has of a member's node where Evenkeel's agent runs there.
type node struct {
	agent  *agent.Client
	etcd   clientv3.Config
	units  *agent.Units
	health []cluster.Component // those that the agent asks whether they are ready
	// reads is whether the agent shows the node's etcd.
	reads bool
	// begun is whether the run has begun a session with the agent.
	begun bool
	// renewing is the renewal of the session, which stopRenewing ends.
	renewing     sync.WaitGroup
	stopRenewing context.CancelFunc
}

// agentName is how errors name the agent.
const agentName = "Evenkeel's agent"

// agents gives every member its agent, if the topology has one.
func (c *external) agents(run string) (secrets []credential.Credential, err error) {
	if c.spec.Agent == "" {
		return nil, nil
	}
	components, err := install.Components(c.topology.Spec.Distribution)
	if err != nil {
		return nil, err
	}
	clients, secrets, err := agents(c.topology, run)
	if err != nil {
		return nil, err
	}
	secured, _, err := install.ClientTLS(install.KeysFolder(c.topology))
	if err != nil {
		return nil, err
	}
	c.components = nil
	for _, one := range components {
		c.components = append(c.components, one.Name)
	}
	for i, m := range c.members {
		dial, err := agentDialer(c.topology, c.topology.Spec.Members[i])
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", m.name, err)
		}
		m.node = &node{agent: clients[m.name], etcd: clientv3.Config{
			Endpoints: []string{fmt.Sprintf("https://%s:%d", agent.ServerName, agent.Port)}, TLS: secured, DialTimeout: dialBound, Logger: zap.NewNop(),
			DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) })},
		}}
		for _, one := range components {
			if one.Health != "" {
				m.node.health = append(m.node.health, one.Name)
			}
		}
	}
	return secrets, nil
}

// meetAgent asks the member's agent who it is, and begins to know its processes.
func (m *member) meetAgent(ctx context.Context) error {
	if m.node == nil {
		return nil
	}
	var who agent.Who
	var err error
	// One that starts anew, as after a run that was killed, is away for a moment.
	_ = apiwait.PollUntilContextTimeout(ctx, agentRetry, agentAwayBound, true, func(ctx context.Context) (bool, error) {
		who, err = m.node.agent.Who(ctx)
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w; `evenkeel agent install` puts it there", err)
	}
	if m.cluster.spec.Agent == cluster.RungDisrupt && who.Rung != cluster.RungDisrupt {
		return fmt.Errorf("its agent was installed to %s, and the topology has spec.external.agent: %s: install it again with `evenkeel agent install`", who.Rung, cluster.RungDisrupt)
	}
	m.node.reads = who.Etcd
	m.node.units = agent.NewUnits(m.name, m.cluster.components, m.release, m.cluster.observe).Found()
	return nil
}

// follow has the agent tell of processes and logs, and keeps its session, until the cluster
// is stopped.
func (c *external) follow(ctx context.Context, m *member) error {
	if m.node == nil {
		return nil
	}
	if c.obeys() {
		if err := m.node.agent.Renew(ctx, c.bequest.Load()); err != nil {
			return err
		}
		m.node.begun = true
		renewed, stop := context.WithCancel(c.life)
		m.node.stopRenewing = stop
		m.node.renewing.Go(func() { c.renewSession(renewed, m) })
	}
	c.watching.Go(func() {
		for c.life.Err() == nil {
			_ = m.node.agent.Events(c.life, m.node.units.Listener()) // it is heard again at once
			pause(c.life, agentRetry)
		}
	})
	for _, component := range c.components {
		c.watching.Go(func() { c.keepLog(m, component) })
	}
	return m.node.units.Await(ctx, func() bool {
		_, runs := m.node.units.Process(cluster.APIServer)
		return runs
	})
}

// obeys is whether agents may be told to change their nodes.
func (c *external) obeys() bool { return c.allowed && c.spec.Agent == cluster.RungDisrupt }

// renewSession keeps the dead man's switch of a member's agent from closing, until the context
// ends: one that came after the session was left would begin another. That the agent does not hear
// of it for a while shows where something is asked of it.
func (c *external) renewSession(ctx context.Context, m *member) {
	for {
		pause(ctx, agent.RenewInterval)
		if ctx.Err() != nil {
			return
		}
		bounded, cancel := context.WithTimeout(c.life, agent.RenewInterval)
		_ = m.node.agent.Renew(bounded, c.bequest.Load())
		cancel()
	}
}

// keepLog writes what a component says from now on to its log. What the agent does not tell
// while it is away is told when it is back.
func (c *external) keepLog(m *member, component cluster.Component) {
	after := time.Now()
	path := filepath.Join(c.logDir, fmt.Sprintf("%s-%s.log", m.name, component))
	for c.life.Err() == nil {
		err := m.node.agent.Logs(c.life, component, after, func(chunk agent.LogChunk) {
			if chunk.Last.After(after) {
				after = chunk.Last
			}
			into, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, logMode)
			if err != nil {
				return // a log is no reason for a run to fail
			}
			defer into.Close()
			_, _ = into.WriteString(chunk.Text)
		})
		if errors.Is(err, cluster.ErrUnsupported) {
			return // the member has no such component
		}
		pause(c.life, agentRetry)
	}
}

// pause lets time pass until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// agentDoes are the hooks that the agent stands in for where the topology has none.
var agentDoes = []string{
	cluster.HookKill, cluster.HookPause, cluster.HookResume, cluster.HookStop, cluster.HookStart, cluster.HookCutOff, cluster.HookReconnect,
}

// byAgent is whether the agent does what a hook stands for: where the topology has a hook for
// it, the hook does.
func (c *external) byAgent(hook string) bool {
	if _, ok := c.spec.Hooks[hook]; ok {
		return false
	}
	return c.spec.Agent == cluster.RungDisrupt && slices.Contains(agentDoes, hook)
}

// throughAgent is the etcd of a member as its agent shows it.
func (m *member) throughAgent() (clientv3.Config, bool) {
	if m.node == nil || !m.node.reads {
		return clientv3.Config{}, false
	}
	return m.node.etcd, true
}

// awaitComponent waits until a process of a component runs and is ready, as far as that can
// be asked.
func (m *member) awaitComponent(ctx context.Context, component cluster.Component) error {
	began := time.Now()
	last := errors.New("no process of it was seen")
	err := apiwait.PollUntilContextTimeout(ctx, readyPoll, readyBound, true, func(ctx context.Context) (bool, error) {
		if _, runs := m.node.units.Process(component); !runs {
			return false, nil
		}
		switch {
		case component == cluster.APIServer:
			last = m.asker.ready(ctx)
		case slices.Contains(m.node.health, component):
			last = m.node.agent.Health(ctx, component)
		default:
			last = nil
		}
		return last == nil, nil
	})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && !cluster.TimedOut(ctx) {
		return context.Cause(ctx)
	}
	return &cluster.Unready{
		Member: m.name, Component: component, Waited: time.Since(began), Bound: readyBound,
		What: fmt.Sprintf("was not ready within %s of its start: %v", readyBound, last),
	}
}
