//go:build linux

package kind

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

const (
	// agentProgram is where a node has this executable.
	agentProgram = "/usr/local/bin/evenkeel-agent"
	// manifests is where kubeadm has the kubelet look for static Pods.
	manifests = "/etc/kubernetes/manifests"
	// podsOfKubelet has what the kubelet keeps of each Pod.
	podsOfKubelet = "/var/lib/kubelet/pods"
	// linkOfAgent is a link that every agent knows.
	linkOfAgent = cluster.LinkEtcd
)

// serviceFiles make the agent a service of the node that is up before the
// kubelet: no static Pod is to start unseen, and connections are carried only
// if they are made after the agent's rules.
var serviceFiles = []struct{ name, path, content string }{
	{"agent.service", "evenkeel-agent.service", `[Unit]
Description=Evenkeel's agent in this node

[Service]
Type=notify
Environment=` + agent.Variable + `=` + agent.Shared + `/` + agent.ConfigFile + `
ExecStart=` + agentProgram + `
Restart=always
`},
	{"kubelet.conf", "kubelet.service.d/20-evenkeel.conf", `[Unit]
Wants=evenkeel-agent.service
After=evenkeel-agent.service
`},
}

// equip writes what the member's node is to find at its first boot.
func (c *kindCluster) equip(m *member) error {
	for _, file := range serviceFiles {
		if err := writeFile(filepath.Join(m.shared, file.name), []byte(file.content)); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(agent.Config{
		Member: m.name, Seed: c.seed, Manifests: manifests, Pods: podsOfKubelet, Components: c.distribution.programs(), Keys: c.distribution.keys(),
	})
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(m.shared, agent.ConfigFile), raw); err != nil {
		return err
	}
	return c.distribution.equip(c, m)
}

func (c *kindCluster) agentFile() string { return filepath.Join(c.entry.Dir, "agent") }

// copyAgent puts a copy of this executable beside the cluster's files: what
// nodes run must stay the same for as long as they live, whatever is built
// meanwhile.
func (c *kindCluster) copyAgent() error {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	if err := agent.CheckStatic(self); err != nil {
		return err
	}
	into, err := os.OpenFile(c.agentFile(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) //nolint:gosec // G302: the nodes run this program.
	if err != nil {
		return err
	}
	_, err = io.Copy(into, self)
	return errors.Join(err, into.Close())
}
