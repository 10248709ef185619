package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

const folderMode, fileMode = 0o755, 0o644

// target is a set of binaries of one version.
type target struct {
	what, version string
	// dir is where the binaries go; if it is there, it is complete.
	dir string
	// module that is asked for first, because its go.mod says what else.
	module string
	// programs are main packages, and the names that their binaries get.
	programs map[string]string
	// require are the modules of the programs.
	require []string
	// flags is what the linker is to set, given the main module.
	flags func(origin) []string
}

// make builds the target unless it is there. The binaries appear together or
// not at all, so that a build that was cut short leaves nothing half done.
func (t target) make(ctx context.Context) error {
	if _, err := os.Stat(t.dir); err == nil {
		fmt.Printf("%s %s is in %s\n", t.what, t.version, t.dir)
		return nil
	}
	began := time.Now()
	fmt.Printf("building %s %s\n", t.what, t.version)
	if err := os.MkdirAll(filepath.Dir(t.dir), folderMode); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(t.dir), "."+t.version+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	from, err := download(ctx, t.module, t.version)
	if err != nil {
		return err
	}
	if err := t.writeModule(work, from); err != nil {
		return err
	}
	made := filepath.Join(work, "made")
	if err := os.Mkdir(made, folderMode); err != nil {
		return err
	}
	for program, name := range t.programs {
		if err := t.compile(ctx, work, program, filepath.Join(made, name), from); err != nil {
			return err
		}
	}
	// Only the rename makes it visible. If somebody else was faster, his is as
	// good.
	if err := os.Rename(made, t.dir); err != nil {
		if _, there := os.Stat(t.dir); there != nil {
			return err
		}
	}
	fmt.Printf("built %s %s into %s within %s\n", t.what, t.version, t.dir, time.Since(began).Round(time.Second))
	return nil
}

// writeModule writes a module that requires the target's own. With the checksums
// that the target ships, all that is downloaded is what its makers used.
func (t target) writeModule(dir string, from origin) error {
	raw, err := moduleFile(t.version, t.require, from.goMod)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), raw, fileMode); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(from.dir, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, fileMode)
}

func (t target) compile(ctx context.Context, dir, program, into string, from origin) error {
	args := []string{"build", "-trimpath", "-o", into}
	// The symbol table is a third of a binary, and nobody debugs these.
	linker := "-s -w"
	for _, flag := range t.flags(from) {
		linker += " -X " + flag
	}
	build := exec.CommandContext(ctx, "go", append(args, "-ldflags", linker, program)...)
	build.Dir = dir
	// The staging modules' checksums are not in the makers' go.sum, so go has
	// to be let add them; it checks them against the checksum database.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	var said bytes.Buffer
	build.Stdout, build.Stderr = &said, &said
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s failed: %w\n%s", path.Base(program), err, said.String())
	}
	return nil
}

// release is a Kubernetes release's control plane.
func release(cache, version string) target {
	t := target{
		what: "kubernetes", version: version, dir: kubernetes.ReleaseDir(cache, version),
		module: kubernetesModule, require: []string{kubernetesModule},
		programs: map[string]string{}, flags: versionFlags,
	}
	for _, name := range kubernetes.Binaries {
		t.programs[kubernetesModule+"/cmd/"+name] = name
	}
	return t
}

// etcd is the server, and the client to look into a cluster by hand.
func etcd(cache, version string) target {
	const server, client = "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/etcdctl/v3"
	return target{
		what: "etcd", version: version, dir: kubernetes.EtcdDir(cache),
		module: server, require: []string{server, client},
		programs: map[string]string{server: "etcd", client: "etcdctl"},
		flags:    func(origin) []string { return nil },
	}
}
