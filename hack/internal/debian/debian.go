// Package debian makes root file systems of Debian's packages.
package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// suite of Debian: the last whose systemd starts on cgroup v1, which the hosts
// that need images of it often have. Where published images are used instead,
// nothing of this matters.
const suite = "bookworm"

// Bootstrap makes the root file system of Debian's essential packages, and of others, in a
// folder that is not there yet.
func Bootstrap(ctx context.Context, root string, packages ...string) error {
	if _, err := exec.LookPath("debootstrap"); err != nil {
		return errors.New("debootstrap is missing, which makes root file systems: install it (on Debian hack/docker/prepare.sh does)")
	}
	if os.Geteuid() != 0 {
		return errors.New("a root file system can be made by root only: run this as root")
	}
	run := exec.CommandContext(ctx, "debootstrap", "--variant=minbase", "--include="+strings.Join(packages, ","), suite, root)
	// What it mounts is gone with it, however it ends: removing the folder
	// must not reach into a mounted /proc. It ends with all that it started.
	run.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Setpgid: true}
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGKILL) }
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("debootstrap failed: %w\n%s", err, lastLines(string(out)))
	}
	return nil
}

// shownLines of a program's output are enough to see why it failed.
const shownLines = 10

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > shownLines {
		lines = lines[len(lines)-shownLines:]
	}
	return strings.Join(lines, "\n")
}
