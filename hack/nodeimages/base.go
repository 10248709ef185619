package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/hack/internal/debian"
	"github.com/evenkeel/evenkeel/hack/internal/gobuild"
)

// base is what the nodes of all releases share.
type base struct {
	kind    kindSource
	cache   string
	image   string
	targets []gobuild.Target
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
	b.targets = []gobuild.Target{runtimeTarget(cache, containerd), crictlTarget(cache, crictl)}
	id, err := key([]string{"furnish.go", "rootfs.go", "files/10-*", "files/restrict*"}, kind.Version)
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
	fmt.Printf("making %s, which the nodes of all releases share\n", b.image)
	work, err := os.MkdirTemp(b.cache, ".base-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	root := filepath.Join(work, "root")
	both, building := errgroup.WithContext(ctx)
	both.Go(func() error { return debian.Bootstrap(building, root, packages...) })
	both.Go(func() error {
		for _, target := range b.targets {
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
