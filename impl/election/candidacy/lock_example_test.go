package candidacy_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/evenkeel/evenkeel/impl/election/candidacy"
	"github.com/evenkeel/evenkeel/impl/election/electiontest"
)

// A program that elects its leader by client-go changes nothing but the lock. Here a coordinator
// has elected the program already; in a cluster the client comes from kubernetes.NewForConfig.
func ExampleLock() {
	client := electiontest.NewServer(electiontest.Lease("example", "example-controller", "example-controller-7f9c"))
	lock, err := candidacy.NewLock(candidacy.Options{
		Client: client, Namespace: "example", Lease: "example-controller", Name: "example-controller-7f9c", BinaryVersion: "1.4.0",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	standing, withdraw := context.WithCancel(context.Background())
	var candidate sync.WaitGroup
	candidate.Go(func() { lock.Run(standing) })

	ctx, stop := context.WithCancel(context.Background())
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				fmt.Println("leading:", lock.Leading() == nil)
				stop()
			},
			OnStoppedLeading: func() { fmt.Println("stopped") },
		},
	})
	withdraw()
	candidate.Wait()
	// Output:
	// leading: true
	// stopped
}
