package candidacy

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/impl/election"
)

// hideFor has the candidate withdrawn as soon as an API server takes it, and declared again
// only some time after.
func (c *candidate) hideFor(d time.Duration) {
	if d == 0 {
		return
	}
	c.mu.Lock()
	c.hide = d
	c.mu.Unlock()
	c.wake()
}

// hides is for how long the candidate is not to be declared yet.
func (c *candidate) hides(ctx context.Context, known *election.Candidate) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hide > 0 {
		if known != nil {
			err := c.options.Client.CoordinationV1beta1().LeaseCandidates(c.options.Namespace).Delete(ctx, c.options.Name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return 0, err
			}
		}
		c.last, c.hidden, c.hide = nil, c.options.Clock.Now().Add(c.hide), 0
	}
	if c.hidden.IsZero() {
		return 0, nil
	}
	return max(c.hidden.Sub(c.options.Clock.Now()), 0), nil
}
