package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// packages beside Debian's essential ones: an init, what the kubelet and the
// pod network call, what kind's scripts call, and a runtime.
var packages = []string{
	"systemd", "systemd-sysv", "dbus",
	"conntrack", "iptables", "nftables", "iproute2", "ethtool", "socat", "util-linux", "mount", "kmod", "e2fsprogs",
	"bash", "ca-certificates", "curl", "jq", "procps", "libseccomp2",
	"runc", "containernetworking-plugins",
}

// excess is left out of the image: caches, documentation, and the units that
// would set up hardware or terminals, which a container has none of.
var excess = []string{
	"var/cache/apt/*", "var/lib/apt/lists/*", "var/log/*",
	"usr/share/doc/*", "usr/share/man/*", "usr/share/locale/*",
	"etc/systemd/system/*.wants/*",
	"lib/systemd/system/multi-user.target.wants/*",
	"lib/systemd/system/local-fs.target.wants/*",
	"lib/systemd/system/basic.target.wants/*",
	"lib/systemd/system/sockets.target.wants/*udev*",
	"lib/systemd/system/sockets.target.wants/*initctl*",
	"lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
}

// strip removes the excess.
func strip(root string) error {
	for _, pattern := range excess {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// install puts a file into the root file system.
func install(root, inside string, content []byte, mode fs.FileMode) error {
	path := filepath.Join(root, inside)
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		return err
	}
	// Whatever the umask says.
	return os.Chmod(path, mode)
}

// installKindFiles copies what kind puts into its base image. In a module all
// files have the same mode: the programs are those in folders called bin.
func installKindFiles(root, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		var mode fs.FileMode = fileMode
		if filepath.Base(filepath.Dir(path)) == "bin" {
			mode = programMode
		}
		return install(root, inside, content, mode)
	})
}

// baseSpec is what containerd starts every container from: its own default,
// with kind's hook, and without limits that a restricted host may not set.
func baseSpec(own []byte) ([]byte, error) {
	var spec map[string]any
	if err := json.Unmarshal(own, &spec); err != nil {
		return nil, fmt.Errorf("the specification that `ctr oci spec` printed cannot be read: %w", err)
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		return nil, errors.New("the specification that `ctr oci spec` printed has no process")
	}
	delete(process, "rlimits")
	hooks, _ := spec["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
	}
	created, _ := hooks["createContainer"].([]any)
	hooks["createContainer"] = append(created, map[string]any{"path": "/kind/bin/mount-product-files.sh"})
	spec["hooks"] = hooks
	return json.Marshal(spec)
}
