package driver

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// noShell is why a driver of nodes without a shell cannot do something.
const noShell = "a Talos node has no shell, and talosctl has no command for it"

var _ = register(Driver{
	Name: "talos",
	Doc: "Operates control-plane nodes of Talos Linux by `talosctl` on this machine, which must reach each node's address. " +
		"An upgrade is the manual one of the documentation, since `talosctl upgrade-k8s` takes all members to a release at once.",
	Sources: []string{
		"https://docs.siderolabs.com/kubernetes-guides/advanced-guides/upgrading-kubernetes",
		"https://docs.siderolabs.com/talos/latest/configure-your-talos-cluster/system-configuration/editing-machine-configuration",
		"https://github.com/siderolabs/talos/releases/tag/v1.12.0",
	},
	Parameters: talosParameters,
	Operations: []Operation{{
		Hook: cluster.HookUpgrade, Timeout: upgradeBound, Lack: talosLack,
		Doc:      "patches the images of API server, controller manager and scheduler in the machine configuration, one after the other, without a reboot",
		Commands: talosUpgrade,
	}, {
		Hook: cluster.HookStop,
		Doc:  "shuts the node down in good order, without a drain; nothing that `talosctl` can do starts it again, so that this needs your hook `start`",
		Lack: without(cluster.HookStart, "talosctl cannot start a node that it has shut down, which takes a hook start of yours"),
		Commands: func(task Task) [][]string {
			return [][]string{talosctl(task, "shutdown", "--force", "--wait")}
		},
	}, {
		Hook: cluster.HookKill,
		Doc:  "reboots the node without ending any process in good order (Talos 1.12 or newer); everything of the member comes back by itself",
		Commands: func(task Task) [][]string {
			return [][]string{talosctl(task, "reboot", "--mode", "force", "--wait=false")}
		},
	}},
	Lacks: map[string]string{
		cluster.HookRollback:  "Talos documents no way back to an older release of Kubernetes",
		cluster.HookStart:     "talosctl reaches no node that is shut down; give a hook start, which uses the hypervisor, the cloud or the BMC",
		cluster.HookPause:     noShell,
		cluster.HookResume:    noShell,
		cluster.HookCutOff:    noShell,
		cluster.HookReconnect: noShell,
		cluster.HookPowerOff:  "`talosctl shutdown` ends the node in good order, which is no power cut; give hooks that take the power away and give it back",
		cluster.HookPowerOn:   "talosctl reaches no node that is without power",
	},
	OnlyWhole: "talosctl shuts down a node, and stops no single component of its control plane",
})

// talosUpgrade is a patch for each component, which is merged into the machine configuration.
func talosUpgrade(task Task) [][]string {
	var lines [][]string
	for _, one := range []struct{ key, image string }{
		{"apiServer", "kube-apiserver"}, {"controllerManager", "kube-controller-manager"}, {"scheduler", "kube-scheduler"},
	} {
		image := fmt.Sprintf("%s/%s:v%s", talosImagesOf(task.Topology), one.image, bare(task.Release))
		patch := fmt.Sprintf(`{"cluster":{%q:{"image":%q}}}`, one.key, image)
		lines = append(lines, talosctl(task, "patch", "machineconfig", "--mode=no-reboot", "--patch", patch))
	}
	return lines
}

// talosImagesOf is the registry from which the nodes pull the components; empty where the topology
// does not say.
func talosImagesOf(topology *cluster.Topology) string {
	if topology.Spec.External.Talosctl == nil {
		return ""
	}
	return strings.TrimSuffix(topology.Spec.External.Talosctl.Images, "/")
}

// talosLack is why the release of a member cannot be replaced.
func talosLack(topology *cluster.Topology) string {
	if talosImagesOf(topology) == "" {
		return "the topology names no registry of the components' images in spec.external.talosctl.images"
	}
	return releases(plainRelease, "v1.36.3")(topology)
}

// talosctl is a command line for the member's node, which is its own endpoint: another node may be
// the one that a fault has hit.
func talosctl(task Task, command ...string) []string {
	line := []string{"talosctl"}
	if access := task.Topology.Spec.External.Talosctl; access != nil {
		if access.Config != "" {
			line = append(line, "--talosconfig", task.Topology.Path(access.Config))
		}
		if access.Context != "" {
			line = append(line, "--context", access.Context)
		}
	}
	return append(append(line, "--endpoints", task.Node, "--nodes", task.Node), command...)
}
