package apiserver

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/election/coordinator"
	electionplanted "github.com/evenkeel/evenkeel/impl/election/planted"
)

// releaseWithin is how long a server that stops may take to give up the coordinators' Lease.
const releaseWithin = 5 * time.Second

// coordinate makes this server a coordinator of the election of leaders, KEP-4355. It
// begins when the server has registered: the barrier refuses writes of Leases before.
func (s *server) coordinate() error {
	if !s.options.coordinated() {
		return nil
	}
	hostname := s.options.Hostname
	if hostname == "" {
		var err error
		if hostname, err = os.Hostname(); err != nil {
			return fmt.Errorf("read the host name: %w", err)
		}
	}
	options := coordinator.Options{
		Config: s.config.LoopbackClientConfig, Identity: hostname + "_" + uuid.NewString(),
	}
	life, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	generic := s.aggregator.GenericAPIServer
	if err := generic.AddPostStartHook("leader-election-coordinator", func(hook genericapiserver.PostStartHookContext) error {
		context.AfterFunc(hook, end)
		running.Go(func() {
			if s.versions.WaitRegistered(life) != nil {
				return // The server is stopping.
			}
			if err := electionplanted.Coordinate(life, options, s.options.Defects); err != nil && life.Err() == nil {
				klog.ErrorS(err, "This server does not coordinate the election of leaders")
			}
		})
		return nil
	}); err != nil {
		return err
	}
	// After shutdown the API server answers no requests, not even its own. If it kept the
	// coordinators' Lease, the other API servers would have to wait until the Lease expires,
	// and no leader would be elected meanwhile.
	return generic.AddPreShutdownHook("leader-election-coordinator", func() error {
		end()
		ended := make(chan struct{})
		go func() {
			running.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(releaseWithin):
			klog.InfoS("The coordinators' Lease was not given up in time", "bound", releaseWithin)
		}
		return nil
	})
}
