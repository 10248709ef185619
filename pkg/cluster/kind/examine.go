package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// dockerAnswer is how long a Docker daemon may take to say what it is. It takes
// a tenth of a second; one that hangs must not hang the doctor.
const dockerAnswer = 5 * time.Second

// capSysResource is the bit of CAP_SYS_RESOURCE in a set of capabilities.
const capSysResource = 24

// plainRuntimes are names of Docker's own default runtime.
var plainRuntimes = []string{"runc", "io.containerd.runc.v2"}

// dockerInfo is what a daemon tells of itself.
type dockerInfo struct {
	ServerVersion, DefaultRuntime string
}

// ask runs a docker command and gives what it printed. It stands between the
// findings and the daemon, so that they are tested without one.
type ask func(ctx context.Context, args ...string) ([]byte, error)

func askDocker(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, dockerAnswer)
	defer cancel()
	return exec.CommandContext(ctx, "docker", args...).Output()
}

// ExamineMachine tells whether Docker can run nodes, and which node images are made.
func (Provider) ExamineMachine(ctx context.Context) []cluster.Finding {
	return []cluster.Finding{daemon(ctx, askDocker, processStatus()), nodeImages(ctx, askDocker)}
}

// daemon tells whether Docker can run nodes. No run on local processes
// needs it.
func daemon(ctx context.Context, docker ask, status string) cluster.Finding {
	f := cluster.Finding{What: "kind provider, Docker"}
	raw, err := docker(ctx, "info", "--format", "{{json .}}")
	var info dockerInfo
	if err != nil || json.Unmarshal(raw, &info) != nil || info.ServerVersion == "" {
		f.Detail = "no daemon answers: start one (on Debian `make docker` does); the local provider needs none"
		return f
	}
	f.Detail = fmt.Sprintf("%s, runtime %s", info.ServerVersion, info.DefaultRuntime)
	if bounded(status, capSysResource) {
		f.OK = true
		return f
	}
	for _, plain := range plainRuntimes {
		if info.DefaultRuntime == plain {
			f.Detail += ": cannot start privileged containers, because this machine lacks CAP_SYS_RESOURCE; stop the daemon and run `make docker`"
			return f
		}
	}
	f.OK = true
	f.Detail += ", this machine lacks CAP_SYS_RESOURCE"
	return f
}

// bounded is whether a process's status has the bit in its bounding set. Where
// that cannot be read nothing is known to be missing.
func bounded(status string, bit uint) bool {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, "CapBnd:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			return err != nil || set>>bit&1 == 1
		}
	}
	return true
}

// processStatus is this process's, or nothing where there is none to read.
func processStatus() string {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	return string(raw)
}

// nodeImages tells which releases have a node image.
func nodeImages(ctx context.Context, docker ask) cluster.Finding {
	f := cluster.Finding{What: "kind provider, node images"}
	var ready, lacking []string
	for _, release := range kubernetes.Releases() {
		node, err := kubernetes.LookUpNode(release)
		if err == nil {
			_, err = docker(ctx, "image", "inspect", "--format", "{{.Id}}", node.Image)
		}
		if err == nil {
			ready = append(ready, release)
		} else {
			lacking = append(lacking, release)
		}
	}
	var parts []string
	if f.OK = len(ready) > 0; f.OK {
		parts = append(parts, "releases "+strings.Join(ready, ", "))
	}
	if len(lacking) > 0 {
		parts = append(parts, fmt.Sprintf("not made: %s (`make node-images RELEASES=\"…\"`)", strings.Join(lacking, ", ")))
	}
	f.Detail = strings.Join(parts, "; ")
	return f
}
