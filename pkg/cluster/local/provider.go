// Package local runs a control plane as processes on this machine: real
// binaries, real TLS, real etcd, without containers or privileges.
//
// Each component of each member is a process of its own that can be killed,
// paused and replaced alone. What goes from one to the other passes proxies
// inside the harness, the links, which can delay and cut. Everything listens
// on the loopback only. All files of a cluster lie in the folder that package
// state registers for it, and every process carries the cluster's ID.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// The modes of what a cluster leaves on the disk; all of it is its owner's.
const (
	folderMode  = 0o700
	privateMode = 0o600
)

// Name is what topologies call this provider.
const Name = "local"

// Provider makes clusters of local processes.
type Provider struct{}

var _ cluster.Provider = Provider{}

// Name implements cluster.Provider.
func (Provider) Name() string { return Name }

// Releases implements cluster.Provider.
func (Provider) Releases(ctx context.Context, distribution string) ([]string, error) {
	runs, err := distributionOf(ctx, distribution)
	if err != nil {
		return nil, err
	}
	return runs.releases(ctx)
}

// Defects implements cluster.Provider.
func (Provider) Defects(ctx context.Context, distribution string) ([]cluster.Defect, error) {
	runs, err := distributionOf(ctx, distribution)
	if err != nil {
		return nil, err
	}
	return runs.defects(ctx)
}

// New implements cluster.Provider: it registers the cluster, writes its
// certificates, and opens its ports and links.
func (Provider) New(ctx context.Context, topology *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	runs, err := distributionOf(ctx, topology.Spec.Distribution)
	if err != nil {
		return nil, err
	}
	if runs, err = runs.configure(topology); err != nil {
		if topology.File != "" {
			err = fmt.Errorf("%s: %w", topology.File, err)
		}
		return nil, err
	}
	if topology.Spec.ReplaceWith != "" {
		return nil, fmt.Errorf("%s: spec.replaceWith cannot be set: the local provider stops processes and starts others, and has no other way", topology.File)
	}
	releases, err := runs.releases(ctx)
	if err != nil {
		return nil, err
	}
	planted, err := plant(ctx, runs, options.Defects)
	if err != nil {
		return nil, err
	}
	entry, err := register(topology, options)
	if err != nil {
		return nil, err
	}
	c := &local{entry: entry, distribution: runs, releases: releases, byName: map[string]*member{}}
	c.life, c.endLife = context.WithCancelCause(context.Background())
	if err := c.prepare(topology, options, planted); err != nil {
		// Nothing runs yet, so there are no logs to leave either. `evenkeel cluster clean`
		// removes what stays.
		_ = c.Stop(ctx)
		_ = entry.Remove()
		return nil, fmt.Errorf("cannot prepare the cluster %s: %w", entry.Record().Name, err)
	}
	return c, nil
}

// plant sorts defects by the component that is to have them.
func plant(ctx context.Context, runs distribution, ids []string) (map[cluster.Component][]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := runs.defects(ctx)
	if err != nil {
		return nil, err
	}
	return refplane.Plant(known, ids)
}

func register(topology *cluster.Topology, options cluster.Options) (*state.Entry, error) {
	root, err := state.Root()
	if err != nil {
		return nil, err
	}
	owner, err := state.Self(options.Owner)
	if err != nil {
		return nil, err
	}
	name := options.Name
	if name == "" {
		name = topology.Metadata.Name
	}
	return state.Register(root, state.Record{
		ID: state.NewID(name), Name: name,
		Topology: topology.Metadata.Name, File: topology.File, Provider: Name,
		Owner: owner, Created: time.Now(), Bundle: options.BundleDir,
	})
}

// prepare makes everything that has to exist before the first process.
func (c *local) prepare(topology *cluster.Topology, options cluster.Options, planted map[cluster.Component][]string) error {
	if err := checkSpace(c.entry.Dir, len(topology.Spec.Members)); err != nil {
		return err
	}
	c.logDir = options.LogDir
	if c.logDir == "" {
		c.logDir = filepath.Join(c.entry.Dir, "logs")
	}
	if err := os.MkdirAll(c.logDir, folderMode); err != nil {
		return fmt.Errorf("cannot make the folder for logs: %w", err)
	}
	ca, err := pki.New(filepath.Join(c.entry.Dir, "pki"), c.entry.Record().ID)
	if err != nil {
		return err
	}
	c.ca = ca
	if c.frontProxy, err = pki.New(filepath.Join(c.entry.Dir, "pki", "front-proxy"), c.entry.Record().ID+"-front-proxy"); err != nil {
		return err
	}
	if c.admin, err = ca.Issue("admin", pki.Subject{Name: "evenkeel-admin", Organization: "system:masters"}); err != nil {
		return err
	}
	serviceAccounts, err := ca.Issue("service-accounts", pki.Subject{Name: "service-accounts"})
	if err != nil {
		return err
	}
	config, err := ca.ClientTLS(c.admin)
	if err != nil {
		return err
	}
	c.probe = newProbe(config)

	c.ports.Next = topology.Spec.Settings.BasePort
	for _, spec := range topology.Spec.Members {
		m := c.newMember(spec.Name, topology.ReleaseOf(spec), options)
		m.site.settings, m.site.planted = topology.Spec.Settings, planted
		m.site.serviceAccountPair = serviceAccounts
		if err := c.connect(m); err != nil {
			return err
		}
		if err := c.equip(m); err != nil {
			return err
		}
		if err := c.addScheduler(m); err != nil {
			return err
		}
		if err := c.addAggregatedServer(m); err != nil {
			return err
		}
	}
	for _, m := range c.members {
		m.site.initialCluster = initialClusterOf(c.sites())
		for _, one := range m.site.proxies() {
			one.Start()
		}
	}
	if err := c.balance(); err != nil {
		return err
	}
	if err := c.balanceAggregated(); err != nil {
		return err
	}
	return c.publish()
}

// connect opens the member's ports and links.
func (c *local) connect(m *member) error {
	s := m.site
	for _, one := range []**port.Slot{&s.etcdClient, &s.etcdPeer, &s.apiserver, &s.controllerManager} {
		opened, err := port.New(&c.ports)
		if err != nil {
			return err
		}
		*one = opened
	}
	for _, one := range []struct {
		at   **link.Proxy
		to   *port.Slot
		link cluster.Link
	}{
		{&s.clientProxy, s.apiserver, cluster.LinkClient},
		{&s.etcdProxy, s.etcdClient, cluster.LinkEtcd},
		{&s.peerProxy, s.etcdPeer, cluster.LinkPeer},
		{&s.componentsProxy, s.apiserver, cluster.LinkComponents},
	} {
		listener, err := c.ports.Listen()
		if err != nil {
			return err
		}
		linksOf, dial := m.only(one.link), link.To(one.to.Address)
		switch one.link {
		case cluster.LinkEtcd:
			if dial, err = c.toEtcd(m); err != nil {
				return err
			}
		case cluster.LinkComponents:
			dial = m.toAPIServer
		case cluster.LinkClient:
			linksOf = m.fromOutside()
		case cluster.LinkPeer:
			linksOf = c.peerLinks(m, listener)
		case cluster.LinkNode: // all links of a member together, which have no proxy of their own
		}
		*one.at = link.NewProxy(listener, dial, linksOf)
	}
	m.units[cluster.Etcd].slots = []*port.Slot{s.etcdClient, s.etcdPeer}
	m.units[cluster.APIServer].slots = []*port.Slot{s.apiserver}
	m.units[cluster.ControllerManager].slots = []*port.Slot{s.controllerManager}
	return nil
}

// serviceName is what kube-apiserver expects its peers to show, at whatever
// address it reaches them.
const serviceName = "kubernetes.default.svc"

// equip writes the member's certificates and its controllers' kubeconfig.
func (c *local) equip(m *member) error {
	s := m.site
	if err := os.MkdirAll(s.dir, folderMode); err != nil {
		return fmt.Errorf("cannot make the member's data folder: %w", err)
	}
	s.caFile, s.frontProxyCAFile = c.ca.File(), c.frontProxy.File()
	type wanted struct {
		at   *pki.Pair
		file string
		by   *pki.Authority
		whom pki.Subject
	}
	all := []wanted{
		{&s.etcdPair, "etcd", c.ca, pki.Subject{Name: m.name, Server: true}},
		{&s.apiserverPair, "apiserver", c.ca, pki.Subject{Name: s.serverID, Server: true, Hosts: []string{serviceName}}},
		{&s.etcdClientPair, "apiserver-etcd-client", c.ca, pki.Subject{Name: s.serverID}},
		{&s.controllerPair, "controller-manager", c.ca, pki.Subject{Name: "controller-manager-" + m.name, Server: true}},
		{&s.controllerClient, "controller-manager-client", c.ca, pki.Subject{Name: "system:kube-controller-manager"}},
	}
	if s.settings.PeerDiscovery || s.settings.AggregatedServers {
		all = append(all, wanted{&s.frontProxyPair, "front-proxy", c.frontProxy, pki.Subject{Name: pki.FrontProxy}})
	}
	for _, one := range all {
		pair, err := one.by.Issue(m.name+"-"+one.file, one.whom)
		if err != nil {
			return fmt.Errorf("cannot write certificates: %w", err)
		}
		*one.at = pair
	}
	s.controllerKubeconfig = filepath.Join(s.dir, "controller-manager.kubeconfig")
	if err := pki.WriteKubeconfig(s.controllerKubeconfig, c.ca, "system:kube-controller-manager", s.controllerClient,
		pki.Endpoint{Name: m.name, URL: s.componentsProxy.URL()}); err != nil {
		return err
	}
	return pki.WriteKubeconfig(filepath.Join(s.dir, "admin.kubeconfig"), c.ca, "evenkeel-admin", c.admin,
		pki.Endpoint{Name: m.name, URL: s.apiserver.URL()})
}

// publish writes the kubeconfig of all members and completes the record.
func (c *local) publish() error {
	var endpoints []pki.Endpoint
	var recorded []state.Member
	for _, m := range c.members {
		endpoints = append(endpoints, pki.Endpoint{Name: m.name, URL: m.site.apiserver.URL()})
		recorded = append(recorded, state.Member{Name: m.name, ServerID: m.site.serverID, Release: m.release, URL: m.site.apiserver.URL()})
	}
	if err := pki.WriteKubeconfig(c.Kubeconfig(), c.ca, "evenkeel-admin", c.admin, endpoints...); err != nil {
		return err
	}
	return c.entry.Update(func(record *state.Record) {
		record.Kubeconfig, record.Members = c.Kubeconfig(), recorded
	})
}
