//go:build linux

package kind

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// resource is the capability CAP_SYS_RESOURCE.
const resource = 24

// KubeletPatch is what the nodes' kubelets need beside what kind gives them.
func KubeletPatch() map[string]any {
	patch := map[string]any{
		"kind": "KubeletConfiguration",
		// The kubelet is told of changes to static Pods, and looks as well; it does
		// so every 20 s by itself.
		"fileCheckFrequency": "1s",
		// Hosts with the first version of cgroups are refused by default from 1.35
		// on; kind runs there.
		"failCgroupV1": false,
	}
	if !boundingSetHas(resource) {
		// Without the capability the kubelet may not set what it sets of itself.
		patch["featureGates"] = map[string]bool{"KubeletInUserNamespace": true}
	}
	return patch
}

// boundingSetHas is whether processes here can have a capability at all. Where
// that cannot be told they are taken to have it.
func boundingSetHas(capability uint) bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	for line := range strings.Lines(string(status)) {
		if set, found := strings.CutPrefix(line, "CapBnd:"); found {
			mask, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
			return err != nil || mask&(1<<capability) != 0
		}
	}
	return true
}

// lastLines is the end of what a command said, in one line. Where it was in its program
// when it failed is left out: kubeadm tells that last, a function and a place each.
func lastLines(text string) string {
	const most = 6
	var lines []string
	all := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range all {
		place := strings.HasPrefix(line, "\t")
		of := i+1 < len(all) && strings.HasPrefix(all[i+1], "\t")
		if !place && !of {
			lines = append(lines, line)
		}
	}
	return oneLine(strings.Join(lines[max(0, len(lines)-most):], " | "))
}
