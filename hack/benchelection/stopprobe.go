package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	// probeInterval is the pause between two deletions, and so the resolution at which
	// controller managers of Kubernetes are seen to act. They write no faster than 20 times a
	// second.
	probeInterval = 100 * time.Millisecond
	// probedNamespaces are how many namespaces it goes round: the publisher needs a moment
	// to create an object again.
	probedNamespaces = 10
	// authority is what the acting controller manager creates in each namespace.
	authority = "kube-root-ca.crt"
)

func probedNamespace(n int) string { return fmt.Sprintf("bench-stops-%d", n%probedNamespaces) }

// probe gives the leading controller manager of Kubernetes something to do all the time, by
// which it is seen who acts, until end is called: it deletes a ConfigMap that the acting one
// creates again. Those of the reference tell by themselves that they act.
func (p *plane) probe(ctx context.Context) (end func(), err error) {
	if p.Topology.Spec.Distribution == reference.Name {
		return func() {}, nil
	}
	for n := range probedNamespaces {
		_, err := p.clients[p.Member].CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: probedNamespace(n)}}, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("create a namespace for the probe: %w", err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	for _, client := range p.clients {
		if err := p.watchAuthority(ctx, client); err != nil {
			cancel()
			return nil, err
		}
	}
	go p.disturb(ctx)
	return cancel, nil
}

// disturb deletes the ConfigMap in one namespace after the other until the context ends.
func (p *plane) disturb(ctx context.Context) {
	for n := 0; sleep(ctx, probeInterval) == nil; n++ {
		// One that fails shows in no figure: nothing is created for it.
		_ = p.clients[p.Member].CoreV1().ConfigMaps(probedNamespace(n)).Delete(ctx, authority, metav1.DeleteOptions{})
	}
}

// watchAuthority sees who creates the ConfigMap, through an API server.
func (p *plane) watchAuthority(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = "metadata.name=" + authority
	}))
	informer := factory.Core().V1().ConfigMaps().Informer()
	see := func(obj any) { p.seen.takeAuthority(obj, time.Now()) }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, obj any) { see(obj) }}); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("no ConfigMaps were listed before the end: %w", context.Cause(ctx))
	}
	return nil
}

// takeAuthority takes note of who created the ConfigMap. The local provider gives each
// member's programs names of their own, by which field managers name the member's host.
func (l *observer) takeAuthority(obj any, now time.Time) {
	o, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	version, newer := l.newer("authority "+o.Namespace, o.ResourceVersion)
	if !newer {
		return
	}
	for _, entry := range o.ManagedFields {
		if _, host, ok := history.ParseProgram(entry.Manager); ok {
			l.actions = append(l.actions, action{at: now, revision: version, lease: managerLease, holder: host})
			l.tell()
		}
	}
}
