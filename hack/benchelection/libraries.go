package main

import (
	"context"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/candidacy"
)

// standWithReference makes an instance of the reference's library, which its
// controller managers use where a coordinator elects.
func standWithReference(config *rest.Config, p place) (func(context.Context), error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	elector, err := candidacy.New(candidacy.Options{
		Client: client, Namespace: namespace, Lease: p.lease, Name: p.name, BinaryVersion: p.version, EmulationVersion: p.version,
		Timing: election.Timing{LeaseDuration: p.timing.lease, RenewDeadline: p.timing.deadline, RetryPeriod: p.timing.retry},
		Lead:   func(ctx context.Context, _ candidacy.Term) { <-ctx.Done() },
	})
	if err != nil {
		return nil, err
	}
	return elector.Run, nil
}

// standWithCoordinator makes an instance of client-go's library, as
// kube-controller-manager uses it where a coordinator elects.
func standWithCoordinator(config *rest.Config, p place) (func(context.Context), error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	candidate, _, err := leaderelection.NewCandidate(client, namespace, p.name, p.lease, p.version, p.version, coordinationv1.OldestEmulationVersion)
	if err != nil {
		return nil, err
	}
	elect, err := electing(config, p, true)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		var standing sync.WaitGroup
		standing.Go(func() { candidate.Run(ctx) })
		elect(ctx)
		standing.Wait()
	}, nil
}

// standPlainly makes an instance of client-go's library, which both controller
// managers use where no coordinator elects.
func standPlainly(config *rest.Config, p place) (func(context.Context), error) {
	return electing(config, p, false)
}

// electing competes with client-go until the context ends. Who loses the Lease gives it
// up, as kube-scheduler does, and competes again; kube-controller-manager lets it expire,
// ends, and is started again.
func electing(config *rest.Config, p place, coordinated bool) (func(context.Context), error) {
	config = rest.CopyConfig(config)
	// As all that lead with this library have it: a request that hangs leaves time for
	// another one.
	config.Timeout = p.timing.deadline / 2
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	elector := func() (*leaderelection.LeaderElector, error) {
		return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Name: p.lease, Coordinated: coordinated, ReleaseOnCancel: true,
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: p.lease},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: p.name},
			},
			LeaseDuration: p.timing.lease, RenewDeadline: p.timing.deadline, RetryPeriod: p.timing.retry,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
	}
	if _, err := elector(); err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			if e, err := elector(); err == nil {
				e.Run(ctx)
			}
		}
	}, nil
}
