package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// member is one control-plane member.
type member struct {
	name  string
	site  *site
	units map[cluster.Component]*unit
	links map[cluster.Link]*link.Link
	// keyed is whether new connections of the API server to its etcd go through
	// the keyProxy.
	keyed atomic.Bool

	// turn is taken by the operation on the member; a channel, because
	// waiting for it has to end with a context.
	turn chan struct{}

	mu      sync.Mutex
	release string
	// interceptor is between the controllers and the API server once a fault has
	// needed one.
	interceptor *link.Interceptor
}

func (c *local) newMember(name, release string, options cluster.Options) *member {
	id := c.entry.Record().ID
	m := &member{
		name: name,
		site: &site{
			cluster: id, member: name, serverID: c.distribution.serverID(name),
			dir:       filepath.Join(c.entry.Dir, "members", name),
			readyPath: c.distribution.readyPath,
		},
		units:   map[cluster.Component]*unit{},
		links:   map[cluster.Link]*link.Link{},
		turn:    make(chan struct{}, 1),
		release: release,
	}
	for _, component := range c.distribution.components() {
		m.units[component] = &unit{
			member: name, component: component,
			logFile: filepath.Join(c.logDir, fmt.Sprintf("%s-%s.log", name, component)),
			env:     []string{state.Marker + "=" + id},
			dir:     c.entry.Dir,
			build: func(release string) (command, error) {
				line, err := c.distribution.command(component, m.site, release)
				return line.within(c.entry.Dir), err
			},
			observe: options.Observer,
		}
	}
	for _, one := range []cluster.Link{cluster.LinkClient, cluster.LinkEtcd, cluster.LinkPeer, cluster.LinkComponents, cluster.LinkNode} {
		m.links[one] = link.New(options.Seed, name+"/"+string(one))
	}
	c.members = append(c.members, m)
	c.byName[name] = m
	return m
}

func (m *member) unit(component cluster.Component) (*unit, error) {
	found, ok := m.units[component]
	if !ok {
		return nil, fmt.Errorf("member %s has no %s: %w", m.name, component, cluster.ErrUnsupported)
	}
	return found, nil
}

func (m *member) link(name cluster.Link) (*link.Link, error) {
	found, ok := m.links[name]
	if !ok {
		return nil, fmt.Errorf("member %s has no link %q: %w", m.name, name, cluster.ErrUnsupported)
	}
	return found, nil
}

// only makes every connection belong to one link of the member.
func (m *member) only(name cluster.Link) func(net.Addr) []*link.Link {
	links := []*link.Link{m.links[name]}
	return func(net.Addr) []*link.Link { return links }
}

// fromOutside makes every connection one of the client link, and so of the
// member's way to the outside.
func (m *member) fromOutside() func(net.Addr) []*link.Link {
	links := []*link.Link{m.links[cluster.LinkClient], m.links[cluster.LinkNode]}
	return func(net.Addr) []*link.Link { return links }
}

// toPeers are the links of a member that its etcd's connections belong to.
func (m *member) toPeers() []*link.Link {
	return []*link.Link{m.links[cluster.LinkPeer], m.links[cluster.LinkNode]}
}

// peerLinks makes a connection to the member's etcd belong to the links of
// both ends. All members see the same address of this one, so the other end
// is known only by whose socket it is.
func (c *local) peerLinks(to *member, listener net.Listener) func(net.Addr) []*link.Link {
	proxy := listener.Addr().(*net.TCPAddr)
	return func(client net.Addr) []*link.Link {
		links := to.toPeers()
		inode, ok, err := procfs.SocketInode(client.(*net.TCPAddr), proxy)
		if err != nil || !ok {
			return links // the other end has gone already
		}
		for _, from := range c.members {
			process, ok := from.units[cluster.Etcd].process()
			if from != to && ok && procfs.HoldsSocket(process.PID, inode) {
				links = append(links, from.toPeers()...)
			}
		}
		return links
	}
}

// begin starts one component at the release.
func (c *local) begin(m *member, component cluster.Component, release string) (*unit, error) {
	u, err := m.unit(component)
	if err != nil {
		return nil, err
	}
	return u, u.start(release)
}

// bring starts one component at the release and waits until it is ready.
func (c *local) bring(ctx context.Context, m *member, component cluster.Component, release string) error {
	u, err := c.begin(m, component, release)
	if err != nil {
		return err
	}
	return c.awaitReady(ctx, m, u)
}

// awaitReady waits until a component is ready. What does not become ready is a
// cluster.Unready, unless its log tells that the machine is why.
func (c *local) awaitReady(ctx context.Context, m *member, u *unit) error {
	began := time.Now()
	last := fmt.Errorf("it was not asked")
	crashed := false
	err := wait.PollUntilContextTimeout(ctx, readyPoll, readyBound, true, func(ctx context.Context) (bool, error) {
		if crashed = u.crashes() >= crashLimit; crashed {
			return false, fmt.Errorf("it exited %d times", crashLimit)
		}
		if answer := c.probe.ask(ctx, u.component, m.site); answer != nil {
			// A question that the end of the wait cut short tells nothing.
			if ctx.Err() == nil {
				last = answer
			}
			return false, nil
		}
		_, runs := u.process()
		return runs, nil
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && !cluster.TimedOut(ctx) {
		return fmt.Errorf("waiting for the %s was given up: %w", u, cause)
	}
	unready := &cluster.Unready{Member: u.member, Component: u.component, Waited: time.Since(began), Bound: readyBound}
	var answer *answered
	if errors.As(last, &answer) {
		unready.Code, unready.Failing = answer.code, failingChecks(answer.body)
	}
	said := logtail.Read(u.logFile)
	switch {
	case crashed:
		unready.Bound, unready.What = 0, fmt.Sprintf("cannot run: it exited %d times", crashLimit)
	case ctx.Err() != nil:
		unready.Bound, unready.What = 0, fmt.Sprintf("was not ready after %s, when %v: %v", unready.Waited.Round(time.Millisecond), context.Cause(ctx), last)
	default:
		unready.What = fmt.Sprintf("was not ready within %s: %v", readyBound, last)
	}
	if said == "" {
		unready.What += fmt.Sprintf("; its log %s is empty", u.logFile)
	} else {
		unready.What += fmt.Sprintf("; its log %s ends with: %s", u.logFile, said)
	}
	if failure := cluster.MachineFailure(said); failure != "" {
		return fmt.Errorf("%s, which is a failure of this machine (%s): mend it and run again", unready.Error(), failure)
	}
	return unready
}

// stop ends a component as a service manager would.
func (m *member) stop(ctx context.Context, u *unit) error {
	return u.end(ctx, syscall.SIGTERM, stopBound(u.component, m.site.settings))
}

// take waits for the member's turn. The context that it returns ends with the
// given one and with the cluster.
func (c *local) take(ctx context.Context, name string) (*member, context.Context, func(), error) {
	m, ok := c.byName[name]
	if !ok {
		return nil, nil, nil, fmt.Errorf("the cluster has no member %q; it has: %s", name, strings.Join(c.names(), ", "))
	}
	both, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
	drop := func() { detach(); cancel(nil) }
	select {
	case m.turn <- struct{}{}:
		return m, both, func() { <-m.turn; drop() }, nil
	case <-both.Done():
		cause := context.Cause(both)
		drop()
		return nil, nil, nil, fmt.Errorf("waiting for another operation on member %s was given up: %w", name, cause)
	}
}

func (c *local) names() []string {
	names := make([]string, 0, len(c.members))
	for _, m := range c.members {
		names = append(names, m.name)
	}
	return names
}

// upwards are the member's components in the order in which they start, and
// downwards the other way round.
func (c *local) upwards() []cluster.Component { return c.distribution.components() }

func (c *local) downwards() []cluster.Component {
	order := slices.Clone(c.upwards())
	slices.Reverse(order)
	return order
}
