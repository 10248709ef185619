package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/evenkeel/evenkeel/hack/internal/gobuild"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// provideImages sees to it that there is what a node of another release is given when
// it is upgraded to this one. A release with a node image has it.
func provideImages(ctx context.Context, b base, images *registry, from, release string) error {
	recipe, err := key([]string{"images.go", "node.go", "plan.go"}, from, release)
	if err != nil {
		return err
	}
	there, err := kubernetes.LookUpImages(release)
	switch {
	case err != nil:
	case there.Recipe == recipe:
		return nil
	case there.Image != "":
		// Made by another recipe, or not, as its name tells.
		return provide(ctx, b, images, release)
	}
	if published := publishedImage(release); hasImage(ctx, published) || images.pull(ctx, published) {
		return pulled(ctx, b.cache, release, published)
	}
	node, err := kubernetes.LookUpNode(from)
	if err != nil {
		return err
	}
	named, err := retagged(node.Images, release)
	if err != nil {
		return err
	}
	programs := gobuild.Kubernetes(b.cache, release, kubernetes.Binaries...)
	if err := programs.Make(ctx); err != nil {
		return err
	}
	return record(b.cache, release, func(dir string) (kubernetes.Node, error) {
		err := writeArchive(filepath.Join(dir, kubernetes.NodeArchive), replacing(programs.Dir, named))
		return kubernetes.Node{Images: named.replaced(), Recipe: recipe}, err
	})
}

// retagged calls the images of a release as those of another are called: kubeadm names
// them all alike but for the tag, which is the release.
func retagged(images []string, release string) (names, error) {
	out := names{}
	for _, program := range kubernetes.Binaries {
		image, err := kubernetes.ImageOf(images, program)
		if err != nil {
			return nil, err
		}
		repository, _, ok := cutTag(image)
		if !ok {
			return nil, fmt.Errorf("the image %q has no tag", image)
		}
		out[program] = repository + ":" + release
	}
	return out, nil
}
