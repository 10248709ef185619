package storageversion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/follow"
)

// How a membership is found to be over.
var (
	errLeaseGone  = errors.New("the identity Lease is gone")
	errSuperseded = errors.New("another process has taken the identity Lease over")
)

// membership is the identity Lease of this process.
//
// Two processes with one server ID: the one that started last takes the Lease
// over at once, because the other one is, as a rule, a predecessor that crashed,
// and waiting for its Lease to expire would keep the server down. If the other
// one lives it finds its Lease taken, logs an error, closes its barrier, and
// stands aside until the new holder's Lease has expired or is gone. So the two
// do not take turns.
type membership struct {
	manager  *Manager
	identity identity
	leases   coordinationv1client.LeaseInterface
	client   kubernetes.Interface

	// joinedBefore: this process has held the Lease, so that another holder is
	// no predecessor.
	joinedBefore bool
	rival        rival

	// mu serializes writes of the Lease.
	mu    sync.Mutex
	lease *coordinationv1.Lease
}

func newMembership(m *Manager, client kubernetes.Interface) *membership {
	return &membership{
		manager:  m,
		client:   client,
		leases:   client.CoordinationV1().Leases(LeaseNamespace),
		identity: identity{serverID: m.config.ServerID, hostname: m.config.Hostname, holder: m.holder, peerAddress: m.config.PeerAddress, duration: m.config.LeaseDuration},
	}
}

// What is shown of attempts that fail.
const (
	joining        = "joining the participating servers"
	renewing       = "renewing the identity Lease"
	marking        = "marking the identity Lease as registered"
	inspecting     = "checking the published entries"
	removingLeases = "removing expired identity Leases"
)

// join takes part, trying until it succeeds or the context ends. It has no other bound: a
// server that does not take part stores nothing, and an end of the process would not help it.
func (s *membership) join(ctx context.Context) error {
	m := s.manager
	for failed := 1; ; failed++ {
		start := m.config.Clock.Now()
		err := s.tryJoin(ctx, start)
		if err == nil {
			s.joinedBefore = true
			// Until now collectors could take this server for one that had left.
			m.announced.begin()
			m.place.write(standing{}.joined(start))
			m.troubles.Over(joining)
			m.config.Logger.Info("Joined the participating servers", "server", s.identity.serverID, "holder", s.identity.holder)
			return nil
		}
		m.troubles.Failed(joining, err)
		m.config.Logger.Error(err, "Cannot join the participating servers", "server", s.identity.serverID)
		pause := backoff(failed, ConflictRetry, JoinRetry, m.random.float())
		if errors.Is(err, errSuperseded) {
			pause = m.config.RenewInterval
		}
		if !m.wait(ctx, pause) {
			return ctx.Err()
		}
	}
}

func (s *membership) tryJoin(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, err := s.leases.Get(ctx, s.identity.serverID, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		lease = &coordinationv1.Lease{}
		s.identity.claim(lease, now)
		s.lease, err = s.leases.Create(ctx, lease, metav1.CreateOptions{})
		return err
	case err != nil:
		return err
	}
	if !s.identity.holds(lease) && lease.Spec.HolderIdentity != nil {
		if err := s.mayReplace(lease, now); err != nil {
			return err
		}
	}
	lease = lease.DeepCopy()
	s.identity.claim(lease, now)
	s.lease, err = s.leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

// mayReplace says why another holder is left in place, if so.
func (s *membership) mayReplace(lease *coordinationv1.Lease, now time.Time) error {
	holder := *lease.Spec.HolderIdentity
	if !s.joinedBefore {
		if expired(lease, 0, now) {
			return nil
		}
		s.manager.config.Logger.Info("Taking the identity Lease over from a holder that may still run; each server needs an ID of its own",
			"server", s.identity.serverID, "holder", holder, "renewed", lease.Spec.RenewTime)
		return nil
	}
	s.rival = s.rival.observe(lease, now)
	if !s.rival.gone(now) {
		return fmt.Errorf("%w: %s holds it; each server needs an ID of its own", errSuperseded, holder)
	}
	return nil
}

// keep renews until the membership is lost or the context ends, and says why.
func (s *membership) keep(ctx context.Context) error {
	m := s.manager
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer m.troubles.Over(renewing)
	s.watch(ctx)
	pause := m.config.RenewInterval
	for {
		timer := m.config.Clock.NewTimer(pause)
		select {
		case <-timer.C():
		case <-m.renew.ready:
			m.renew.take()
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
		start := m.config.Clock.Now()
		if m.place.read().lapsed(start, m.config.LeaseDuration) {
			// Joining again also voids the mark of registration; renewing would not.
			return errLapsed
		}
		err := s.write(ctx, func(lease *coordinationv1.Lease) { s.identity.refresh(lease, start) })
		now := m.config.Clock.Now()
		switch {
		case err == nil:
			if err := m.place.renewed(start, now, m.config.LeaseDuration); err != nil {
				return err
			}
			m.troubles.Over(renewing)
			pause = m.config.RenewInterval
		case errors.Is(err, errLeaseGone), errors.Is(err, errSuperseded):
			return err
		case m.place.read().lapsed(now, m.config.LeaseDuration):
			return fmt.Errorf("%w: %w", errLapsed, err)
		case ctx.Err() == nil:
			m.troubles.Failed(renewing, err)
			m.config.Logger.Error(err, "Cannot renew the identity Lease", "server", s.identity.serverID)
			pause = min(m.config.RenewInterval, RenewRetry)
		}
	}
}

// write changes the Lease as it was last known, or as it is if that was out of
// date. It fails with errLeaseGone or errSuperseded if the Lease is not ours.
func (s *membership) write(ctx context.Context, change func(*coordinationv1.Lease)) error {
	// A renewal that hangs must not use up the time in which to try again.
	ctx, cancel := context.WithTimeout(ctx, min(RequestTimeout, max(s.manager.config.LeaseDuration/3, time.Second)))
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	lease := s.lease.DeepCopy()
	change(lease)
	written, err := s.leases.Update(ctx, lease, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		if lease, err = s.leases.Get(ctx, s.identity.serverID, metav1.GetOptions{}); err == nil {
			if err := s.judge(lease); err != nil {
				return err
			}
			lease = lease.DeepCopy()
			change(lease)
			written, err = s.leases.Update(ctx, lease, metav1.UpdateOptions{})
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return errLeaseGone
	case err != nil:
		return err
	}
	s.lease = written
	return nil
}

// judge says why a Lease is not the one that we joined with, if so. One that was
// deleted and created again under our name is not: our entries may have been
// removed between the two.
func (s *membership) judge(lease *coordinationv1.Lease) error {
	switch {
	case lease.UID != s.lease.UID:
		return errLeaseGone
	case !s.identity.holds(lease):
		return fmt.Errorf("%w: %s", errSuperseded, ptr.Deref(lease.Spec.HolderIdentity, "no holder"))
	}
	return nil
}

// mark notes in the Lease that everything is published.
func (s *membership) mark(ctx context.Context) error {
	m := s.manager
	m.mu.Lock()
	reports := make(map[string]report, len(m.reports))
	for name, r := range m.reports {
		reports[name] = r
	}
	m.mu.Unlock()
	start := m.config.Clock.Now()
	return s.write(ctx, func(lease *coordinationv1.Lease) {
		s.identity.refresh(lease, start)
		s.identity.mark(lease, reports)
	})
}

// watch triggers a renewal as soon as it observes that the Lease was deleted, replaced
// or taken over, so that the server notices the loss at once and not at the next
// interval. The renewal decides; the watch may be late or repeat an event.
func (s *membership) watch(ctx context.Context) {
	uid := func() types.UID {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.lease.UID
	}()
	leases := follow.New(s.client, s.client.CoordinationV1().Leases(LeaseNamespace), follow.Named(s.identity.serverID), func(_, lease *coordinationv1.Lease) {
		if lease == nil || lease.UID != uid || !s.identity.holds(lease) {
			s.manager.renew.put(s.identity.serverID)
		}
	})
	go leases.Run(ctx)
}
