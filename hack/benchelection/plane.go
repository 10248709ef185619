package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// plane is a control plane under measurement.
type plane struct {
	column
	*bench.Running
	seen    *observer
	configs map[string]*rest.Config
	clients map[string]kubernetes.Interface
	random  *rand.Rand
}

// up starts a column's control plane and observes it from then on. down removes it.
func up(ctx context.Context, c column, seed uint64) (p *plane, down func(), err error) {
	p = &plane{
		column: c, seen: newObserver(c.coordinated), configs: map[string]*rest.Config{}, clients: map[string]kubernetes.Interface{},
		random: rand.New(rand.NewPCG(seed, 0)),
	}
	running, remove, err := c.Up(ctx, p.seen.processChanged)
	if err != nil {
		return nil, nil, err
	}
	p.Running = running
	watching, end := context.WithCancel(ctx)
	down = func() {
		end()
		remove()
	}
	for _, member := range p.members() {
		if err := p.connect(watching, member); err != nil {
			down()
			return nil, nil, err
		}
	}
	return p, down, nil
}

func (p *plane) connect(ctx context.Context, member string) error {
	config, err := p.ClientConfig(member, false)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of %s: %w", member, err)
	}
	p.configs[member], p.clients[member] = config, client
	return p.seen.watch(ctx, client)
}

func (p *plane) members() []string {
	var all []string
	for _, m := range p.Members() {
		all = append(all, m.Name)
	}
	return all
}

// memberOf is the member that a holder or a candidate of a component is of; empty if it
// is none's.
func (p *plane) memberOf(name string) string {
	host, _, found := strings.Cut(name, "_")
	for _, m := range p.Members() {
		if found && m.Host == host {
			return m.Name
		}
	}
	return ""
}

// leading is the controller manager that leads, if it is one that runs and has renewed
// a few times. The caller holds the observer's lock.
func (p *plane) leading() (member string, r *reign) {
	r = p.seen.tales[managerLease].now()
	if r == nil || r.renewals < steadyRenewals {
		return "", nil
	}
	member = p.memberOf(r.holder)
	started, runs := p.seen.started[member+"/"+string(cluster.ControllerManager)]
	if !runs || !r.named.After(started) {
		return "", nil // it is named still, and has ended
	}
	return member, r
}

// atRandom waits until the control plane is whole, and on to a random moment of its leader's
// renewals.
func (p *plane) atRandom(ctx context.Context) (member string, leader reign, err error) {
	if _, _, err := p.whole(ctx); err != nil {
		return "", reign{}, err
	}
	if err := p.pause(ctx, p.random); err != nil {
		return "", reign{}, err
	}
	return p.whole(ctx)
}

// whole waits until all controller managers run, are candidates where there are any,
// and one of them leads, whom it gives.
func (p *plane) whole(ctx context.Context) (member string, leader reign, err error) {
	err = p.seen.until(ctx, "all controller managers were there, and one of them led", wholeBound, func() bool {
		for _, m := range p.members() {
			if !p.stands(m, cluster.ControllerManager, managerLease) {
				return false
			}
		}
		var r *reign
		if member, r = p.leading(); r == nil {
			return false
		}
		leader = *r
		return true
	})
	return member, leader, err
}

// stands is whether a component of a member runs, and is a candidate for a Lease where
// there are candidates. The caller holds the observer's lock.
func (p *plane) stands(member string, component cluster.Component, lease string) bool {
	started, runs := p.seen.started[member+"/"+string(component)]
	if !runs || !p.coordinated {
		return runs
	}
	for name, c := range p.seen.candidates {
		if c.lease == lease && p.memberOf(name) == member && c.seen.After(started) {
			return true
		}
	}
	return false
}

// pause lets a random part of the pause between two renewals pass, so that what comes
// then comes at any moment between them.
func (p *plane) pause(ctx context.Context, random *rand.Rand) error {
	return sleep(ctx, time.Duration(random.Float64()*float64(p.timing.retry)))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tidy removes candidates of controller managers that have ended. Kubernetes keeps
// them for half an hour, so that each repetition would begin with more of them.
func (p *plane) tidy(ctx context.Context) error {
	p.seen.mu.Lock()
	var dead []string
	for name, c := range p.seen.candidates {
		started, runs := p.seen.started[p.memberOf(name)+"/"+string(cluster.ControllerManager)]
		if c.lease == managerLease && (!runs || c.seen.Before(started)) {
			dead = append(dead, name)
		}
	}
	p.seen.mu.Unlock()
	return p.dismiss(ctx, p.Member, dead...)
}

// dismiss deletes candidates through a member.
func (p *plane) dismiss(ctx context.Context, through string, names ...string) error {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	for _, name := range names {
		err := p.clients[through].CoordinationV1beta1().LeaseCandidates(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete the candidate %s: %w", name, err)
		}
	}
	return nil
}

// erase deletes all candidates for a Lease, and then that, through a member, and waits
// until that is seen.
func (p *plane) erase(ctx context.Context, through, lease string) error {
	p.seen.mu.Lock()
	var standing []string
	for name, c := range p.seen.candidates {
		if c.lease == lease {
			standing = append(standing, name)
		}
	}
	p.seen.mu.Unlock()
	if err := p.dismiss(ctx, through, standing...); err != nil {
		return err
	}
	request, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	err := p.clients[through].CoordinationV1().Leases(namespace).Delete(request, lease, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Lease %s: %w", lease, err)
	}
	return p.seen.until(ctx, "the Lease "+lease+" and its candidates were gone", wholeBound, func() bool {
		for _, c := range p.seen.candidates {
			if c.lease == lease {
				return false
			}
		}
		return p.seen.tales[lease].now() == nil
	})
}

// each does something for all members at once.
func each(members []string, do func(member string) error) error {
	errs := make(chan error, len(members))
	for _, member := range members {
		go func() { errs <- do(member) }()
	}
	var all []error
	for range members {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
