package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

const (
	// namespace is where components elect.
	namespace = metav1.NamespaceSystem
	// managerLease is by which the controller managers elect, schedulerLease by which
	// schedulers do, and coordinatorLease by which the coordinators do.
	managerLease     = "kube-controller-manager"
	schedulerLease   = "kube-scheduler"
	coordinatorLease = "leader-election-controller"
)

// standing is a candidate that was seen.
type standing struct {
	lease string
	// seen is when it was seen first.
	seen time.Time
}

// action is one action of a leader that leaves evidence of acting.
type action struct {
	at time.Time
	// revision is etcd's of the write.
	revision      uint64
	lease, holder string
}

// observer watches elections through the API servers of all members at once. It uses the
// event that arrives first, and tolerates that an API server is down.
type observer struct {
	coordinated bool

	mu sync.Mutex
	// latest is the newest version seen of each object, by its kind and name.
	latest     map[string]uint64
	tales      map[string]*tale
	candidates map[string]standing
	actions    []action
	// started is when the process of a component was started last that runs, by member
	// and component.
	started map[string]time.Time
	// ended is when the process of a component ended last, by member and component.
	ended map[string]time.Time
	// moved is when something was seen last that is part of an election.
	moved time.Time
	// changed is closed when anything is seen, and replaced.
	changed chan struct{}
}

func newObserver(coordinated bool) *observer {
	return &observer{
		coordinated: coordinated, latest: map[string]uint64{}, tales: map[string]*tale{}, candidates: map[string]standing{},
		started: map[string]time.Time{}, ended: map[string]time.Time{}, moved: time.Now(), changed: make(chan struct{}),
	}
}

// watch sees through an API server until the context ends.
func (l *observer) watch(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	all := []cache.SharedIndexInformer{factory.Coordination().V1().Leases().Informer(), factory.Core().V1().ConfigMaps().Informer()}
	if l.coordinated {
		all = append(all, factory.Coordination().V1beta1().LeaseCandidates().Informer())
	}
	for _, informer := range all {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { l.take(obj, false) },
			UpdateFunc: func(_, obj any) { l.take(obj, false) },
			DeleteFunc: func(obj any) {
				if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = last.Obj
				}
				l.take(obj, true)
			},
		}); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("no %s were listed before the end: %w", kind, context.Cause(ctx))
		}
	}
	return nil
}

// processChanged is the Observer that the cluster must be made with.
func (l *observer) processChanged(c cluster.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.tell()
	key := c.Member + "/" + string(c.Component)
	switch c.What {
	case history.ProcessStarted:
		l.started[key] = time.Now()
	case history.ProcessExited:
		delete(l.started, key)
		l.ended[key] = time.Now()
	}
}

// tell wakes all that wait; l.mu is held.
func (l *observer) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// take takes note of an object as it is now, or of its end.
func (l *observer) take(obj any, gone bool) {
	now := time.Now()
	object, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	version, newer := l.newer(fmt.Sprintf("%T %s", obj, object.GetName()), object.GetResourceVersion())
	if !newer {
		return
	}
	defer l.tell()
	switch o := obj.(type) {
	case *coordinationv1.Lease:
		if o.Labels["apiserver.kubernetes.io/identity"] == "" {
			l.takeLease(now, o, gone)
		}
	case *coordinationv1beta1.LeaseCandidate:
		l.takeCandidate(now, o, gone)
	case *corev1.ConfigMap:
		var acted history.LeaderAction
		if raw := o.Annotations[observe.LeaderActionAnnotation]; !gone && json.Unmarshal([]byte(raw), &acted) == nil {
			l.actions = append(l.actions, action{now, version, strings.TrimPrefix(acted.Lease, namespace+"/"), acted.Holder})
		}
	}
}

// newer is the version of an object, and whether it has not been seen; l.mu is held.
func (l *observer) newer(key, version string) (uint64, bool) {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil || n <= l.latest[key] {
		return 0, false
	}
	l.latest[key] = n
	return n, true
}

func (l *observer) takeLease(now time.Time, o *coordinationv1.Lease, gone bool) {
	t := l.tales[o.Name]
	if t == nil {
		// The coordinators elect one of themselves without a coordinator.
		t = &tale{coordinated: l.coordinated && o.Name != coordinatorLease}
		l.tales[o.Name] = t
	}
	before := t.now()
	m := moment{at: now}
	if !gone {
		m.holder = ptr.Deref(o.Spec.HolderIdentity, "")
		m.renewed = ptr.Deref(o.Spec.RenewTime, metav1.MicroTime{}).Time
		m.lasts = time.Duration(ptr.Deref(o.Spec.LeaseDurationSeconds, 0)) * time.Second
	}
	t.take(m)
	if t.now() != before || ptr.Deref(o.Spec.PreferredHolder, "") != "" {
		l.moved = now
	}
}

func (l *observer) takeCandidate(now time.Time, o *coordinationv1beta1.LeaseCandidate, gone bool) {
	if gone {
		delete(l.candidates, o.Name)
		l.moved = now
		return
	}
	if _, known := l.candidates[o.Name]; !known {
		l.candidates[o.Name] = standing{o.Spec.LeaseName, now}
		l.moved = now
	}
	if ping := o.Spec.PingTime; ping != nil && (o.Spec.RenewTime == nil || o.Spec.RenewTime.Before(ping)) {
		l.moved = now
	}
}

// until waits until a condition holds, which is asked with l.mu held. It tells in what
// time that has not come about.
func (l *observer) until(ctx context.Context, what string, bound time.Duration, holds func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, late{what, bound})
	defer cancel()
	for {
		l.mu.Lock()
		done, changed := holds(), l.changed
		l.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// late is what did not come about in its time.
type late struct {
	what  string
	bound time.Duration
}

func (l late) Error() string { return fmt.Sprintf("%s not within %s", l.what, l.bound) }

// follow gives a copy of the first reign of a Lease that began after a moment and is
// not of a holder, as soon as it has.
func (l *observer) follow(ctx context.Context, lease string, after time.Time, not string) (reign, error) {
	var found reign
	err := l.until(ctx, "another instance led by "+lease, electionBound, func() bool {
		r := l.tales[lease].next(after, not)
		if r != nil {
			found = *r
		}
		return r != nil
	})
	return found, err
}

// steady waits until a leader by a Lease has renewed a few times, and gives a copy of
// what is known of it.
func (l *observer) steady(ctx context.Context, lease string) (reign, error) {
	var found reign
	err := l.until(ctx, "a leader by "+lease+" was steady", electionBound, func() bool {
		r := l.tales[lease].now()
		if r == nil || r.renewals < steadyRenewals {
			return false
		}
		found = *r
		return true
	})
	return found, err
}

// last is what is known by now of the last reign of a holder.
func (l *observer) last(lease, holder string) (reign, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tales[lease]
	if t == nil {
		return reign{}, false
	}
	for i := len(t.reigns) - 1; i >= 0; i-- {
		if t.reigns[i].holder == holder {
			return *t.reigns[i], true
		}
	}
	return reign{}, false
}

// stood waits until a candidate is seen, and tells since when it was.
func (l *observer) stood(ctx context.Context, name string) (time.Time, error) {
	var seen time.Time
	err := l.until(ctx, "the candidate "+name+" was seen", electionBound, func() bool {
		c, ok := l.candidates[name]
		seen = c.seen
		return ok
	})
	return seen, err
}

// acted returns when an instance other than the given one was first seen to act as the leader
// after a moment. ok is false while none was.
func (l *observer) acted(lease string, after time.Time, not string) (at time.Time, ok bool) {
	for _, a := range l.actions {
		if a.lease == lease && a.holder != not && a.at.After(after) {
			return a.at, true
		}
	}
	return time.Time{}, false
}
