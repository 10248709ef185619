package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/hack/internal/gobuild"
	"github.com/evenkeel/evenkeel/pkg/cluster/kind/archive"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// nodePrograms run on a node itself, and not in a pod.
var nodePrograms = []string{"kubeadm", "kubectl", "kubelet"}

// builtImage is what the image of a release is called that is built here.
func builtImage(b base, release string) (string, error) {
	id, err := key([]string{"node.go", "plan.go", "script.go", "pause/*.go", "files/*node.sh", "files/start*.sh"}, b.image, release, kubernetes.EtcdVersion())
	return fmt.Sprintf("evenkeel/node:%s-%s", release, id), err
}

// built makes the image of a release from source, and its record.
func built(ctx context.Context, b base, release, image string) error {
	programs := gobuild.Kubernetes(b.cache, release, append(slices.Clone(nodePrograms), kubernetes.Binaries...)...)
	both, making := errgroup.WithContext(ctx)
	// Most of the base is waiting for packages.
	both.Go(func() error { return b.make(making) })
	both.Go(func() error {
		for _, target := range []gobuild.Target{gobuild.Etcd(b.cache), programs} {
			if err := target.Make(making); err != nil {
				return err
			}
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		return err
	}
	return record(b.cache, release, func(dir string) (kubernetes.Node, error) {
		listed, err := command(ctx, nil, filepath.Join(programs.Dir, "kubeadm"), "config", "images", "list", "--kubernetes-version", release)
		if err != nil {
			return kubernetes.Node{}, err
		}
		images, err := plan(listed, kubernetes.EtcdVersion())
		if err != nil {
			return kubernetes.Node{}, err
		}
		for _, name := range nodePrograms {
			if err := link(filepath.Join(programs.Dir, name), filepath.Join(dir, name)); err != nil {
				return kubernetes.Node{}, err
			}
		}
		work, err := os.MkdirTemp("", "evenkeel-images-")
		if err != nil {
			return kubernetes.Node{}, err
		}
		defer os.RemoveAll(work)
		whole := filepath.Join(work, "whole.tar")
		if err := writeArchives(ctx, b.cache, programs.Dir, whole, filepath.Join(dir, kubernetes.NodeArchive), images); err != nil {
			return kubernetes.Node{}, err
		}
		if err := commit(ctx, b.image, image, release, dir, whole, images[pauseProgram]); err != nil {
			return kubernetes.Node{}, err
		}
		return kubernetes.Node{Image: image, EtcdImageTag: etcdTag(kubernetes.EtcdVersion()), Images: images.replaced()}, nil
	})
}

// writeArchives writes the images of the control plane: all of them, and those that
// take the place of others when a node is given the release.
func writeArchives(ctx context.Context, cache, programs, whole, replaced string, images names) error {
	work, err := os.MkdirTemp("", "evenkeel-pause-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	pause := filepath.Join(work, pauseProgram)
	if err := buildOwn(ctx, pauseProgram, pause); err != nil {
		return fmt.Errorf("building pause failed: %w", err)
	}
	some := replacing(programs, images)
	all := append(slices.Clone(some),
		archive.Image{Name: images[pauseProgram], Files: map[string]string{"/pause": pause}, Entrypoint: []string{"/pause"}})
	etcd := archive.Image{Name: images[etcdProgram], Files: map[string]string{}}
	for _, one := range []string{"etcd", "etcdctl"} {
		etcd.Files["/usr/local/bin/"+one] = filepath.Join(kubernetes.EtcdDir(cache), one)
	}
	return errors.Join(writeArchive(whole, append(all, etcd)), writeArchive(replaced, some))
}

// replacing are the images that take the place of others.
func replacing(programs string, images names) []archive.Image {
	var out []archive.Image
	for _, program := range kubernetes.Binaries {
		path := "/usr/local/bin/" + program
		out = append(out, archive.Image{
			Name: images[program], Files: map[string]string{path: filepath.Join(programs, program)}, Entrypoint: []string{path},
		})
	}
	return out
}

func writeArchive(path string, images []archive.Image) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(archive.WriteAll(file, images), file.Close())
}

// commit makes the node image of a release from the base image.
func commit(ctx context.Context, from, to, release, dir, archived, pause string) error {
	// systemd takes SIGTERM for a request to start itself anew.
	return container(ctx, from, []string{"--stop-signal", "SIGRTMIN+3"}, func(id string) error {
		for _, name := range nodePrograms {
			if _, err := docker(ctx, "cp", "--follow-link", filepath.Join(dir, name), id+":/usr/bin/"+name); err != nil {
				return err
			}
		}
		images, err := os.Open(archived)
		if err != nil {
			return err
		}
		defer images.Close()
		_, err = inContainer(ctx, id, images, map[string]string{"release": release, "pause": pause}, "prepare-node.sh")
		if err != nil {
			return err
		}
		_, err = docker(ctx, "commit", "--change", `ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]`, id, to)
		return err
	})
}

// link gives a file a second name, or copies it where that cannot be.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, programMode)
}

// record makes the folder of a release's record. It appears whole or not at all.
func record(cache, release string, fill func(dir string) (kubernetes.Node, error)) error {
	final := kubernetes.NodeDir(cache, release)
	if err := os.MkdirAll(filepath.Dir(final), folderMode); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(final), ".node-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	node, err := fill(dir)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(node, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, kubernetes.NodeRecord), append(raw, '\n'), fileMode); err != nil {
		return err
	}
	if err := os.Chmod(dir, folderMode); err != nil {
		return err
	}
	// What stood there described an image that is not wanted any more.
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	return os.Rename(dir, final)
}
