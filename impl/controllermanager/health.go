package controllermanager

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/impl/election/fence"
)

// health is whether a process that was elected still may lead: a leader whose Lease has expired
// should have stopped, and has to be restarted if it has not.
type health struct {
	mu     sync.Mutex
	checks []func() error
}

// instance is an instance of a component that knows whether it is healthy.
type instance interface {
	Healthy(tolerance time.Duration) error
}

func (h *health) set(checks ...func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = checks
}

// watchLock has the health be that of the holder of a lock, whose Lease lasts for a time.
func (h *health) watchLock(lock *fence.Lock, lasts time.Duration) {
	h.set(func() error {
		if since, held := lock.Held(); held && since > lasts+HealthTolerance {
			return fmt.Errorf("the Lease %s was not renewed for %s", lock.Describe(), since.Round(time.Second))
		}
		return nil
	})
}

// watch has the health be that of all instances.
func watch[T instance](h *health, instances []T) {
	checks := make([]func() error, len(instances))
	for i, one := range instances {
		checks[i] = func() error { return one.Healthy(HealthTolerance) }
	}
	h.set(checks...)
}

// Name of the check, as kube-controller-manager names it.
func (h *health) Name() string { return "leaderElection" }

// Check says what is wrong.
func (h *health) Check(*http.Request) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, check := range h.checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}
