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
	// Dir is the folder of the binaries. A binary in it is complete.
	Dir string
	// Module is downloaded first, because its go.mod names the other modules.
	Module string
	// Programs are main packages, and the names that their binaries get.
	Programs map[string]string
	// Require are the modules of the programs.
	Require []string
	// Apart are the published versions of modules that the target takes from a folder of its
	// own, where they are not published under the target's version.
	Apart map[string]string
	// Tags are build tags.
	Tags []string
	// C is whether parts of the programs are written in C, which this machine's compiler builds.
	C bool
	// Flags returns the variables that the linker sets, given the main module; nil sets none.
	Flags func(Origin) []string
}

// missing returns the programs that have no binary yet.
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

// Make builds the missing programs. A binary appears complete or not at all, so that an
// interrupted build leaves no partial binary.
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
	// On the file system of the binaries, so that they can be moved and need not be copied.
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
		// This replaces the binary of another build that was faster: both are the same.
		if err := os.Rename(filepath.Join(made, binaryName(program)), filepath.Join(t.Dir, t.Programs[program])); err != nil {
			return err
		}
	}
	fmt.Printf("built %s %s into %s within %s\n", t.What, t.Version, t.Dir, time.Since(began).Round(time.Second))
	return nil
}

// binaryName is the name that go build gives to the binary of a main package.
func binaryName(program string) string {
	if prefix, _, ok := module.SplitPathVersion(program); ok {
		program = prefix
	}
	return path.Base(program)
}

// writeModule writes a module that requires the target's module. The checksums that the
// target ships make sure that go downloads the modules that its developers used.
func (t Target) writeModule(dir string, from Origin) error {
	raw, err := moduleFile(t.Version, t.Require, t.Apart, from.goMod)
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
	// The symbol table is a third of a binary, and only a debugger needs it.
	linker, c := "-s -w", "CGO_ENABLED=0"
	if t.C {
		linker, c = linker+" -linkmode external -extldflags -static", "CGO_ENABLED=1"
	}
	if t.Flags != nil {
		for _, flag := range t.Flags(from) {
			linker += " -X " + flag
		}
	}
	// -trimpath as in the Makefile, so that the build cache of this module serves here too,
	// first of all its standard library.
	args := []string{"build", "-trimpath", "-tags", strings.Join(t.Tags, ","), "-ldflags", linker, "-o", into + string(filepath.Separator)}
	build := exec.CommandContext(ctx, "go", append(args, programs...)...)
	build.Dir = dir
	// The target's go.sum lacks the checksums of the staging modules, so go must be
	// allowed to add them. It checks them against the checksum database.
	build.Env = append(Rarely(os.Environ()), c, "GOFLAGS=-mod=mod", "GOWORK=off")
	var said bytes.Buffer
	build.Stdout, build.Stderr = &said, &said
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s failed: %w\n%s", strings.Join(programs, ", "), err, said.String())
	}
	return nil
}
