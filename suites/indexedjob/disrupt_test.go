package indexedjob

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// disruptEvery is the mean time between two disruptions of Pods.
	disruptEvery = 300 * time.Millisecond
	// ofEachKind is how many Pods are disrupted in each way.
	ofEachKind = 5
)

// ways in which a Pod ends before its process does.
var ways = []struct {
	name string
	end  func(ctx context.Context, k *kubelet, p *pod) error
}{
	{"deleted", func(ctx context.Context, k *kubelet, p *pod) error {
		return k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, *metav1.NewPreconditionDeleteOptions(string(p.UID)))
	}},
	{"killed", func(ctx context.Context, k *kubelet, p *pod) error {
		options := metav1.NewPreconditionDeleteOptions(string(p.UID))
		options.GracePeriodSeconds = ptr.To(int64(0))
		return k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, *options)
	}},
	{"evicted", evict},
}

// evict ends a Pod as a drain of its node does.
func evict(ctx context.Context, k *kubelet, p *pod) error {
	return k.client.CoreV1().Pods(p.Namespace).EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace}, DeleteOptions: metav1.NewPreconditionDeleteOptions(string(p.UID)),
	})
}

// disrupt ends Pods at random moments, so many in each way, each of another index and none of
// those that are spared. It returns how many of each it has come to.
func (k *kubelet) disrupt(ctx context.Context, random *rand.Rand, spared []int) map[string]int {
	done := map[string]int{}
	for n := 0; n < ofEachKind*len(ways); {
		timer := time.NewTimer(time.Duration(random.Int64N(2 * int64(disruptEvery))))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return done
		}
		alive := k.alive(spared)
		if len(alive) == 0 {
			continue
		}
		p, way := alive[random.IntN(len(alive))], ways[n%len(ways)]
		if err := way.end(ctx, k, p); err != nil {
			if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
				k.t.Logf("the Pod %s could not be %s, and another one will be: %v", p.Name, way.name, err)
			}
			continue
		}
		spared = append(spared, p.index)
		done[way.name]++
		n++
	}
	return done
}

// alive are the Pods that have not ended, but for those of the indexes that are spared.
func (k *kubelet) alive(spared []int) []*pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*pod
	for _, p := range k.pods {
		select {
		case <-p.ended:
		default:
			if !slices.Contains(spared, p.index) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b *pod) int { return a.index - b.index })
	return all
}

// evictFirst evicts the first Pods of an index, more of them than may fail; nth is the Pod that
// waits for the store. It waits no longer when its process has ended: with an answer it could come
// to a verdict before the kubelet hears that it is evicted.
func (k *kubelet) evictFirst(index, nth int) {
	if nth > mayFail+1 {
		return
	}
	p := k.podsOf(index)[nth-1]
	ctx, cancel := context.WithTimeout(k.t.Context(), tellBound)
	defer cancel()
	if err := untilTold(ctx, func() error { return evict(ctx, k, p) }); err != nil {
		k.t.Errorf("evict the Pod %s: %v", p.Name, err)
		return
	}
	select {
	case <-p.ended:
	case <-k.t.Context().Done():
	}
}

// loseFirst has Kubernetes give up the machine of the first Pod of an index.
func (k *kubelet) loseFirst(index, nth int) {
	if nth > 1 {
		return
	}
	p := k.podsOf(index)[0]
	<-p.running
	if err := k.lose(k.t.Context(), p); err != nil {
		k.t.Errorf("lose the machine of the Pod %s: %v", p.Name, err)
	}
}

// lose stops the process of a Pod and has Kubernetes give its machine up, as the collector of
// Pods does after the node was removed.
func (k *kubelet) lose(ctx context.Context, p *pod) error {
	if err := p.freeze(ctx); err != nil {
		return err
	}
	p.lost.Store(true)
	k.tell(p, func(object *corev1.Pod) {
		object.Status.Phase = corev1.PodFailed
		object.Status.Conditions = append(object.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC", LastTransitionTime: metav1.Now()})
	})
	options := metav1.NewPreconditionDeleteOptions(string(p.UID))
	options.GracePeriodSeconds = ptr.To(int64(0))
	ctx, cancel := context.WithTimeout(ctx, tellBound)
	defer cancel()
	err := untilTold(ctx, func() error { return k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, *options) })
	if apierrors.IsNotFound(err) {
		return nil // tell has removed it
	}
	return err
}
