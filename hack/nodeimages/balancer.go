package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// balancerLabel tells which recipe an image was made by; kind's own has none.
const balancerLabel = "evenkeel.balancer"

// makeBalancer sees to it that Docker has the image that kind starts before
// several control planes: kind's own, or one of that name with our balancer.
func makeBalancer(ctx context.Context, b base, registry *registry) error {
	image, err := b.kind.balancerImage()
	if err != nil {
		return err
	}
	id, err := key([]string{"balancer/*.go", "balancer.go"}, b.image)
	if err != nil {
		return err
	}
	switch made, err := docker(ctx, "image", "inspect", "--format", "{{index .Config.Labels \""+balancerLabel+"\"}}", image); {
	case err == nil && (made == "" || made == id):
		fmt.Printf("load balancer: Docker has %s\n", image)
		return nil
	case err != nil && registry.pull(ctx, image):
		return nil
	}
	if err := b.make(ctx); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "evenkeel-balancer-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, "envoy")
	if err := buildOwn(ctx, "balancer", program); err != nil {
		return fmt.Errorf("building the balancer failed: %w", err)
	}
	// The command that kind starts it with needs a shell, which the base has.
	err = container(ctx, b.image, nil, func(with string) error {
		if _, err := docker(ctx, "cp", program, with+":/usr/local/bin/envoy"); err != nil {
			return err
		}
		_, err := docker(ctx, "commit", "--change", "LABEL "+balancerLabel+"="+id, with, image)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("load balancer: built %s\n", image)
	return nil
}
