//go:build linux

package agent

import (
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// The elected components listen on the node's loopback only, each at its usual port.
const (
	ControllerManagerPort = 10257
	schedulerPort         = 10259
)

// ReferenceProgram is the executable of the reference control plane.
const ReferenceProgram = "refplane"

// KubernetesComponents are the components of a member in the order in which they start.
var KubernetesComponents = []cluster.Component{cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler}

// KubernetesPrograms names the components as kubeadm does: their static Pods, their
// containers and their programs.
var KubernetesPrograms = map[cluster.Component]string{
	cluster.Etcd:              "etcd",
	cluster.APIServer:         kubernetes.APIServer,
	cluster.ControllerManager: kubernetes.ControllerManager,
	cluster.Scheduler:         kubernetes.Scheduler,
}

// Kubernetes is how the components of a published release are recognized.
func Kubernetes() []Component {
	// The elected components have long told by /healthz whether they serve; newer paths
	// are not in all releases.
	health := map[cluster.Component]string{
		cluster.ControllerManager: "https://" + port.Address(ControllerManagerPort) + "/healthz",
		cluster.Scheduler:         "https://" + port.Address(schedulerPort) + "/healthz",
	}
	var all []Component
	for _, component := range KubernetesComponents {
		name := KubernetesPrograms[component]
		all = append(all, Component{Name: component, Program: name, Pod: name, Health: health[component]})
	}
	return all
}

// Reference is how the components of the reference control plane are recognized.
func Reference() []Component {
	var all []Component
	for _, component := range refplane.Components {
		one := Component{Name: component, Program: ReferenceProgram, Argument: string(component), Pod: string(component)}
		if component == cluster.ControllerManager {
			one.Health = "https://" + port.Address(ControllerManagerPort) + refplane.ReadyPath
		}
		all = append(all, one)
	}
	return all
}
