//go:build linux

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// podOfGroup finds the UID of a Pod in the path of a control group: with dashes, or with
// underscores where systemd manages the groups; that of a static Pod is a digest.
var podOfGroup = regexp.MustCompile(`pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})`)

// belongs is whether a process with the program of a component is the component's: users run
// programs of the same names, such as an etcd of their own, in other Pods of the node. What
// is in no Pod at all is a service of the node.
func belongs(logs, node string) func(pid int, of Component) bool {
	return func(pid int, of Component) bool {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil {
			return false
		}
		return inPod(logs, node, string(raw), of)
	}
}

// inPod is whether a control group is in no Pod, or in the component's.
func inPod(logs, node, group string, of Component) bool {
	found := podOfGroup.FindStringSubmatch(group)
	if found == nil {
		return true
	}
	// The kubelet names the folder of a Pod's logs <namespace>_<pod>_<uid>, and adds
	// the node's name to that of a static Pod.
	folders, err := filepath.Glob(filepath.Join(logs, "*_"+of.Pod+"-"+node+"_"+strings.ReplaceAll(found[1], "_", "-")))
	return err == nil && len(folders) > 0
}
