package apiserver

import (
	"fmt"
	"os"

	"github.com/google/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/election/coordinator"
)

// coordinate has this server stand by to coordinate the election of leaders, KEP-4355.
// It begins when the server has registered: Leases are guarded before.
func (s *server) coordinate() error {
	if !s.options.coordinated() {
		return nil
	}
	hostname := s.options.Hostname
	if hostname == "" {
		var err error
		if hostname, err = os.Hostname(); err != nil {
			return fmt.Errorf("tell the host name: %w", err)
		}
	}
	options := coordinator.Options{
		Config: s.config.LoopbackClientConfig, Identity: hostname + "_" + uuid.NewString(), Defects: s.options.Defects,
	}
	return s.aggregator.GenericAPIServer.AddPostStartHook("leader-election-coordinator", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if s.versions.WaitRegistered(hook) != nil {
				return // The server is stopping.
			}
			if err := coordinator.Run(hook, options); err != nil && hook.Err() == nil {
				klog.ErrorS(err, "This server does not coordinate the election of leaders")
			}
		}()
		return nil
	})
}
