package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// furnish does with Debian's packages what kind's base image does with them.
func (b base) furnish(ctx context.Context, root string) error {
	if err := strip(root); err != nil {
		return err
	}
	if err := installKindFiles(root, b.kind.baseFiles()); err != nil {
		return err
	}
	for _, target := range b.targets {
		for _, name := range target.Programs {
			content, err := os.ReadFile(filepath.Join(target.Dir, name))
			if err != nil {
				return err
			}
			if err := install(root, "/usr/local/bin/"+name, content, programMode); err != nil {
				return err
			}
		}
	}
	own, err := command(ctx, nil, filepath.Join(root, "usr/local/bin/ctr"), "oci", "spec")
	if err != nil {
		return err
	}
	spec, err := baseSpec([]byte(own))
	if err != nil {
		return err
	}
	for inside, file := range map[string]struct {
		content []byte
		mode    fs.FileMode
	}{
		"/etc/containerd/cri-base.json": {spec, fileMode},
		// A network of its own on each node: pods reach out and their own node
		// reaches them, which is all that a control plane wants of them.
		"/etc/cni/net.d/10-evenkeel.conflist": {ours("10-evenkeel.conflist"), fileMode},
		// What the kernel says is not this node's to keep.
		"/etc/systemd/journald.conf.d/10-evenkeel.conf":                    {[]byte("[Journal]\nReadKMsg=no\n"), fileMode},
		"/etc/systemd/system/containerd.service.d/restrict-oom-score.conf": {ours("10-restrict-oom-score.conf"), fileMode},
		"/kind/bin/restrict-oom-score.sh":                                  {ours("restrict-oom-score.sh"), programMode},
	} {
		if err := install(root, inside, file.content, file.mode); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "etc/kubernetes/manifests"), folderMode); err != nil {
		return err
	}
	// The kubelet looks for plugins here, Debian keeps them there.
	if err := os.MkdirAll(filepath.Join(root, "opt/cni"), folderMode); err != nil {
		return err
	}
	if err := os.Symlink("/usr/lib/cni", filepath.Join(root, "opt/cni/bin")); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"enable", "kubelet.service", "containerd.service", "undo-mount-hacks.service"},
		// It would register formats with the host's kernel.
		{"mask", "systemd-binfmt.service"},
	} {
		if _, err := command(ctx, nil, "chroot", append([]string{root, "systemctl"}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

func (b base) importRoot(ctx context.Context, root string) error {
	pack := exec.CommandContext(ctx, "tar", "--numeric-owner", "-C", root, "-c", ".")
	packed, err := pack.StdoutPipe()
	if err != nil {
		return err
	}
	if err := pack.Start(); err != nil {
		return err
	}
	_, err = command(ctx, packed, "docker", "import",
		"--change", "ENV container=docker", "-", b.image)
	if err != nil {
		// Without a reader tar would wait for ever.
		_, _ = io.Copy(io.Discard, packed)
	}
	if failed := pack.Wait(); failed != nil && err == nil {
		err = fmt.Errorf("packing the root file system failed: %w", failed)
	}
	return err
}
