package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Memory that three members of the reference and the harness take, and of Kubernetes.
const (
	leastMemory  = 1 << 30
	enoughMemory = 3 << 30
)

// memory is about how much of it a run could get: what the machine has available, and what
// a container may take.
func memory(proc, cgroups string) cluster.Finding {
	f := cluster.Finding{What: "memory"}
	available, err := availableMemory(filepath.Join(proc, "meminfo"))
	if err != nil {
		f.OK, f.Detail = true, fmt.Sprintf("cannot be told: %v", err)
		return f
	}
	where := "available"
	for _, file := range []string{"memory.max", "memory/memory.limit_in_bytes"} {
		if limit, err := number(filepath.Join(cgroups, file)); err == nil && limit >= 0 && uint64(limit) < available {
			available, where = uint64(limit), "for this container"
		}
	}
	f.Detail = fmt.Sprintf("%d MB %s", available>>20, where)
	f.OK, f.Needed = available >= enoughMemory, available < leastMemory
	if !f.OK {
		f.Detail += fmt.Sprintf(": three members of Kubernetes want %d MB; end other programs, give the container more, or run `evenkeel run --topology clusters/local-1.yaml`", enoughMemory>>20)
	}
	return f
}

func availableMemory(file string) (uint64, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kilobytes, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("%s does not tell what is available", file)
}
