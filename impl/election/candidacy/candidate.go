package candidacy

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/follow"
)

// candidate keeps the LeaseCandidate of an instance.
type candidate struct {
	options Options
	follows *follow.Follower[*election.Candidate]
	changed chan struct{}

	mu   sync.Mutex
	last *election.Candidate
}

func newCandidate(o Options) *candidate {
	c := &candidate{options: o, changed: make(chan struct{}, 1)}
	c.follows = follow.New(o.Client, o.Client.CoordinationV1beta1().LeaseCandidates(o.Namespace), follow.Named(o.Name), func(_, _ *election.Candidate) { c.wake() })
	return c
}

// keep maintains the LeaseCandidate until the context ends, and then deletes it, so
// that the coordinator does not wait for answers of an instance that has gone.
//
// KEP-4355: create the LeaseCandidate when ready to lead, renew it every 300
// seconds, and answer when asked.
func (c *candidate) keep(ctx context.Context) {
	var following sync.WaitGroup
	following.Go(func() { c.follows.Run(ctx) })
	defer following.Wait()

	timer := c.options.Clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			c.withdraw()
			return
		case <-timer.C():
		case <-c.changed:
		}
		wait, err := c.declare(ctx)
		if err != nil && ctx.Err() == nil {
			c.options.Logger.Error(err, "The candidate is not up to date, trying again")
			wait = answerRetry
		}
		timer.Reset(wait)
	}
}

func (c *candidate) wake() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// declare creates or renews the candidate if that is due, and returns in how much time
// it is due again.
func (c *candidate) declare(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	candidates := c.options.Client.CoordinationV1beta1().LeaseCandidates(c.options.Namespace)
	known, wanted, now := c.known(), c.wanted(), c.options.Clock.Now()
	if known != nil && known.Spec.LeaseName != wanted.LeaseName {
		return 0, fmt.Errorf("the candidate %s stands for the Lease %s, which cannot be changed; use another name for %s", c.options.Name, known.Spec.LeaseName, wanted.LeaseName)
	}
	if due := c.options.Due(known, wanted, now); due > 0 {
		return due, nil
	}
	if known == nil {
		created, err := candidates.Create(ctx, c.fresh(), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			// Made by a request that seemed to have failed.
			if created, err = candidates.Get(ctx, c.options.Name, metav1.GetOptions{}); err == nil {
				c.remember(created)
			}
			return answerRetry, err
		}
		if err != nil {
			return 0, fmt.Errorf("creating the candidate %s: %w", c.options.Name, err)
		}
		c.remember(created)
		return election.CandidateRenewal, nil
	}
	next := election.Declared(known, wanted)
	next.Spec.RenewTime = ptr.To(election.RenewTime(known, now))
	updated, err := candidates.Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		if updated, err = candidates.Get(ctx, c.options.Name, metav1.GetOptions{}); err == nil {
			c.remember(updated)
			c.wake()
			return answerRetry, nil
		}
	}
	if apierrors.IsNotFound(err) {
		c.remember(nil)
		c.wake()
		return answerRetry, nil
	}
	if err != nil {
		return 0, fmt.Errorf("renewing the candidate %s: %w", c.options.Name, err)
	}
	c.remember(updated)
	return c.options.Due(updated, wanted, now), nil
}

// known returns the newest known version of the candidate: the object of the watch may
// be older than the answer to a request.
func (c *candidate) known() *election.Candidate {
	seen := c.follows.Get(c.options.Namespace, c.options.Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case seen == nil && c.last != nil && c.follows.HasListed() && c.seenBefore():
		c.last = nil // another client has deleted it
	case seen != nil && (c.last == nil || later(seen.ResourceVersion, c.last.ResourceVersion)):
		c.last = seen
	}
	return c.last
}

// seenBefore is whether the watch has come past the version that is remembered, so
// that it would show the candidate if it was there.
func (c *candidate) seenBefore() bool {
	return !later(c.last.ResourceVersion, c.follows.Version())
}

func (c *candidate) remember(now *election.Candidate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = now
}

// wanted is what the instance declares.
func (c *candidate) wanted() election.CandidateSpec {
	return election.CandidateSpec{
		LeaseName: c.options.Lease, Strategy: c.options.Strategy,
		BinaryVersion: c.options.BinaryVersion, EmulationVersion: c.options.EmulationVersion,
	}
}

func (c *candidate) fresh() *election.Candidate {
	made := &election.Candidate{ObjectMeta: metav1.ObjectMeta{Namespace: c.options.Namespace, Name: c.options.Name}, Spec: c.wanted()}
	made.Spec.RenewTime = ptr.To(election.RenewTime(made, c.options.Clock.Now()))
	return made
}

// withdraw takes the candidate away. If it cannot, it is only waited for in vain.
func (c *candidate) withdraw() {
	ctx, cancel := context.WithTimeout(context.Background(), requestBound/4)
	defer cancel()
	err := c.options.Client.CoordinationV1beta1().LeaseCandidates(c.options.Namespace).Delete(ctx, c.options.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		c.options.Logger.Error(err, "Cannot delete the candidate")
	}
}
