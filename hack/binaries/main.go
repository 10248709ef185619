// Binaries builds what the distribution `kubernetes` runs: the control-plane
// binaries of Kubernetes releases, and etcd, from the Go module proxy alone.
//
//	go run ./hack/binaries [v1.35.4 v1.36.3 …]
//
// Without names it builds every release that the harness knows. What is built
// goes into the folder that EVENKEEL_CACHE names, or into the user's cache; what
// is there already is not built again.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/evenkeel/evenkeel/hack/internal/gobuild"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := build(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "binaries:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context, names []string) error {
	if len(names) == 0 {
		names = kubernetes.Releases()
	}
	cache, err := kubernetes.CacheDir()
	if err != nil {
		return err
	}
	targets := []gobuild.Target{gobuild.Etcd(cache)}
	for _, name := range names {
		// A name that the harness knows nothing of could be built, but not run.
		if _, err := kubernetes.Find(name); err != nil {
			return err
		}
		targets = append(targets, gobuild.Kubernetes(cache, name, kubernetes.Binaries...))
	}
	for _, t := range targets {
		if err := t.Make(ctx); err != nil {
			return err
		}
	}
	return nil
}
