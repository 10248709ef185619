//go:build linux

// Package ownname starts the programs of published components in their containers by
// names that tell the host, as history.ProgramOn makes them: what they write then
// tells who it was.
//
// kubeadm refuses a static Pod whose command is not the plain name of the program, and
// the images have no shell. So the container finds this very executable first, under
// the plain name; it becomes the program, called as it should be. The process stays
// the same one. It works in whatever executable this package is linked into, because
// it happens while packages are initialized.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package ownname

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	// variable tells an executable that it was started to become the program of the
	// name that it has.
	variable = "EVENKEEL_NAMED_PROGRAM"
	// folder is where a container has this executable.
	folder = "/evenkeel-programs"
	// usual is where a container looks for programs.
	usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	// volume is the name of what is mounted.
	volume = "evenkeel-program"
)

func init() {
	name, asked := os.LookupEnv(variable)
	if !asked {
		return
	}
	err := become(name)
	fmt.Fprintf(os.Stderr, "evenkeel: cannot run a program as %q: %v\n", name, err)
	os.Exit(1)
}

// become never returns but with an error.
func become(name string) error {
	plain, _, ok := history.ParseProgram(name)
	if !ok {
		return fmt.Errorf("%s has no host in it", variable)
	}
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(one string) bool { return one == folder })
	for _, one := range folders {
		if path, err := exec.LookPath(filepath.Join(one, plain)); err == nil {
			if err := os.Unsetenv(variable); err != nil {
				return err
			}
			return syscall.Exec(path, append([]string{name}, os.Args[1:]...), os.Environ())
		}
	}
	return fmt.Errorf("there is no %s in %q", plain, folders)
}

// Patch is a strategic merge patch of the static Pod whose container has the name of
// its program: it then runs by a name that tells the host. The node has this
// executable as the file, an absolute path.
func Patch(plain, host, file string) ([]byte, error) {
	type object = map[string]any
	return json.Marshal(object{"spec": object{
		"containers": []object{{
			"name": plain,
			"env": []object{
				{"name": "PATH", "value": folder + ":" + usual},
				{"name": variable, "value": history.ProgramOn(plain, host)},
			},
			"volumeMounts": []object{{"name": volume, "mountPath": filepath.Join(folder, plain), "readOnly": true}},
		}},
		"volumes": []object{{"name": volume, "hostPath": object{"path": file, "type": "File"}}},
	}})
}
