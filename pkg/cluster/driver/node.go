package driver

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// What the drivers over SSH do alike on a node, whose scripts run with `sh -e`.

// chain is the chain of iptables that holds the rules of a cut.
const chain = "EVENKEEL"

// cutOff drops all that comes from the other members and goes to them. The rules stand in a chain
// of their own, so that one command takes all of them back.
var cutOff = Operation{
	Hook: cluster.HookCutOff,
	Doc:  "drops what the node gets from the other members and sends to them, by rules in the chain `" + chain + "` of iptables",
	Lack: addressless,
	Commands: overSSH(func(task Task) string {
		var b strings.Builder
		for _, tables := range []string{"iptables", "ip6tables"} {
			var rules []string
			for _, other := range task.Others {
				if of(other) == tables {
					rules = append(rules, fmt.Sprintf("%s -w -A %s -s %s -j DROP", tables, chain, other), fmt.Sprintf("%s -w -A %s -d %s -j DROP", tables, chain, other))
				}
			}
			if len(rules) == 0 {
				continue
			}
			// A chain that a run has left when it was killed is used again.
			fmt.Fprintf(&b, `%[1]s -w -N %[2]s 2>/dev/null || %[1]s -w -F %[2]s
%[3]s
for hook in INPUT OUTPUT; do
  %[1]s -w -C "$hook" -j %[2]s 2>/dev/null || %[1]s -w -I "$hook" -j %[2]s
done
`, tables, chain, strings.Join(rules, "\n"))
		}
		return b.String()
	}),
}

// reconnect takes back what cutOff has done, and is no error where that is nothing.
var reconnect = Operation{
	Hook: cluster.HookReconnect,
	Doc:  "removes the chain `" + chain + "`",
	Lack: addressless,
	Commands: overSSH(func(Task) string {
		return fmt.Sprintf(`for tables in iptables ip6tables; do
  "$tables" -w -n -L %[1]s >/dev/null 2>&1 || continue
  while "$tables" -w -D INPUT -j %[1]s 2>/dev/null; do :; done
  while "$tables" -w -D OUTPUT -j %[1]s 2>/dev/null; do :; done
  "$tables" -w -F %[1]s
  "$tables" -w -X %[1]s
done`, chain)
	}),
}

// of is the program that has the rules for an address.
func of(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() {
		return "ip6tables"
	}
	return "iptables"
}

// addressless says which member has no IP address, of which a rule could be made.
func addressless(topology *cluster.Topology) string {
	for _, member := range topology.Spec.Members {
		if _, err := netip.ParseAddr(member.External.Address); err != nil {
			return fmt.Sprintf("the topology has no IP address of %s in spec.members[].external.address, by which nodes are told apart", member.Name)
		}
	}
	if len(topology.Spec.Members) == 1 {
		return "there is no other member"
	}
	return ""
}

// powerOff has the kernel switch the machine off at once: it neither syncs disks nor ends
// processes. It does so a second later, so that ssh ends in good order before.
// https://docs.kernel.org/admin-guide/sysrq.html
var powerOff = Operation{
	Hook: cluster.HookPowerOff,
	Doc:  "has the kernel switch the machine off at once, without a sync of its disks (sysrq `o`); nothing over SSH brings it back, so that this needs your hook `powerOn`",
	Lack: without(cluster.HookPowerOn, "nothing over SSH gives the power back, which takes a hook powerOn of yours"),
	Commands: overSSH(func(Task) string {
		return "(sleep 1; echo o >/proc/sysrq-trigger) >/dev/null 2>&1 &"
	}),
}

// noPowerOn is why a driver cannot give the power back.
const noPowerOn = "a machine without power has no SSH server; give a hook powerOn, which uses the hypervisor, the cloud or the BMC"

// without is the Lack of what needs a hook of the user.
func without(hook, why string) func(*cluster.Topology) string {
	return func(topology *cluster.Topology) string {
		if _, ok := topology.Spec.External.Hooks[hook]; ok {
			return ""
		}
		return why
	}
}

// freezer is a script that freezes or thaws groups of processes, below the root of the cgroups.
// https://docs.kernel.org/admin-guide/cgroup-v2.html#core-interface-files
func freezer(state string, groups ...string) string {
	return fmt.Sprintf(`found=
for group in %s; do
  file=/sys/fs/cgroup/$group/cgroup.freeze
  if [ -e "$file" ]; then echo %s >"$file"; found=1; fi
done
[ -n "$found" ] || { echo "no cgroup of version 2 of Kubernetes is on this node" >&2; exit 1; }`, strings.Join(groups, " "), state)
}

// pods are the cgroups of all Pods of a node: with the systemd driver of the kubelet, or with cgroupfs.
var pods = []string{"kubepods.slice", "kubepods"}
