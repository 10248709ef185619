package indexedjob

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	// nodeName is the node that the stand-in is the kubelet of.
	nodeName = "stand-in"
	// syncEvery is how often the stand-in lists its Pods.
	syncEvery = 100 * time.Millisecond
	// tellBound is how long an API server may take to take the status of a Pod.
	tellBound = time.Minute
)

// kubelet stands in for the kubelet of a node that has room for all Pods. It plays the command
// of a Pod as a process.
type kubelet struct {
	t      *testing.T
	client kubernetes.Interface
	dir    string
	// lines are the names of all lines, by index, and program is the digest of this binary.
	lines   []string
	program string

	mu   sync.Mutex
	pods map[types.UID]*pod
	// of are the Pods of each index, in the order in which they began.
	of map[int][]*pod
}

// startKubelet makes the node and plays its Pods until the test ends.
func startKubelet(t *testing.T, client kubernetes.Interface, lines []string, program string) *kubelet {
	t.Helper()
	k := &kubelet{t: t, client: client, dir: t.TempDir(), lines: lines, program: program, pods: map[types.UID]*pod{}, of: map[int][]*pod{}}
	k.join()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	all.Go(func() {
		look := time.NewTicker(syncEvery)
		defer look.Stop()
		for {
			k.sync(ctx, &all)
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		all.Wait()
	})
	return k
}

// join makes the node, ready and without the taint that the API server gives a new one.
func (k *kubelet) join() {
	k.t.Helper()
	nodes := k.client.CoreV1().Nodes()
	node, err := nodes.Create(k.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}, metav1.CreateOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	node.Spec.Taints = nil
	if node, err = nodes.Update(k.t.Context(), node, metav1.UpdateOptions{}); err != nil {
		k.t.Fatal(err)
	}
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10k"), corev1.ResourceMemory: resource.MustParse("100Ti"), corev1.ResourcePods: resource.MustParse("10k")}
	node.Status.Capacity, node.Status.Allocatable = room, room
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "StandIn"}}
	if _, err := nodes.UpdateStatus(k.t.Context(), node, metav1.UpdateOptions{}); err != nil {
		k.t.Fatal(err)
	}
}

// sync starts new Pods and ends those that are being deleted.
func (k *kubelet) sync(ctx context.Context, all *sync.WaitGroup) {
	list, err := k.client.CoreV1().Pods(corev1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", nodeName).String(), ResourceVersion: "0"})
	if err != nil {
		if ctx.Err() == nil {
			k.t.Errorf("list the Pods: %v", err)
		}
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range list.Items {
		object := &list.Items[i]
		if known := k.pods[object.UID]; known != nil {
			if object.DeletionTimestamp != nil {
				known.endWithin(grace(object))
			}
			continue
		}
		if terminal(object) {
			continue
		}
		p, err := k.admit(object)
		if err != nil {
			k.t.Errorf("the Pod %s: %v", object.Name, err)
			continue
		}
		all.Go(func() { k.play(ctx, p) })
	}
}

func terminal(object *corev1.Pod) bool {
	return object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed
}

func grace(object *corev1.Pod) time.Duration {
	if object.DeletionGracePeriodSeconds == nil {
		return 0
	}
	return time.Duration(*object.DeletionGracePeriodSeconds) * time.Second
}

// admit enters a Pod that is new.
func (k *kubelet) admit(object *corev1.Pod) (*pod, error) {
	index, err := strconv.Atoi(object.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return nil, fmt.Errorf("it has no index: %w", err)
	}
	p := &pod{Pod: object, index: index, nth: len(k.of[index]) + 1, ended: make(chan struct{}), stop: make(chan time.Duration, 1), running: make(chan struct{})}
	k.pods[object.UID] = p
	k.of[index] = append(k.of[index], p)
	return p, nil
}

// play plays a Pod to its end, and tells the API server how it has ended.
func (k *kubelet) play(ctx context.Context, p *pod) {
	defer close(p.ended)
	status, err := k.run(ctx, p)
	if err != nil {
		k.t.Errorf("the Pod %s: %v", p.Name, err)
		return
	}
	p.status = status
	if ctx.Err() == nil && !p.isLost() {
		k.tell(p, func(object *corev1.Pod) {
			object.Status.Phase = corev1.PodSucceeded
			if status != 0 {
				object.Status.Phase = corev1.PodFailed
			}
			object.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: object.Spec.Containers[0].Name, Image: object.Spec.Containers[0].Image,
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(status), StartedAt: metav1.Now(), FinishedAt: metav1.Now()}}, //nolint:gosec // G115: a status is a byte.
			}}
		})
	}
}

// tell changes the status of a Pod, and removes one that has ended and is being deleted.
func (k *kubelet) tell(p *pod, change func(*corev1.Pod)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.t.Context()), tellBound)
	defer cancel()
	pods := k.client.CoreV1().Pods(p.Namespace)
	err := untilTold(ctx, func() error {
		object, err := pods.Get(ctx, p.Name, metav1.GetOptions{})
		if err != nil || object.UID != p.UID {
			return err
		}
		change(object)
		object, err = pods.UpdateStatus(ctx, object, metav1.UpdateOptions{})
		if err != nil || object.DeletionTimestamp == nil || !terminal(object) {
			return err
		}
		return pods.Delete(ctx, p.Name, *metav1.NewPreconditionDeleteOptions(string(p.UID)))
	})
	if err != nil && !apierrors.IsNotFound(err) {
		k.t.Errorf("tell how the Pod %s is: %v", p.Name, err)
	}
}

// untilTold tries again what an API server does not take for now, as a kubelet does.
func untilTold(ctx context.Context, tell func() error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, syncEvery, true, func(context.Context) (bool, error) {
		last = tell()
		return last == nil || apierrors.IsNotFound(last), nil
	})
	return errors.Join(last, err)
}

// podsOf are the Pods of an index, in the order in which they began.
func (k *kubelet) podsOf(index int) []*pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]*pod(nil), k.of[index]...)
}

// total counts all Pods that were started.
func (k *kubelet) total() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.pods)
}
