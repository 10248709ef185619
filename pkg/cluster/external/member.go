package external

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// member is one control-plane node of the cluster, of which nothing but its API
// server is seen.
type member struct {
	cluster              *external
	name, host, serverID string
	address              string // where a driver reaches it
	wanted               string // the release that the topology names; may be empty
	etcd                 *cluster.EtcdAccess
	config               *rest.Config
	base                 string
	asker                asker
	version              string // of the API server that was met first
	first                metrics
	woken                chan struct{}
	node                 *node // nil without an agent

	// turn keeps operations on the member apart.
	turn sync.Mutex

	mu      sync.Mutex
	release string
	// process is the API server that answered last, and instance how many there were;
	// runs is whether it is there, as far as is known.
	process  cluster.Process
	instance int
	runs     bool
	// ending is whether a hook is to end it, so that it is no surprise if it goes.
	ending bool
	// undead is whether the process that a hook was to end has answered again, or another
	// member's in its place: that is told once.
	undead bool
	// paused, cut, off and ended are what hooks have done and others must take back.
	paused          map[cluster.Component]bool
	cut, off, ended bool
	// changed is whether the agent was told to change the node.
	changed bool
	// killed is the process that a hook was asked to kill, until another one answers.
	killed cluster.Process
	// moved is closed and replaced whenever the process is another one or gone.
	moved chan struct{}
}

func newMember(c *external, topology *cluster.Topology, spec cluster.MemberSpec) (*member, error) {
	host := spec.External.Host
	if host == "" {
		host = spec.Name
	}
	m := &member{
		cluster: c, name: spec.Name, host: host, serverID: spec.External.ServerID,
		wanted: topology.ReleaseOf(spec), etcd: located(topology, spec.External.Etcd),
		address: cmp.Or(spec.External.Address, host),
		woken:   make(chan struct{}, 1), moved: make(chan struct{}), paused: map[cluster.Component]bool{},
	}
	if m.serverID == "" {
		m.serverID = serverID(topology.Spec.Distribution, m.name, host)
	}
	config, err := load(topology, spec.External.Kubeconfig)
	if err != nil {
		return nil, err
	}
	c.watchSent(m.name, config)
	m.config = config
	m.asker, m.base, err = newAsker(config)
	return m, err
}

// meet learns which process answers, over several connections, and its release.
func (m *member) meet(ctx context.Context) error {
	for i := range meetings {
		read, err := m.asker.metrics(ctx)
		if err != nil {
			return err
		}
		if i > 0 && read.start != m.first.start {
			return fmt.Errorf("several API servers answer at %s, so that it seems to be the address of a load balancer: name the one of the member's own", m.base)
		}
		m.first = read
	}
	version, err := m.asker.version(ctx)
	if err != nil {
		return err
	}
	m.version = version
	return nil
}

// tellApart refuses two members that are one API server.
func (c *external) tellApart(ctx context.Context) error {
	for i, m := range c.members {
		for _, other := range c.members[:i] {
			if m.serverID != "" && m.serverID == other.serverID {
				return fmt.Errorf("%s and %s have the same identity %q: give each its own spec.members[].external.serverID", other.name, m.name, m.serverID)
			}
			if m.first.start != other.first.start {
				continue
			}
			same, err := sameProcess(ctx, other.asker, m.asker)
			if err != nil {
				return fmt.Errorf("compare the API servers of %s and %s: %w", other.name, m.name, err)
			}
			if same {
				return fmt.Errorf("the same API server answers for %s and for %s: each member needs a kubeconfig that leads to its own", other.name, m.name)
			}
		}
	}
	return nil
}

// sameProcess is whether two ways lead to one process. Of one process, what is read
// over the one way always lies between two readings over the other.
func sameProcess(ctx context.Context, one, other asker) (bool, error) {
	for range comparisons {
		before, err := one.metrics(ctx)
		if err != nil {
			return false, err
		}
		between, err := other.metrics(ctx)
		if err != nil {
			return false, err
		}
		after, err := one.metrics(ctx)
		if err != nil {
			return false, err
		}
		if !between.between(before, after) {
			return false, nil
		}
	}
	return true, nil
}
