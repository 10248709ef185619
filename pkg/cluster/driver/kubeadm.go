package driver

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// upgradeBound is how long an upgrade of a member may take: an installer pulls images and
// restarts each component.
const upgradeBound = 20 * time.Minute

// manifests is where kubeadm puts the static Pods of a member, and away is where those lie that
// the driver has stopped: the kubelet ends a static Pod whose file is gone.
// https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/#dynamic-addition-and-removal-of-static-pods
const (
	manifests = "/etc/kubernetes/manifests"
	away      = "/etc/kubernetes/evenkeel-away"
)

// kubeadmPods are the names of the static Pods' files and containers.
var kubeadmPods = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}

var _ = register(Driver{
	Name: "kubeadm",
	Doc: "Operates members that kubeadm has made, over SSH. The nodes need systemd, `crictl` with a configuration, and for an upgrade the packages of pkgs.k8s.io by apt or dnf. " +
		"An upgrade takes the static Pods of a member to the release, and leaves the kubelet as it is, which may be older: so no node has to be drained.",
	Sources: []string{
		"https://kubernetes.io/docs/tasks/administer-cluster/kubeadm/kubeadm-upgrade/",
		"https://kubernetes.io/docs/tasks/administer-cluster/kubeadm/change-package-repository/",
		"https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/",
	},
	Parameters: sshParameters,
	Operations: []Operation{{
		Hook: cluster.HookUpgrade, Timeout: upgradeBound,
		Doc:      "installs the release's kubeadm, and runs `kubeadm upgrade apply` at the first member that gets the release and `kubeadm upgrade node` at the others",
		Lack:     releases(plainRelease, "v1.36.3"),
		Commands: overSSH(kubeadmUpgrade),
	}, {
		Hook:     cluster.HookStop,
		Doc:      "moves the manifest of the API server, or of all four components, to `" + away + "`, and waits until the kubelet has ended the containers",
		Commands: overSSH(kubeadmStop),
	}, {
		Hook: cluster.HookStart,
		Doc:  "moves the manifests back",
		Commands: overSSH(func(Task) string {
			return fmt.Sprintf(`for file in %[1]s/*.yaml; do
  if [ -e "$file" ]; then mv "$file" %[2]s/; fi
done`, away, manifests)
		}),
	}, {
		Hook:     cluster.HookKill,
		Doc:      "sends SIGKILL to the process of the API server; the kubelet starts it again",
		Commands: overSSH(func(Task) string { return crictlSignal("KILL") }),
	}, {
		Hook: cluster.HookPause,
		Doc: "sends SIGSTOP to the process of the API server, or freezes the cgroups of the kubelet and of all Pods of the node. " +
			"The kubelet's liveness probe ends an API server that stands still for about a minute and a half",
		Commands: overSSH(func(task Task) string { return kubeadmFreeze(task, "STOP", "1") }),
	}, {
		Hook:     cluster.HookResume,
		Doc:      "sends SIGCONT, or thaws the cgroups",
		Commands: overSSH(func(task Task) string { return kubeadmFreeze(task, "CONT", "0") }),
	}, cutOff, reconnect, powerOff},
	Lacks: map[string]string{
		cluster.HookRollback: "kubeadm upgrades a member, and has no way back to an older release",
		cluster.HookPowerOn:  noPowerOn,
	},
})

// kubeadmUpgrade follows the pages that the driver names. `kubeadm upgrade node` takes the release
// from the cluster, where `kubeadm upgrade apply` has put it.
func kubeadmUpgrade(task Task) string {
	upgrade := "kubeadm upgrade node"
	if task.First {
		upgrade = "kubeadm upgrade apply --yes v" + bare(task.Release)
	}
	return fmt.Sprintf(`export DEBIAN_FRONTEND=noninteractive
for list in /etc/apt/sources.list.d/kubernetes.list /etc/apt/sources.list.d/kubernetes.sources /etc/yum.repos.d/kubernetes.repo; do
  if [ -e "$list" ]; then sed -i "s|\(pkgs\.k8s\.io/core:/stable:/v\)[0-9][0-9]*\.[0-9][0-9]*/|\1%[2]s/|" "$list"; fi
done
if command -v apt-get >/dev/null; then
  apt-mark unhold kubeadm
  apt-get update
  apt-get install -y "kubeadm=%[1]s-*"
  apt-mark hold kubeadm
else
  dnf install -y "kubeadm-%[1]s-*" --disableexcludes=kubernetes
fi
%[3]s`, packageVersion(task.Release), minor(task.Release), upgrade)
}

// packageVersion is a release as packages have it: 1.37.0~rc.1 sorts before 1.37.0.
func packageVersion(release string) string { return strings.Replace(bare(release), "-", "~", 1) }

// kubeadmStop waits until the containers have ended: a manifest that came back earlier would be
// the Pod that still runs. It moves nothing where crictl cannot tell.
func kubeadmStop(task Task) string {
	names := kubeadmPods
	if task.Component != "" {
		names = kubeadmPods[:1]
	}
	return fmt.Sprintf(`crictl ps --quiet >/dev/null
mkdir -p %[1]s
for name in %[3]s; do
  if [ -e "%[2]s/$name.yaml" ]; then mv "%[2]s/$name.yaml" %[1]s/; fi
done
for name in %[3]s; do
  while [ -n "$(%[4]s)" ]; do sleep 0.2; done
done`, away, manifests, strings.Join(names, " "), crictlPods(`"$name"`))
}

func kubeadmFreeze(task Task, signal, state string) string {
	if task.Component != "" {
		return crictlSignal(signal)
	}
	return freezer(state, append([]string{"system.slice/kubelet.service"}, pods...)...)
}

// crictlPods lists the running containers of a name in kube-system, by the labels that the kubelet
// gives each container.
func crictlPods(name string) string {
	return "crictl ps --quiet --label io.kubernetes.pod.namespace=kube-system --label io.kubernetes.container.name=" + name
}

// crictlSignal sends a signal to the process of the API server's container.
func crictlSignal(signal string) string {
	return fmt.Sprintf(`containers=$(%s)
[ -n "$containers" ] || { echo "no container kube-apiserver runs on this node" >&2; exit 1; }
for id in $containers; do
  kill -%s "$(crictl inspect --output go-template --template "{{.info.pid}}" "$id")"
done`, crictlPods("kube-apiserver"), signal)
}
