//go:build linux

// Package kind runs a control plane as kind nodes: one container for each
// member, with a kubelet that runs the member's components as static Pods, and a
// load balancer in front of them. It needs Docker, and node images, which
// `make node-images` provides.
//
// What Kubernetes itself is, kubeadm sets up; the reference control plane is
// put on bare nodes. An agent inside each node (package agent) tells of its
// processes and carries its links. Everything of a cluster at the container
// engine carries the cluster's ID as a label, all its files lie in the folder
// that package state registers for it.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// Name is what topologies call this provider.
const Name = "kind"

// longestName leaves room, in a host name of 63 letters, for the random part of
// an ID and for what kind puts behind it.
const longestName = 63 - len("-xxxxxxxx") - len("-external-load-balancer")

// The modes of what a cluster leaves on the disk; all of it is its owner's.
const (
	folderMode  = 0o700
	privateMode = 0o600
)

// Provider makes clusters of kind nodes.
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
// certificates and chooses its ports. Nothing is made at the container engine
// before Start.
func (Provider) New(ctx context.Context, topology *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	runs, err := distributionOf(ctx, topology.Spec.Distribution)
	if err != nil {
		return nil, err
	}
	if err := runs.configure(ctx, topology, options.Defects); err != nil {
		if topology.File != "" {
			err = fmt.Errorf("%s: %w", topology.File, err)
		}
		return nil, err
	}
	if err := checkEngine(ctx); err != nil {
		return nil, err
	}
	releases, err := runs.releases(ctx)
	if err != nil {
		return nil, err
	}
	entry, err := register(topology, options)
	if err != nil {
		return nil, err
	}
	c := newCluster(entry, runs, releases, topology, options)
	if err := c.prepare(); err != nil {
		// Nothing runs yet, so there are no logs to leave either. `evenkeel cluster clean`
		// removes what stays.
		_ = c.Stop(ctx)
		_ = entry.Remove()
		return nil, fmt.Errorf("cannot prepare the cluster %s: %w", entry.Record().Name, err)
	}
	return c, nil
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
	// What follows from a long name must still be a host name.
	id := state.NewID(strings.TrimRight(name[:min(len(name), longestName)], "-"))
	return state.Register(root, state.Record{
		ID: id, Name: name,
		Topology: topology.Metadata.Name, File: topology.File, Provider: Name,
		Owner: owner, Created: time.Now(), Bundle: options.BundleDir,
	})
}

// prepare makes all files that have to exist before the first node.
func (c *kindCluster) prepare() error {
	for _, dir := range []string{c.logDir, c.imageDir()} {
		if err := os.MkdirAll(dir, folderMode); err != nil {
			return fmt.Errorf("cannot make a folder: %w", err)
		}
	}
	if err := c.choosePorts(); err != nil {
		return err
	}
	if err := c.issueCertificates(); err != nil {
		return fmt.Errorf("cannot write certificates: %w", err)
	}
	for _, m := range c.members {
		if err := c.equip(m); err != nil {
			return fmt.Errorf("cannot write the files of member %s: %w", m.name, err)
		}
	}
	return c.publish()
}

func (c *kindCluster) imageDir() string { return filepath.Join(c.entry.Dir, "images") }
