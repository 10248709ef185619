package main

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/cluster/kind"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// kindConfig is what the program kind is given to make a cluster with, which knows nothing of
// Evenkeel: its nodes run kubeadm's static Pods as they are. Only the features under test are
// switched on, all of them everywhere, as their users switch them on.
func kindConfig(release string, members int) ([]byte, error) {
	known, err := kubernetes.Find(release)
	if err != nil {
		return nil, err
	}
	node, err := kubernetes.LookUpNode(release)
	if err != nil {
		return nil, err
	}
	config := v1alpha4.Cluster{
		TypeMeta:      v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"},
		FeatureGates:  map[string]bool{},
		RuntimeConfig: map[string]string{},
		// The images of nodes that are built from source hold no network for Pods.
		Networking: v1alpha4.Networking{DisableDefaultCNI: true, KubeProxyMode: "none"},
	}
	for range members {
		config.Nodes = append(config.Nodes, v1alpha4.Node{Role: v1alpha4.ControlPlaneRole, Image: node.Image})
	}
	for _, gates := range known.AllGates() {
		for gate := range strings.SplitSeq(gates, ",") {
			name, value, _ := strings.Cut(gate, "=")
			config.FeatureGates[name] = value == "true"
		}
	}
	for _, api := range known.RuntimeConfig {
		name, value, _ := strings.Cut(api, "=")
		config.RuntimeConfig[name] = value
	}
	for _, patch := range []map[string]any{
		{"kind": "InitConfiguration", "skipPhases": []string{"preflight", "addon/coredns", "addon/kube-proxy"}},
		{"kind": "ClusterConfiguration", "etcd": map[string]any{"local": map[string]any{"imageTag": node.EtcdImageTag}}},
		kind.KubeletPatch(),
	} {
		raw, err := yaml.Marshal(patch)
		if err != nil {
			return nil, fmt.Errorf("write the configuration of kubeadm: %w", err)
		}
		config.KubeadmConfigPatches = append(config.KubeadmConfigPatches, string(raw))
	}
	return yaml.Marshal(config)
}
