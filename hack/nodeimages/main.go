// Nodeimages makes node images for the kind provider, and records of what is in
// them. It pulls kind's own images where it can, and builds from source where
// no registry can be reached or none has the release.
//
//	go run ./hack/nodeimages [-next] [v1.35.4 v1.36.3 …]
//
// Without names it makes those of every release that the harness knows. With -next it
// also makes what a node is given that is upgraded to the release after the last one
// named: three images and no node image. It is
// run in the module's own folder, needs a Docker daemon, and to build also root
// and debootstrap. What is there already is not made again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	next := flag.Bool("next", false, "also make what nodes are given that are upgraded to the release after the last one named")
	flag.Parse()
	if err := run(ctx, flag.Args(), *next); err != nil {
		fmt.Fprintln(os.Stderr, "nodeimages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, releases []string, next bool) error {
	if len(releases) == 0 {
		releases = kubernetes.Releases()
	}
	for _, release := range releases {
		// A name that the harness knows nothing of could be built, but not run.
		if _, err := kubernetes.Find(release); err != nil {
			return err
		}
	}
	upgradeTo := ""
	if next {
		var err error
		if upgradeTo, err = after(releases[len(releases)-1]); err != nil {
			return err
		}
	}
	if _, err := docker(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
		return errors.New("no Docker daemon answers: start one (on Debian hack/docker/prepare.sh does)")
	}
	cache, err := kubernetes.CacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, folderMode); err != nil {
		return err
	}
	kind, err := findKind(ctx)
	if err != nil {
		return err
	}
	b, err := newBase(kind, cache)
	if err != nil {
		return err
	}
	var images registry
	for _, release := range releases {
		began := time.Now()
		if err := provide(ctx, b, &images, release); err != nil {
			return fmt.Errorf("the node image of %s cannot be made: %w", release, err)
		}
		node, err := kubernetes.LookUpNode(release)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s (%s)\n", release, node.Image, time.Since(began).Round(time.Second))
	}
	if next {
		began := time.Now()
		if err := provideImages(ctx, b, &images, releases[len(releases)-1], upgradeTo); err != nil {
			return fmt.Errorf("what nodes are given of %s cannot be made: %w", upgradeTo, err)
		}
		fmt.Printf("%s: what nodes of %s are given (%s)\n", upgradeTo, releases[len(releases)-1], time.Since(began).Round(time.Second))
	}
	return makeBalancer(ctx, b, &images)
}

// after is the release that follows one that is known.
func after(release string) (string, error) {
	known := kubernetes.Releases()
	i := slices.Index(known, release)
	if i < 0 || i+1 == len(known) {
		return "", fmt.Errorf("no release after %s is known, only %s", release, strings.Join(known, ", "))
	}
	return known[i+1], nil
}

// provide sees to it that a release has a record, and Docker the image that it
// names.
func provide(ctx context.Context, b base, images *registry, release string) error {
	wanted, err := builtImage(b, release)
	if err != nil {
		return err
	}
	published := publishedImage(release)
	node, err := kubernetes.LookUpNode(release)
	if err == nil && (node.Image == wanted || node.Image == published) && hasImage(ctx, node.Image) {
		return nil
	}
	if hasImage(ctx, published) || images.pull(ctx, published) {
		return pulled(ctx, b.cache, release, published)
	}
	return built(ctx, b, release, wanted)
}
