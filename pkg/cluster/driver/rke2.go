package driver

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

var rke2Releases = releases(vendorRelease("rke2r"), "v1.36.3+rke2r1")

// rke2Tools has crictl of RKE2 be found, and speak to its containerd.
const rke2Tools = `PATH="$PATH:/var/lib/rancher/rke2/bin"
export CRI_CONFIG_FILE=/var/lib/rancher/rke2/agent/etc/crictl.yaml
`

var _ = register(Driver{
	Name: "rke2",
	Doc: "Operates servers of RKE2 that systemd runs, over SSH, with the data folder `/var/lib/rancher/rke2`. An upgrade takes the nodes' way to get.rke2.io. " +
		"The service `rke2-server` runs the kubelet and containerd, and the components are static Pods.",
	Sources: []string{
		"https://docs.rke2.io/upgrades/manual",
		"https://docs.rke2.io/upgrades/roll-back",
	},
	Parameters: sshParameters,
	Operations: []Operation{{
		Hook: cluster.HookUpgrade, Timeout: upgradeBound, Lack: rke2Releases,
		Doc:      "runs the install script with `INSTALL_RKE2_VERSION`, and restarts the service `rke2-server`",
		Commands: overSSH(rke2Install),
	}, {
		Hook: cluster.HookRollback, Timeout: upgradeBound,
		Lack:     withinMinor("RKE2 goes back to an older minor version only with all servers at once, and with a snapshot of the datastore from before the upgrade", rke2Releases),
		Doc:      "does the same with the older release, within a minor version of Kubernetes: an older minor version needs a snapshot of the datastore, and all servers at once",
		Commands: overSSH(rke2Install),
	}, {
		Hook: cluster.HookStop, Doc: "stops the service `rke2-server`, whose kubelet would start the containers again, and ends the API server, or all four components, by SIGTERM",
		Commands: overSSH(rke2Stop),
	}, {
		Hook: cluster.HookStart, Doc: "starts the service `rke2-server`, whose kubelet starts the components",
		Commands: overSSH(func(Task) string { return "systemctl start rke2-server" }),
	}, {
		Hook: cluster.HookKill, Doc: "sends SIGKILL to the process of the API server; the kubelet starts it again",
		Commands: overSSH(func(Task) string { return rke2Tools + crictlSignal("KILL") }),
	}, {
		Hook: cluster.HookPause,
		Doc: "sends SIGSTOP to the process of the API server, or freezes the cgroups of the service `rke2-server` and of all Pods of the node. " +
			"The kubelet's liveness probe ends an API server that stands still for too long",
		Commands: overSSH(func(task Task) string { return rke2Freeze(task, "STOP", "1") }),
	}, {
		Hook: cluster.HookResume, Doc: "sends SIGCONT, or thaws the cgroups",
		Commands: overSSH(func(task Task) string { return rke2Freeze(task, "CONT", "0") }),
	}, cutOff, reconnect, powerOff},
	Lacks: map[string]string{cluster.HookPowerOn: noPowerOn},
})

func rke2Install(task Task) string {
	return installer("https://get.rke2.io", fmt.Sprintf(`INSTALL_RKE2_VERSION=%s sh "$folder/install.sh"
systemctl restart rke2-server`, task.Release))
}

// rke2Stop asks for the processes before it stops the service, which ends containerd: after that
// no crictl can tell. RKE2 leaves its containers running when its service stops.
func rke2Stop(task Task) string {
	names := kubeadmPods
	if task.Component != "" {
		names = kubeadmPods[:1]
	}
	return rke2Tools + fmt.Sprintf(`crictl ps --quiet >/dev/null
processes=
for name in %s; do
  for id in $(%s); do
    processes="$processes $(crictl inspect --output go-template --template "{{.info.pid}}" "$id")"
  done
done
systemctl stop rke2-server
for process in $processes; do kill -TERM "$process" 2>/dev/null || :; done
for process in $processes; do
  while kill -0 "$process" 2>/dev/null; do sleep 0.2; done
done`, strings.Join(names, " "), crictlPods(`"$name"`))
}

func rke2Freeze(task Task, signal, state string) string {
	if task.Component != "" {
		return rke2Tools + crictlSignal(signal)
	}
	return freezer(state, append([]string{"system.slice/rke2-server.service"}, pods...)...)
}
