//go:build linux

package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
	releases "github.com/evenkeel/evenkeel/pkg/release"
)

// Replace implements cluster.NodeUpgrader: in the way that the topology wants.
func (c *kindCluster) Replace(ctx context.Context, name, release string) error {
	if err := c.knows(name, release); err != nil {
		return err
	}
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	if installer, ok := c.distribution.(upgrader); ok && c.topology.Spec.ReplaceWith == cluster.ReplaceWithKubeadm {
		// kubeadm goes up only; back goes what was there before.
		if releases.Compare(release, c.Release(name)) > 0 {
			return installer.upgrade(ctx, c, m, release)
		}
	}
	// What the release needs is there before the member goes down for it.
	if err := c.supply(ctx, m, release); err != nil {
		return err
	}
	if err := c.stopAll(ctx, m); err != nil {
		return err
	}
	return c.startAll(ctx, []*member{m}, map[string]string{name: release})
}

// upgrader is a distribution whose installer can upgrade a member.
type upgrader interface {
	upgrade(ctx context.Context, c *kindCluster, m *member, release string) error
}

// upgrade runs the release's kubeadm in the member's node. For the first member
// of a cluster that is `upgrade apply`, which moves the cluster's configuration;
// for the others `upgrade node`. kubeadm replaces component by component.
func (p *published) upgrade(ctx context.Context, c *kindCluster, m *member, release string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, upgradeBound, fmt.Errorf("kubeadm took longer than %s", upgradeBound))
	defer cancel()
	if err := c.supply(ctx, m, release); err != nil {
		return err
	}
	node, err := kubernetes.LookUpNode(release)
	if err != nil {
		return err
	}
	kubeadm := "/usr/local/bin/kubeadm-" + release
	if _, err := docker(ctx, "cp", node.Kubeadm, m.host+":"+kubeadm); err != nil {
		return err
	}
	if err := p.patchCommands(m, release); err != nil {
		return err
	}
	configured, err := p.configuredRelease(ctx, c, m)
	if err != nil {
		return err
	}
	arguments := []string{"upgrade", "node"}
	if semver.Compare(configured, release) < 0 {
		arguments = []string{"upgrade", "apply", release, "--yes"}
	}
	arguments = append(arguments, "--etcd-upgrade=false", "--ignore-preflight-errors=all",
		"--skip-phases=addon/coredns,addon/kube-proxy", "--patches="+path.Join(agent.Shared, patches))

	// kubeadm writes other keys in the place of those that were there.
	if err := c.gather(ctx); err != nil {
		return fmt.Errorf("upgrading member %s: %w", m.name, err)
	}
	m.mu.Lock()
	m.release = release
	m.mu.Unlock()
	for _, component := range replaced {
		m.units.Starting(component, release)
		m.units.Without(component, m.lacks(component))
		// kubeadm replaces it once. What ends after that falls over by itself.
		m.units.Replacing(component)
	}
	if err := c.run(ctx, m, kubeadm, arguments...); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("upgrading member %s: %w", m.name, err)
	}
	if err := p.adopt(ctx, m); err != nil {
		return err
	}
	for _, component := range replaced {
		if err := c.awaitReady(ctx, m, component); err != nil {
			return err
		}
		m.units.Starting(component, release)
	}
	return nil
}

// patchCommands makes kubeadm give the components the flags of the release:
// its own configuration has those of the release that it began with.
func (p *published) patchCommands(m *member, name string) error {
	for _, component := range replaced {
		release, err := m.at(component, name)
		if err != nil {
			return err
		}
		m.mu.Lock()
		raw := m.pods[component]
		m.mu.Unlock()
		pod, err := parsePod(raw)
		if err != nil {
			return err
		}
		setFlags(&pod.Spec.Containers[0], p.flags(release, component))
		patch, err := json.Marshal([]map[string]any{
			{"op": "replace", "path": "/spec/containers/0/command", "value": pod.Spec.Containers[0].Command},
		})
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(m.shared, patches, binaries[component]+commandsPatch), patch); err != nil {
			return err
		}
	}
	return nil
}

// configuredRelease is what kubeadm's configuration in the cluster says.
func (p *published) configuredRelease(ctx context.Context, c *kindCluster, m *member) (string, error) {
	node, err := c.node(m)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = node.CommandContext(ctx, "kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", "--namespace=kube-system",
		"get", "configmap", "kubeadm-config", "--output=jsonpath={.data.ClusterConfiguration}").SetStdout(&out).Run()
	if err != nil {
		return "", fmt.Errorf("reading kubeadm's configuration: %w", explain(err))
	}
	for line := range strings.Lines(out.String()) {
		if release, found := strings.CutPrefix(strings.TrimSpace(line), "kubernetesVersion: "); found {
			return strings.TrimSpace(release), nil
		}
	}
	return "", fmt.Errorf("kubeadm's configuration in %s names no version", filepath.Base(m.host))
}
