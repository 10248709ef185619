package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// publishedImage is kind's own node image of a release.
func publishedImage(release string) string { return "kindest/node:" + release }

// pulled makes the record of a release from kind's own image of it.
func pulled(ctx context.Context, cache, release, image string) error {
	return record(cache, release, func(dir string) (kubernetes.Node, error) {
		node := kubernetes.Node{Image: image}
		// Instead of the image's own, which would start a whole node.
		err := container(ctx, image, []string{"--entrypoint", "env"}, func(id string) error {
			for _, name := range nodePrograms {
				if _, err := docker(ctx, "cp", id+":/usr/bin/"+name, filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			stored, err := inContainer(ctx, id, nil, nil, "list-images.sh")
			if err != nil {
				return err
			}
			if node.Images, node.EtcdImageTag, err = choose(strings.Fields(stored)); err != nil {
				return err
			}
			return export(ctx, id, node.Images, filepath.Join(dir, kubernetes.NodeArchive))
		})
		return node, err
	})
}

// choose picks the images among all of a node that a node is given with the release,
// and tells the tag of its etcd.
func choose(stored []string) (images []string, tag string, err error) {
	found := map[string]string{}
	for _, image := range stored {
		repository, itsTag, ok := cutTag(image)
		// Every image also stands there under its digest alone.
		if !ok || strings.Contains(repository, "@") || strings.HasPrefix(repository, "sha256") {
			continue
		}
		program := path.Base(repository)
		if program == etcdProgram {
			tag = itsTag
		}
		found[program] = image
	}
	for _, program := range append([]string{etcdProgram, pauseProgram}, kubernetes.Binaries...) {
		if found[program] == "" {
			return nil, "", fmt.Errorf("the node image has no image of %s, only %v", program, stored)
		}
	}
	return names(found).replaced(), tag, nil
}

func export(ctx context.Context, id string, images []string, into string) error {
	file, err := os.Create(into)
	if err != nil {
		return err
	}
	args := []string{"exec", id, "ctr", "--namespace", "k8s.io", "images", "export", "-"}
	run := exec.CommandContext(ctx, "docker", append(args, images...)...)
	var said strings.Builder
	run.Stdout, run.Stderr = file, &said
	if err := run.Run(); err != nil {
		_ = file.Close() // its content is of no use
		return fmt.Errorf("exporting the images of the control plane failed: %w: %s", err, said.String())
	}
	return file.Close()
}
