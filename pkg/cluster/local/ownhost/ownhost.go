//go:build linux

// Package ownhost starts programs that see a host name of their own. Some
// servers derive their identity from the host name and nothing else, so that
// several of them on one machine would take each other's place.
//
// The kernel keeps a host name for each UTS namespace, and only a process inside
// can set it before the program begins. That process is this very executable:
// it is started in a new namespace, sets the name as its first act, and becomes
// the program. The process stays the same one, with its PID, its start time and
// its environment. It works in whatever executable this package is linked into,
// test binaries too, because it happens while packages are initialized.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package ownhost

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// variable tells an executable that it was started to become another program.
const variable = "EVENKEEL_OWN_HOST_NAME"

// self is this executable, also when its file is gone meanwhile.
const self = "/proc/self/exe"

func init() {
	name, asked := os.LookupEnv(variable)
	if !asked {
		return
	}
	err := become(name)
	fmt.Fprintf(os.Stderr, "evenkeel: cannot run %s on a host called %q: %v\n", os.Args[0], name, err)
	os.Exit(1)
}

// become never returns but with an error.
func become(name string) error {
	if err := os.Unsetenv(variable); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	return syscall.Exec(os.Args[0], os.Args, os.Environ())
}

// Wrap changes a command so that it runs on a host of the name. The program's
// path must be absolute, and the environment set before.
func Wrap(cmd *exec.Cmd, name string) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.Args[0], cmd.Path = cmd.Path, self
	cmd.Env = append(cmd.Environ(), variable+"="+name)
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUTS
	if privileged() {
		return
	}
	// A user who may not make a UTS namespace may in a user namespace,
	// where this user is root and no other exists. Outside of it that gains nothing.
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
}

// Explain adds to the error of a wrapped command's start what can be done.
func Explain(err error) error {
	if err == nil || privileged() {
		return err
	}
	return fmt.Errorf("%w: it needs a host name of its own, so run as root, or let users make namespaces "+
		"(sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=1000, and no AppArmor restriction of them)", err)
}

// administrator is the capability to make and name namespaces, CAP_SYS_ADMIN.
const administrator = 21

// privileged is whether this process has that capability. Being root is not
// enough inside of many containers.
func privileged() bool {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	return has(string(raw), administrator)
}

func has(status string, capability uint) bool {
	for line := range strings.Lines(status) {
		if effective, found := strings.CutPrefix(line, "CapEff:"); found {
			set, err := strconv.ParseUint(strings.TrimSpace(effective), 16, 64)
			return err == nil && set&(1<<capability) != 0
		}
	}
	return false
}

// Try is an error if no program can be started on a host of another name, and why.
func Try(ctx context.Context) error {
	program, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program)
	var said bytes.Buffer
	command.Stderr = &said
	Wrap(command, "evenkeel-try")
	if err := command.Run(); err != nil {
		return fmt.Errorf("%w %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}
