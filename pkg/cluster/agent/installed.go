//go:build linux

package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Port is where an agent listens that was installed into an external cluster, at all
// addresses of its node.
const Port = 18990

// ServerName is in the certificate of every installed agent, whatever its node is called.
const ServerName = "evenkeel-agent"

// NodeVariable tells an installed agent the name of its node.
const NodeVariable = "EVENKEEL_NODE"

// Files of an installed agent, in the folder of its keys.
const (
	InstalledFile = "agent.json"
	AuthorityFile = "ca.crt"
	CertFile      = "tls.crt"
	KeyFile       = "tls.key"
)

// Installed is what an agent is told that was installed into an external cluster. Paths are
// those in its container.
type Installed struct {
	Rung cluster.Rung `json:"rung"`
	Port int          `json:"port"`
	// Manifests is the folder of the kubelet's static Pods, and Logs that of the logs of
	// containers.
	Manifests  string      `json:"manifests"`
	Logs       string      `json:"logs"`
	Components []Component `json:"components"`
	// Etcd lets the agent read the node's etcd; nil where it may not.
	Etcd *EtcdAccess `json:"etcd,omitempty"`
	// Expires is when the agent stops listening for good.
	Expires time.Time `json:"expires"`
}

// EtcdAccess is how the agent reaches its node's etcd.
type EtcdAccess struct {
	Endpoint string `json:"endpoint"`
	CA       string `json:"ca"`
	Cert     string `json:"cert"`
	Key      string `json:"key"`
}

// ReadInstalled reads the configuration of an installed agent.
func ReadInstalled(file string) (Installed, error) {
	var out Installed
	raw, err := os.ReadFile(file)
	if err != nil {
		return out, fmt.Errorf("read the agent's configuration: %w", err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("read the agent's configuration %s: %w", file, err)
	}
	return out, nil
}
