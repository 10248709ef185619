package e2eframework

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/klient/wait"
)

// WaitForControlPlane implements support.E2EClusterProvider: it returns when the
// API server of every member answers that it is ready, and the one that the
// client reaches too. The client may be nil.
func (c *Cluster) WaitForControlPlane(ctx context.Context, client klient.Client) error {
	up, err := c.running()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyBound, fmt.Errorf("it took longer than %s", readyBound))
	defer cancel()
	for _, member := range up.Members() {
		config, err := up.ClientConfig(member.Name, false)
		if err != nil {
			return err
		}
		if err := awaitReady(ctx, config); err != nil {
			return fmt.Errorf("the API server of member %s is not ready: %w", member.Name, err)
		}
	}
	if client == nil {
		return nil
	}
	if err := awaitReady(ctx, client.RESTConfig()); err != nil {
		return fmt.Errorf("the client reaches no API server of cluster %s that is ready: %w", up.name, err)
	}
	return nil
}

// awaitReady waits until an API server answers that it is ready.
func awaitReady(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Timeout = probeBound
	asking, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	var last error
	err = wait.For(func(ctx context.Context) (bool, error) {
		if _, answer := asking.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); answer != nil {
			// A question that the end of the wait cut short tells nothing.
			if ctx.Err() == nil {
				last = answer
			}
			return false, nil
		}
		return true, nil
	}, wait.WithContext(ctx), wait.WithTimeout(readyBound), wait.WithInterval(readyPoll), wait.WithImmediate())
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if last != nil {
		return fmt.Errorf("%w; it last said: %w", err, last)
	}
	return err
}
