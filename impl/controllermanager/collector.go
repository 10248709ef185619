package controllermanager

import (
	"context"
	"fmt"
	"sync"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	internalclient "k8s.io/client-go/kubernetes/typed/apiserverinternal/v1alpha1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/follow"
	"github.com/evenkeel/evenkeel/impl/retry"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// collector reviews every StorageVersion when the participants change, and each one
// when it changes itself: a client may have added an entry of a server that does not
// take part.
//
// KEP-2339: a leader-elected control loop watches the list of participating
// servers and, upon changes, cleans up each object.
type collector struct {
	client kubernetes.Interface
	clock  clock.WithTicker
	decide collectorDecisions
	logger klog.Logger
	// troubles are the objects that could not be cleaned up and are tried again.
	troubles *retry.Troubles
	queue    workqueue.TypedRateLimitingInterface[string]
	// leading says why nothing may be written, if so.
	leading func() error
}

var collecting = retry.NewMetric("storage_version_collector", "For how long the collector has tried to clean up a storage version and failed")

// collectorDecisions are where a collector decides. A planted defect replaces one of them, see
// plantedcollector.go.
type collectorDecisions struct {
	// collect is what to do with an object.
	collect storageversion.Collector
	// participants are those that were read, unless that failed.
	participants func(storageversion.Participants, error) (storageversion.Participants, error)
	// putOff changes a decision, or is for how long it has to wait.
	putOff func(sv *apiserverinternalv1alpha1.StorageVersion, decision storageversion.Collection) (storageversion.Collection, time.Duration)
	// update writes a status on condition that the object has not changed since it was read.
	update func(ctx context.Context, svs internalclient.StorageVersionInterface, sv *apiserverinternalv1alpha1.StorageVersion) error
	// precondition is that of a deletion.
	precondition func(sv *apiserverinternalv1alpha1.StorageVersion) *metav1.Preconditions
}

func soundCollector() collectorDecisions {
	return collectorDecisions{
		collect: storageversion.Collect,
		participants: func(p storageversion.Participants, err error) (storageversion.Participants, error) {
			return p, err
		},
		putOff: func(_ *apiserverinternalv1alpha1.StorageVersion, decision storageversion.Collection) (storageversion.Collection, time.Duration) {
			return decision, 0
		},
		update: func(ctx context.Context, svs internalclient.StorageVersionInterface, sv *apiserverinternalv1alpha1.StorageVersion) error {
			_, err := svs.UpdateStatus(ctx, sv, metav1.UpdateOptions{})
			return err
		},
		precondition: func(sv *apiserverinternalv1alpha1.StorageVersion) *metav1.Preconditions {
			return &metav1.Preconditions{UID: &sv.UID, ResourceVersion: &sv.ResourceVersion}
		},
	}
}

func newCollector(client kubernetes.Interface, options Options, leading func() error) *collector {
	return &collector{
		client:   client,
		clock:    options.Clock,
		decide:   plantCollector(soundCollector(), options.Clock, options.Defects),
		logger:   *options.Logger,
		troubles: retry.New(options.Clock, collecting.Gauge()),
		leading:  leading,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](CollectorRetry, CollectorRetryMax),
			workqueue.TypedRateLimitingQueueConfig[string]{Clock: options.Clock}),
	}
}

// collect runs a collector until the context ends; then nothing of it is left.
func collect(ctx context.Context, client kubernetes.Interface, options Options, leading func() error) {
	newCollector(client, options, leading).run(ctx)
}

func (c *collector) run(ctx context.Context) {
	objects := follow.New(c.client, c.client.InternalV1alpha1().StorageVersions(), nil, func(_, sv *apiserverinternalv1alpha1.StorageVersion) {
		if sv != nil {
			c.queue.Add(sv.Name)
		}
	})
	participants := follow.New(c.client, c.client.CoordinationV1().Leases(storageversion.LeaseNamespace), follow.Labeled(storageversion.IdentitySelector),
		func(before, lease *coordinationv1.Lease) {
			if participationChanged(before, lease) {
				for _, name := range objects.Objects().ListKeys() {
					c.queue.Add(name)
				}
			}
		})

	var workers sync.WaitGroup
	workers.Go(func() { objects.Run(ctx) })
	workers.Go(func() { participants.Run(ctx) })
	for range CollectorWorkers {
		workers.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	ticker := c.clock.NewTicker(CollectorResync)
	defer ticker.Stop()
	for done := false; !done; {
		select {
		case <-ticker.C():
			for _, name := range c.due(objects.All(), participants.All()) {
				c.queue.Add(name)
			}
		case <-ctx.Done():
			done = true
		}
	}
	c.queue.ShutDown()
	workers.Wait()
}

// due are the objects with which something is to be done by what the followers show. An
// object that is as it should be costs no request, however many there are. The decision
// about each of the others is made again by what the API server has.
func (c *collector) due(objects []*apiserverinternalv1alpha1.StorageVersion, leases []*coordinationv1.Lease) (names []string) {
	participants := storageversion.Participants{}
	for _, lease := range leases {
		participants[lease.Name] = storageversion.Registered(lease)
	}
	for _, sv := range objects {
		if c.decide.collect(sv, participants, c.clock.Now()).Action != storageversion.Keep {
			names = append(names, sv.Name)
		}
	}
	return names
}

// participationChanged reports whether a change of an identity Lease is more
// than a renewal. What matters is whether the server is registered; a new
// process that takes over is not, whatever the old one was.
func participationChanged(before, after *coordinationv1.Lease) bool {
	return before == nil || after == nil || before.UID != after.UID || storageversion.Registered(before) != storageversion.Registered(after)
}

// next processes one object from the queue; it is false when there are no more.
func (c *collector) next(ctx context.Context) bool {
	name, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(name)
	recheck, err := c.process(ctx, name)
	what := "cleaning up storage version " + name
	switch {
	case err == nil:
		c.troubles.Over(what)
		c.queue.Forget(name)
		if recheck > 0 {
			c.queue.AddAfter(name, recheck)
		}
	case ctx.Err() != nil:
		c.troubles.Over(what)
	default:
		c.troubles.Failed(what, err)
		if !apierrors.IsConflict(err) {
			c.logger.Error(err, "Cannot clean up, trying again", "storageVersion", name)
		}
		c.queue.AddRateLimited(name)
	}
	return true
}

// process looks at one object and does what is to be done with it.
//
// KEP-2339: get the object, then the participants, decide, and write with the
// resourceVersion of the object as precondition. Both are read from the server
// and not from a cache, in this order, see package storageversion. Whatever goes
// wrong on the way leaves the object as it is.
func (c *collector) process(ctx context.Context, name string) (recheck time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, storageversion.RequestTimeout)
	defer cancel()
	svs := c.client.InternalV1alpha1().StorageVersions()
	sv, err := svs.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("getting storage version %s: %w", name, err)
	}
	participants, err := c.decide.participants(storageversion.ReadParticipants(ctx, c.client.CoordinationV1().Leases(storageversion.LeaseNamespace), sv.Status.StorageVersions))
	if err != nil {
		return 0, err
	}
	decision, left := c.decide.putOff(sv, c.decide.collect(sv, participants, c.clock.Now()))
	if left > 0 {
		return left, nil
	}
	if decision.Action == storageversion.Keep {
		return decision.Recheck, nil
	}
	if err := c.leading(); err != nil {
		return 0, err
	}
	switch decision.Action {
	case storageversion.Keep: // returned above
	case storageversion.Update:
		err = c.update(ctx, sv, decision.Status)
	case storageversion.Delete:
		err = c.delete(ctx, sv)
	}
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}

// update writes a status; uid and resourceVersion are those that were read.
func (c *collector) update(ctx context.Context, sv *apiserverinternalv1alpha1.StorageVersion, status apiserverinternalv1alpha1.StorageVersionStatus) error {
	next := sv.DeepCopy()
	next.Status = status
	if err := c.decide.update(ctx, c.client.InternalV1alpha1().StorageVersions(), next); err != nil {
		return fmt.Errorf("updating storage version %s: %w", sv.Name, err)
	}
	c.logger.Info("Updated", "storageVersion", sv.Name, "entries", len(status.StorageVersions), "before", len(sv.Status.StorageVersions))
	return nil
}

// delete removes an object, unless anything was written to it since it was read.
func (c *collector) delete(ctx context.Context, sv *apiserverinternalv1alpha1.StorageVersion) error {
	options := metav1.DeleteOptions{Preconditions: c.decide.precondition(sv)}
	if err := c.client.InternalV1alpha1().StorageVersions().Delete(ctx, sv.Name, options); err != nil {
		return fmt.Errorf("deleting storage version %s: %w", sv.Name, err)
	}
	c.logger.Info("Deleted", "storageVersion", sv.Name)
	return nil
}
