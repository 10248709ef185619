package cluster

import (
	"fmt"
	"path"
	"strings"
)

// Rung is how much Evenkeel's node agent may do on the control-plane nodes of an external
// cluster.
type Rung string

// The rungs of the agent.
const (
	// RungLook reads: the agent tells of processes, logs, and a part of etcd.
	RungLook Rung = "look"
	// RungDisrupt also kills and pauses components, takes their static Pods away and puts
	// them back, and cuts the node off.
	RungDisrupt Rung = "disrupt"
)

// AgentPaths are the files of a control-plane node that its agent is given.
type AgentPaths struct {
	// Manifests is the folder of the kubelet's static Pods.
	Manifests string `yaml:"manifests"`
	// EtcdCA, EtcdCert and EtcdKey let the agent read the node's etcd; all are empty where
	// it may not.
	EtcdCA   string `yaml:"etcdCA,omitempty"`
	EtcdCert string `yaml:"etcdCert,omitempty"`
	EtcdKey  string `yaml:"etcdKey,omitempty"`
}

// KubeadmPaths are where kubeadm leaves these files.
var KubeadmPaths = AgentPaths{
	Manifests: "/etc/kubernetes/manifests",
	EtcdCA:    "/etc/kubernetes/pki/etcd/ca.crt",
	EtcdCert:  "/etc/kubernetes/pki/etcd/healthcheck-client.crt",
	EtcdKey:   "/etc/kubernetes/pki/etcd/healthcheck-client.key",
}

// NodePaths are the files that the agent is given: those of the topology, or else kubeadm's.
func (e *External) NodePaths() AgentPaths {
	if e.AgentPaths != nil {
		return *e.AgentPaths
	}
	return KubeadmPaths
}

// ReadsEtcd is whether the agent is given what reading etcd takes.
func (p AgentPaths) ReadsEtcd() bool { return p.EtcdKey != "" }

// agentProblems says what is wrong in what the topology says of the agent.
func (e *External) agentProblems() (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	switch e.Agent {
	case "":
		if e.AgentImage != "" || len(e.AgentTunnel) > 0 || e.AgentPaths != nil {
			complain("spec.external.agent is missing, and agentImage, agentTunnel or agentPaths is set: set it to %s or %s, or leave them out", RungLook, RungDisrupt)
		}
		return wrong
	case RungLook, RungDisrupt:
	default:
		complain("spec.external.agent %q is neither %s nor %s", e.Agent, RungLook, RungDisrupt)
	}
	if e.AgentImage == "" {
		complain("spec.external.agentImage is missing: it names the image that nodes run the agent from; `evenkeel agent image` writes it")
	}
	if len(e.AgentTunnel) > 0 && e.AgentTunnel[0] == "" {
		complain("spec.external.agentTunnel has no command")
	}
	paths := e.NodePaths()
	for _, one := range []struct{ key, value string }{
		{"manifests", paths.Manifests}, {"etcdCA", paths.EtcdCA}, {"etcdCert", paths.EtcdCert}, {"etcdKey", paths.EtcdKey},
	} {
		required := one.key == "manifests" || paths.EtcdCA+paths.EtcdCert+paths.EtcdKey != ""
		switch {
		case one.value == "" && required:
			complain("spec.external.agentPaths.%s is missing: etcdCA, etcdCert and etcdKey go together, and manifests is required", one.key)
		case one.value != "" && (!path.IsAbs(one.value) || strings.Contains(one.value, "..")):
			complain("spec.external.agentPaths.%s %q is no absolute path on the node", one.key, one.value)
		}
	}
	return wrong
}
