package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/hack/internal/debian"
)

// image holds the controller and the daemon; its tag is that of the recipe below.
const image = "docker.io/library/evenkeel-chaos-mesh:" + version + "-1"

// called are the packages of what the daemon calls.
var called = []string{"ipset", "iproute2", "iptables", "procps", "util-linux"}

//go:embed nsexec.sh
var nsexec []byte

const folderMode, programMode = 0o755, 0o755

// writeImage writes the image to a file. Docker keeps it for the next time.
func (b built) writeImage(ctx context.Context, file string) error {
	if exec.CommandContext(ctx, "docker", "image", "inspect", image).Run() != nil {
		if err := b.makeImage(ctx); err != nil {
			return err
		}
	}
	return execute(ctx, "docker", "save", "--output", file, image)
}

func (b built) makeImage(ctx context.Context) error {
	work, err := os.MkdirTemp(filepath.Dir(b.programs), ".image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	root := filepath.Join(work, "root")
	if err := debian.Bootstrap(ctx, root, called...); err != nil {
		return err
	}
	into := filepath.Join(root, "usr", "local", "bin")
	if err := os.MkdirAll(into, folderMode); err != nil {
		return err
	}
	for _, name := range programs {
		if err := execute(ctx, "cp", filepath.Join(b.programs, name), into); err != nil {
			return err
		}
	}
	// The daemon calls the program by this path.
	if err := os.WriteFile(filepath.Join(into, "nsexec"), nsexec, programMode); err != nil {
		return err
	}
	packed := filepath.Join(work, "root.tar")
	if err := execute(ctx, "tar", "--numeric-owner", "-C", root, "-cf", packed, "."); err != nil {
		return err
	}
	return execute(ctx, "docker", "import", packed, image)
}

// execute runs one program; what it said becomes part of the error.
func execute(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s failed: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}
