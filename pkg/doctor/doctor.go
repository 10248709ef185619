// Package doctor finds out what this machine can run, and what it lacks.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/disk"
)

// Where the kernel tells of itself and of containers.
const (
	procFolder   = "/proc"
	cgroupFolder = "/sys/fs/cgroup"
)

// Examine looks at the machine. What it starts to find out has ended when it returns, and
// it leaves nothing. What only clusters of one provider need, that provider looks at.
func Examine(ctx context.Context, providers cluster.Registry) []cluster.Finding {
	findings := []cluster.Finding{
		system(), processors(), memory(procFolder, cgroupFolder), procfs(), stateFolder(), room(disk.Free), openFiles(openFileLimit),
		inotify(procFolder, tryInotify), systemClock(clockStatus),
		goToolchain(ctx), reference(ctx, providers), hostNames(ctx, procFolder, tryHostName),
	}
	for _, provider := range providers {
		if examiner, ok := provider.(cluster.MachineExaminer); ok {
			findings = append(findings, examiner.ExamineMachine(ctx)...)
		}
	}
	return findings
}

func system() cluster.Finding {
	f := cluster.Finding{What: "operating system", Detail: runtime.GOOS + "/" + runtime.GOARCH, OK: runtime.GOOS == "linux", Needed: true}
	if !f.OK {
		f.Detail += ": members run on Linux only; use a Linux machine"
	}
	return f
}

// minProcessors is what three members were measured on.
const minProcessors = 2

func processors() cluster.Finding {
	n := runtime.NumCPU()
	f := cluster.Finding{What: "processors", Detail: fmt.Sprint(n), OK: n >= minProcessors}
	if !f.OK {
		f.Detail += fmt.Sprintf(": three members want %d; use clusters/local-1.yaml, or expect bounds to be missed", minProcessors)
	}
	return f
}

func procfs() cluster.Finding {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return cluster.Finding{What: "/proc", Detail: "not there: witnesses of faults and `evenkeel cluster clean` read it; mount it", Needed: true}
	}
	return cluster.Finding{What: "/proc", Detail: "readable", OK: true, Needed: true}
}

func stateFolder() cluster.Finding {
	f := cluster.Finding{What: "folder for clusters", Needed: true}
	root, err := state.Root()
	if err == nil {
		err = writable(root)
	}
	if err != nil {
		f.Detail = fmt.Sprintf("%v; name another with EVENKEEL_STATE", err)
		return f
	}
	f.OK, f.Detail = true, root
	return f
}

// writable tries the nearest folder that exists.
func writable(dir string) error {
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is no folder", dir)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return fmt.Errorf("no folder above exists")
		}
		dir = parent
	}
	file, err := os.CreateTemp(dir, ".evenkeel-*")
	if err != nil {
		return err
	}
	name := file.Name()
	if err := file.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}

func goToolchain(ctx context.Context) cluster.Finding {
	f := cluster.Finding{What: "Go"}
	out, err := exec.CommandContext(ctx, "go", "version").Output()
	if err != nil {
		f.Detail = "not found: only needed to build from source"
		return f
	}
	f.OK, f.Detail = true, strings.TrimPrefix(strings.TrimSpace(string(out)), "go version ")
	return f
}

func reference(ctx context.Context, providers cluster.Registry) cluster.Finding {
	f := cluster.Finding{What: "the " + cluster.DefaultDistribution + " control plane", Needed: true, Detail: "no provider runs it"}
	for _, provider := range providers {
		releases, err := provider.Releases(ctx, cluster.DefaultDistribution)
		switch {
		case err != nil:
			f.Detail = err.Error()
		case len(releases) > 0:
			f.OK, f.Detail = true, fmt.Sprintf("releases %s, with the provider %s", strings.Join(releases, ", "), provider.Name())
			return f
		}
	}
	return f
}
