package driver

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

var k3sReleases = releases(vendorRelease("k3s"), "v1.36.3+k3s1")

var _ = register(Driver{
	Name: "k3s",
	Doc: "Operates servers of K3s that systemd runs, over SSH. An upgrade takes the nodes' way to get.k3s.io. " +
		"API server, controllers and an embedded etcd are one process of a K3s server: what is done to the API server is done to all of them.",
	Sources: []string{
		"https://docs.k3s.io/upgrades/manual",
		"https://docs.k3s.io/upgrades/roll-back",
		"https://docs.k3s.io/upgrades/killall",
		"https://docs.k3s.io/reference/env-variables",
	},
	Parameters: sshParameters,
	Operations: []Operation{{
		Hook: cluster.HookUpgrade, Timeout: upgradeBound, Lack: k3sReleases,
		Doc:      "runs the install script with `INSTALL_K3S_VERSION`, keeps the unit and its environment as they were, and restarts the service `k3s`",
		Commands: overSSH(k3sInstall),
	}, {
		Hook: cluster.HookRollback, Timeout: upgradeBound,
		Lack:     withinMinor("K3s goes back to an older minor version only with all servers at once, and with a snapshot of the datastore from before the upgrade", k3sReleases),
		Doc:      "does the same with the older release, within a minor version of Kubernetes: an older minor version needs a snapshot of the datastore, and all servers at once",
		Commands: overSSH(k3sInstall),
	}, {
		Hook: cluster.HookStop, Doc: "stops the service `k3s`; the containers of the node go on",
		Commands: overSSH(func(Task) string { return "systemctl stop k3s" }),
	}, {
		Hook: cluster.HookStart, Doc: "starts the service `k3s`",
		Commands: overSSH(func(Task) string { return "systemctl start k3s" }),
	}, {
		Hook: cluster.HookKill, Doc: "sends SIGKILL to the main process of the service `k3s`; systemd starts it again",
		Commands: overSSH(func(Task) string { return mainSignal("k3s", "KILL") }),
	}, {
		Hook: cluster.HookPause, Doc: "sends SIGSTOP to the main process of the service `k3s`, or freezes the cgroups of the service and of all Pods of the node",
		Commands: overSSH(func(task Task) string { return k3sFreeze(task, "STOP", "1") }),
	}, {
		Hook: cluster.HookResume, Doc: "sends SIGCONT, or thaws the cgroups",
		Commands: overSSH(func(task Task) string { return k3sFreeze(task, "CONT", "0") }),
	}, cutOff, reconnect, powerOff},
	Lacks: map[string]string{cluster.HookPowerOn: noPowerOn},
})

// k3sInstall has the install script fetch the release. The script writes the unit anew, from
// arguments that it is not given here, so that those with which the server was set up would be
// lost: unit and environment are put back before K3s is started, also where the script fails.
func k3sInstall(task Task) string {
	return installer("https://get.k3s.io", fmt.Sprintf(`unit=/etc/systemd/system/k3s.service
cp -p "$unit" "$folder/unit"
if [ -e "$unit.env" ]; then cp -p "$unit.env" "$folder/environment"; fi
installed=
if INSTALL_K3S_VERSION=%s INSTALL_K3S_SKIP_START=true sh "$folder/install.sh"; then installed=1; fi
cp -p "$folder/unit" "$unit"
if [ -e "$folder/environment" ]; then cp -p "$folder/environment" "$unit.env"; fi
systemctl daemon-reload
[ -n "$installed" ] || { echo "the install script of K3s has failed" >&2; exit 1; }
systemctl restart k3s`, task.Release))
}

func k3sFreeze(task Task, signal, state string) string {
	if task.Component != "" {
		return mainSignal("k3s", signal)
	}
	return freezer(state, append([]string{"system.slice/k3s.service"}, pods...)...)
}
