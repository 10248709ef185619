package candidacy_test

import (
	"context"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/impl/election/candidacy"
)

// A controller of any kind, of which one instance works at a time, the one with
// the oldest version.
func Example() {
	runController := func(ctx context.Context) { <-ctx.Done() }

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := rest.InClusterConfig()
	if err != nil {
		return
	}
	elector, err := candidacy.New(candidacy.Options{
		Client:    kubernetes.NewForConfigOrDie(config),
		Namespace: "example", Lease: "example-controller", Name: "example-controller-7f9c",
		BinaryVersion: "1.4.0", EmulationVersion: "1.3.0",
		Lead: func(ctx context.Context, _ candidacy.Term) { runController(ctx) },
	})
	if err != nil {
		return
	}
	elector.Run(ctx)
}
