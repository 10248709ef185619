package main

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/hack/internal/gobuild"
)

const folderMode, programMode, fileMode = 0o755, 0o755, 0o644

//go:embed files pause/*.go balancer/*.go *.go
var recipe embed.FS

// key names what is made from the ingredients by these files of the recipe, so
// that an image is never older than how it is made.
func key(files []string, ingredients ...string) (string, error) {
	sum := sha256.New()
	for _, pattern := range files {
		found, err := fs.Glob(recipe, pattern)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s is not part of the recipe", pattern)
		}
		if err != nil {
			return "", err
		}
		for _, path := range found {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			content, err := recipe.ReadFile(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s\x00%d\x00%s", path, len(content), content)
		}
	}
	fmt.Fprintf(sum, "%q", ingredients)
	return hex.EncodeToString(sum.Sum(nil))[:keyLength], nil
}

// keyLength is enough to tell one person's images apart.
const keyLength = 12

// base is what the nodes of all releases share.
type base struct {
	kind   kindSource
	cache  string
	image  string
	target []gobuild.Target
}

func newBase(kind kindSource, cache string) (base, error) {
	b := base{kind: kind, cache: cache}
	containerd, err := kind.argument("CONTAINERD_VERSION")
	if err != nil {
		return b, err
	}
	crictl, err := kind.argument("CRICTL_VERSION")
	if err != nil {
		return b, err
	}
	b.target = []gobuild.Target{runtimeTarget(cache, containerd), crictlTarget(cache, crictl)}
	id, err := key([]string{"base.go", "rootfs.go", "files/10-*", "files/restrict*"}, kind.Version)
	b.image = "evenkeel/node-base:" + id
	return b, err
}

// runtimeTarget is containerd without the snapshotters that no node uses.
func runtimeTarget(cache, version string) gobuild.Target {
	const containerd = "github.com/containerd/containerd/v2"
	t := gobuild.Target{
		What: "containerd", Version: version, Dir: filepath.Join(cache, "containerd", version),
		Module: containerd, Require: []string{containerd}, Programs: map[string]string{},
		Tags: []string{"no_aufs", "no_btrfs", "no_devmapper", "no_zfs"},
		Flags: func(gobuild.Origin) []string {
			return []string{containerd + "/version.Version=" + version}
		},
	}
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
		t.Programs[containerd+"/cmd/"+name] = name
	}
	return t
}

func crictlTarget(cache, version string) gobuild.Target {
	const tools = "sigs.k8s.io/cri-tools"
	return gobuild.Target{
		What: "crictl", Version: version, Dir: filepath.Join(cache, "crictl", version),
		Module: tools, Require: []string{tools}, Programs: map[string]string{tools + "/cmd/crictl": "crictl"},
		Flags: func(gobuild.Origin) []string { return []string{tools + "/pkg/version.Version=" + version} },
	}
}

// make builds the image unless Docker has it. The packages are fetched while
// the programs compile.
func (b base) make(ctx context.Context) error {
	if hasImage(ctx, b.image) {
		return nil
	}
	work, err := os.MkdirTemp(b.cache, ".base-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	root := filepath.Join(work, "root")
	both, building := errgroup.WithContext(ctx)
	both.Go(func() error { return debootstrap(building, root) })
	both.Go(func() error {
		for _, target := range b.target {
			if err := target.Make(building); err != nil {
				return err
			}
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		return err
	}
	if err := b.furnish(ctx, root); err != nil {
		return err
	}
	return b.importRoot(ctx, root)
}

// furnish does with Debian's packages what kind's base image does with them.
func (b base) furnish(ctx context.Context, root string) error {
	if err := strip(root); err != nil {
		return err
	}
	if err := installKindFiles(root, b.kind.baseFiles()); err != nil {
		return err
	}
	for _, target := range b.target {
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
		// What the kernel says is not this node's to keep.
		"/etc/systemd/journald.conf.d/10-evenkeel.conf":                    {[]byte("[Journal]\nReadKMsg=no\n"), fileMode},
		"/etc/cni/net.d/10-evenkeel.conflist":                              {ours("10-evenkeel.conflist"), fileMode},
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

// ours is a file of this folder, embedded: that it is there is for the compiler
// and the tests to prove.
func ours(name string) []byte {
	content, err := recipe.ReadFile("files/" + name)
	if err != nil {
		panic(err)
	}
	return content
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
