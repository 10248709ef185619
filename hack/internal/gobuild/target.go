// Package gobuild builds programs of published Go modules, from the module
// proxy alone: no clone, no makefile, and the dependencies that the modules'
// own makers built with.
package gobuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

const folderMode, fileMode = 0o755, 0o644

// Target is a set of programs of one version.
type Target struct {
	What, Version string
	// Dir is where the binaries go. One that is there is complete.
	Dir string
	// Module is asked for first, because its go.mod says what else.
	Module string
	// Programs are main packages, and the names that their binaries get.
	Programs map[string]string
	// Require are the modules of the programs.
	Require []string
	// Tags are build tags.
	Tags []string
	// Flags is what the linker is to set, given the main module; nil sets nothing.
	Flags func(Origin) []string
}

// missing are the programs that have no binary yet.
func (t Target) missing() ([]string, error) {
	var programs []string
	for program, name := range t.Programs {
		_, err := os.Stat(filepath.Join(t.Dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			programs = append(programs, program)
		case err != nil:
			return nil, err
		}
	}
	slices.Sort(programs)
	return programs, nil
}

// Make builds what is missing. A binary appears whole or not at all, so that a
// build that was cut short leaves nothing half done.
func (t Target) Make(ctx context.Context) error {
	programs, err := t.missing()
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		fmt.Printf("%s %s is in %s\n", t.What, t.Version, t.Dir)
		return nil
	}
	if err := t.build(ctx, programs); err != nil {
		return fmt.Errorf("%s %s: %w", t.What, t.Version, err)
	}
	return nil
}

func (t Target) build(ctx context.Context, programs []string) error {
	began := time.Now()
	var names []string
	for _, program := range programs {
		names = append(names, t.Programs[program])
	}
	fmt.Printf("building %s %s: %s\n", t.What, t.Version, strings.Join(names, ", "))
	if err := os.MkdirAll(t.Dir, folderMode); err != nil {
		return err
	}
	// Beside the binaries, so that they can be moved there and not be copied.
	work, err := os.MkdirTemp(filepath.Dir(t.Dir), "."+t.Version+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	from, err := Download(ctx, t.Module, t.Version)
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
	if err := t.compile(ctx, work, made, programs, from); err != nil {
		return err
	}
	for _, program := range programs {
		// If somebody else was faster, his is as good.
		if err := os.Rename(filepath.Join(made, binaryName(program)), filepath.Join(t.Dir, t.Programs[program])); err != nil {
			return err
		}
	}
	fmt.Printf("built %s %s into %s within %s\n", t.What, t.Version, t.Dir, time.Since(began).Round(time.Second))
	return nil
}

// binaryName is what go build calls the binary of a main package.
func binaryName(program string) string {
	if prefix, _, ok := module.SplitPathVersion(program); ok {
		program = prefix
	}
	return path.Base(program)
}

// writeModule writes a module that requires the target's own. With the checksums
// that the target ships, all that is downloaded is what its makers used.
func (t Target) writeModule(dir string, from Origin) error {
	raw, err := moduleFile(t.Version, t.Require, from.goMod)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), raw, fileMode); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(from.Dir, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, fileMode)
}

// compile builds all programs in one go, so that the linker of one runs beside
// the compiler of the next.
func (t Target) compile(ctx context.Context, dir, into string, programs []string, from Origin) error {
	// The symbol table is a third of a binary, and nobody debugs these.
	linker := "-s -w"
	if t.Flags != nil {
		for _, flag := range t.Flags(from) {
			linker += " -X " + flag
		}
	}
	// -trimpath as in the Makefile: so what this module's own build has compiled, the
	// standard library first of all, is of use here.
	args := []string{"build", "-trimpath", "-tags", strings.Join(t.Tags, ","), "-ldflags", linker, "-o", into + string(filepath.Separator)}
	build := exec.CommandContext(ctx, "go", append(args, programs...)...)
	build.Dir = dir
	// The staging modules' checksums are not in the makers' go.sum, so go has
	// to be let add them; it checks them against the checksum database.
	build.Env = append(Rarely(os.Environ()), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	var said bytes.Buffer
	build.Stdout, build.Stderr = &said, &said
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s failed: %w\n%s", strings.Join(programs, ", "), err, said.String())
	}
	return nil
}
