package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	leaselisters "k8s.io/client-go/listers/coordination/v1"
	candidatelisters "k8s.io/client-go/listers/coordination/v1beta1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/follow"
	"github.com/evenkeel/evenkeel/impl/retry"
)

// shift is the time for which a coordinator is active. It keeps nothing of an earlier
// shift: only its own observations count.
type shift struct {
	client  kubernetes.Interface
	options Options
	// leading says why nothing may be written, if so.
	leading    func() error
	queue      workqueue.TypedRateLimitingInterface[types.NamespacedName]
	leases     leaselisters.LeaseLister
	candidates candidatelisters.LeaseCandidateLister
	memory     memory
	// troubles are the Leases that could not be coordinated and are tried again.
	troubles *retry.Troubles
}

var coordinating = retry.NewMetric("election_coordinator", "For how long the coordinator has tried to coordinate a Lease and failed")

func newShift(client kubernetes.Interface, o Options, leading func() error) *shift {
	return &shift{
		client: client, options: o, leading: leading,
		memory: memory{leases: map[string]*seen{}}, troubles: retry.New(o.Clock, coordinating.Gauge()),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](retryLeast, retryMost),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Clock: o.Clock}),
	}
}

// run works until the context ends; then nothing of it is left.
//
// KEP-4355: the coordinator reconciles Leases; a change of a candidate is one of
// its Lease.
func (s *shift) run(ctx context.Context) {
	leases := follow.New(s.client, s.client.CoordinationV1().Leases(metav1.NamespaceAll), nil, func(before, after *coordinationv1.Lease) {
		lease := cmp.Or(after, before)
		s.queue.Add(types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name})
	})
	candidates := follow.New(s.client, s.client.CoordinationV1beta1().LeaseCandidates(metav1.NamespaceAll), nil, func(before, after *election.Candidate) {
		c := cmp.Or(after, before)
		s.queue.Add(types.NamespacedName{Namespace: c.Namespace, Name: c.Spec.LeaseName})
	})
	s.leases, s.candidates = leaselisters.NewLeaseLister(leases.Objects()), candidatelisters.NewLeaseCandidateLister(candidates.Objects())
	var working sync.WaitGroup
	working.Go(func() { leases.Run(ctx) })
	working.Go(func() { candidates.Run(ctx) })
	if cache.WaitForCacheSync(ctx.Done(), leases.HasListed, candidates.HasListed) {
		working.Go(func() {
			for s.next(ctx) {
			}
		})
		s.collectUntil(ctx)
	}
	s.queue.ShutDown()
	working.Wait()
}

// next processes one Lease from the queue; it is false when there are no more.
func (s *shift) next(ctx context.Context) bool {
	key, shutdown := s.queue.Get()
	if shutdown {
		return false
	}
	defer s.queue.Done(key)
	recheck, err := s.process(ctx, key)
	what := "coordinating Lease " + key.String()
	switch {
	case err == nil:
		s.troubles.Over(what)
		s.queue.Forget(key)
		if recheck > 0 {
			s.queue.AddAfter(key, recheck)
		}
	case ctx.Err() != nil:
		s.troubles.Over(what)
	default:
		s.troubles.Failed(what, err)
		if !apierrors.IsConflict(err) {
			s.options.Logger.Error(err, "Cannot coordinate, trying again", "lease", key)
			s.options.Failed(ctx, err)
		}
		s.queue.AddRateLimited(key)
	}
	return true
}

// process does what is to be done about one Lease now.
func (s *shift) process(ctx context.Context, key types.NamespacedName) (recheck time.Duration, err error) {
	lease, err := s.leases.Leases(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		lease, err = nil, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading Lease %s: %w", key, err)
	}
	all, err := s.candidates.LeaseCandidates(key.Namespace).List(labels.Everything())
	if err != nil {
		return 0, fmt.Errorf("listing candidates: %w", err)
	}
	view := election.View{Lease: lease}
	for _, c := range all {
		if c.Spec.LeaseName == key.Name {
			view.Candidates = append(view.Candidates, c)
		}
	}
	if len(view.Candidates) == 0 {
		s.memory.forget(key.String())
		return 0, nil
	}
	version, number := "", ""
	if lease != nil {
		number = lease.ResourceVersion
		version = string(lease.UID) + "/" + number
	}
	now := s.options.Clock.Now()
	known := s.memory.of(key.String(), version, now)
	if known.behind(number, now) {
		return toldWithin, nil
	}
	view.Since = known.since
	decision := s.options.Decide(view, known.round, now)
	known.round = decision.Round
	for _, c := range decision.Ping {
		if err := s.ping(ctx, c, &known.round); err != nil {
			return 0, err
		}
	}
	if decision.Write == nil {
		return decision.Recheck, nil
	}
	written, err := s.write(ctx, key, *decision.Write)
	if err != nil {
		return 0, err
	}
	known.round = election.Round{}
	known.wrote, known.until = written, now.Add(toldWithin)
	return decision.Recheck, nil
}

// ping asks a candidate whether it is there.
func (s *shift) ping(ctx context.Context, c *election.Candidate, round *election.Round) error {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	if err := s.leading(); err != nil {
		return err
	}
	asked := c.DeepCopy()
	ping := election.PingTime(c, s.options.Clock.Now())
	asked.Spec.PingTime = &ping
	if asked.Annotations == nil {
		asked.Annotations = map[string]string{}
	}
	asked.Annotations[election.Coordinator] = s.options.Identity
	_, err := s.client.CoordinationV1beta1().LeaseCandidates(c.Namespace).Update(ctx, asked, metav1.UpdateOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil // it has withdrawn
	case err != nil:
		return fmt.Errorf("pinging candidate %s: %w", c.Name, err)
	}
	if round.Asked == nil {
		round.Asked = map[types.UID]metav1.MicroTime{}
	}
	round.Asked[c.UID] = ping
	return nil
}

// write changes a Lease, on condition that it has not changed since the decision. It
// returns the new resourceVersion, or an empty one if another client changed it first.
func (s *shift) write(ctx context.Context, key types.NamespacedName, w election.Write) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	by := election.Author{Coordinator: s.options.Identity, Namespace: key.Namespace, Lease: key.Name}
	after := s.options.Apply(w, by, s.options.Clock.Now())
	if err := s.leading(); err != nil {
		return "", err
	}
	leases := s.client.CoordinationV1().Leases(key.Namespace)
	var written *coordinationv1.Lease
	var err error
	if w.On == nil {
		written, err = leases.Create(ctx, after, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return "", nil // the watch reports that change
		}
	} else {
		written, err = leases.Update(ctx, after, metav1.UpdateOptions{})
	}
	if err != nil {
		return "", fmt.Errorf("writing Lease %s: %w", key, err)
	}
	s.options.Logger.Info("Wrote a Lease", "lease", key, "elected", w.Holder, "preferred", w.Preferred, "strategy", w.Strategy)
	return written.ResourceVersion, nil
}

// collectUntil removes dead candidates now and then until the context ends.
//
// KEP-4355 has candidates expire; what has expired for good is taken away, so that
// processes that have gone do not pile up.
func (s *shift) collectUntil(ctx context.Context) {
	ticker := s.options.Clock.NewTicker(collectInterval)
	defer ticker.Stop()
	for {
		s.collect(ctx)
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

func (s *shift) collect(ctx context.Context) {
	all, err := s.candidates.List(labels.Everything())
	if err != nil {
		s.options.Logger.Error(err, "Cannot list dead candidates")
		return
	}
	for _, c := range all {
		if !election.Dead(c, s.options.Clock.Now()) || s.leading() != nil {
			continue
		}
		request, cancel := context.WithTimeout(ctx, requestBound)
		err := s.client.CoordinationV1beta1().LeaseCandidates(c.Namespace).Delete(request, c.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion},
		})
		cancel()
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			s.options.Logger.Error(err, "Cannot remove a dead candidate, trying again", "candidate", c.Name)
		}
	}
}
