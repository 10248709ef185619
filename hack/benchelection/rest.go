package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// writes are those of elections a minute, as etcd counts them, while there are
// restCandidates candidates and nothing happens. They exclude the identity Leases of API
// servers, which are not for leader election.
type writes struct {
	// leaders are writes to the Leases of leaders, candidates to LeaseCandidates, and
	// coordinator to the Lease of the coordinators.
	leaders, candidates, coordinator float64
	// quiet is whether nothing of an election had been seen for quietFor when the count
	// began.
	quiet bool
}

func (w writes) all() float64 { return w.leaders + w.candidates + w.coordinator }

// What writes are to.
const (
	toLeader = iota
	toCandidate
	toCoordinator
	toOther
)

const (
	leasePrefix     = "/registry/leases/"
	candidatePrefix = "/registry/leasecandidates/"
)

// writeTo tells what a key in etcd is to elections. servers are the identities of the
// API servers.
func writeTo(key string, servers []string) int {
	if strings.HasPrefix(key, candidatePrefix) {
		return toCandidate
	}
	lease, found := strings.CutPrefix(key, leasePrefix+namespace+"/")
	switch {
	case !found, slices.Contains(servers, lease):
		return toOther
	case lease == coordinatorLease:
		return toCoordinator
	}
	return toLeader
}

// atRest counts writes while nothing happens.
func (p *plane) atRest(ctx context.Context, lasts time.Duration) (w writes, err error) {
	groups, err := p.fill(ctx)
	defer func() {
		for _, c := range groups {
			c.crash()
		}
	}()
	if err != nil {
		return w, err
	}
	if w.quiet, err = p.quiet(ctx); err != nil {
		return w, err
	}
	bench.Progress("%s: writes at rest, for %s", p.Title, lasts)
	if err := p.count(ctx, lasts, &w); err != nil {
		return w, err
	}
	for _, c := range groups {
		if err := c.disband(ctx, p.Member); err != nil {
			return w, err
		}
	}
	return w, nil
}

// fill adds candidates until there are as many as there should be, restGroup to each
// Lease.
func (p *plane) fill(ctx context.Context) ([]*crew, error) {
	p.seen.mu.Lock()
	led := 0
	for name, t := range p.seen.tales {
		if name != coordinatorLease && t.now() != nil {
			led++
		}
	}
	p.seen.mu.Unlock()
	if led*restGroup > restCandidates {
		return nil, fmt.Errorf("the components stand for %d Leases, and there are to be no more than %d candidates", led, restCandidates)
	}
	var groups []*crew
	for n := range restCandidates/restGroup - led {
		c, _, err := p.muster(ctx, fmt.Sprintf("bench-rest-%d", n), restGroup, p.members())
		if err != nil {
			return groups, err
		}
		groups = append(groups, c)
		if _, err := p.seen.steady(ctx, c.lease); err != nil {
			return groups, err
		}
	}
	if !p.coordinated {
		return groups, nil
	}
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	if got := len(p.seen.candidates); got != restCandidates {
		return groups, fmt.Errorf("there are %d candidates, and not %d", got, restCandidates)
	}
	return groups, nil
}

// quiet waits until nothing of an election has been seen for a while.
func (p *plane) quiet(ctx context.Context) (bool, error) {
	until := time.Now().Add(quietBound)
	for {
		p.seen.mu.Lock()
		left := quietFor - time.Since(p.seen.moved)
		p.seen.mu.Unlock()
		switch {
		case left <= 0:
			return true, nil
		case time.Now().After(until):
			return false, nil
		}
		if err := sleep(ctx, left); err != nil {
			return false, err
		}
	}
}

// count counts writes in etcd.
func (p *plane) count(ctx context.Context, lasts time.Duration, w *writes) error {
	config, err := p.EtcdConfig(p.Member)
	if err != nil {
		return err
	}
	etcd, err := clientv3.New(config)
	if err != nil {
		return fmt.Errorf("reach etcd: %w", err)
	}
	defer etcd.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Both sorts of keys have the beginning in common.
	watch := etcd.Watch(clientv3.WithRequireLeader(ctx), strings.TrimSuffix(leasePrefix, "s/"), clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	created, ok := <-watch
	if !ok || created.Err() != nil {
		return fmt.Errorf("watch etcd: %w", created.Err())
	}
	var servers []string
	for _, m := range p.Members() {
		servers = append(servers, m.ServerID)
	}
	counts := map[int]int{}
	began := time.Now()
	over := time.NewTimer(lasts)
	defer over.Stop()
	for {
		select {
		case response, ok := <-watch:
			if !ok || response.Err() != nil {
				return fmt.Errorf("the watch of etcd ended: %w", response.Err())
			}
			for _, event := range response.Events {
				counts[writeTo(string(event.Kv.Key), servers)]++
			}
		case <-over.C:
			minutes := time.Since(began).Minutes()
			w.leaders, w.candidates = float64(counts[toLeader])/minutes, float64(counts[toCandidate])/minutes
			w.coordinator = float64(counts[toCoordinator]) / minutes
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stage has components begin one member after the other, as they are expected to be:
// they began all at once, and Kubernetes does not order candidates of one second.
func (p *plane) stage(ctx context.Context) error {
	if _, err := p.restage(ctx, cluster.ControllerManager, managerLease); err != nil {
		return err
	}
	if !slices.Contains(p.Members()[0].Components, cluster.Scheduler) {
		return nil
	}
	_, err := p.restage(ctx, cluster.Scheduler, schedulerLease)
	return err
}
