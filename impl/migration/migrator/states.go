package migrator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// states remembers the State of each resource, by name of its StorageVersion.
// What a watch shows is taken in at once, since the next revision may be another;
// it is written down by the loop.
type states struct {
	client    kubernetes.Interface
	namespace string
	logger    klog.Logger

	mu    sync.Mutex
	known map[string]*remembered
	// next is where the next flush begins, if the last one had no time for all.
	next string
}

type remembered struct {
	state migration.State
	// watched: the present process has seen the object before.
	watched bool
	// dirty: the state differs from what is written down.
	dirty bool
	// gone: the object was deleted, and with it the resource.
	gone bool
	// written is the ConfigMap, nil if there is none.
	written *corev1.ConfigMap
}

func newStates(client kubernetes.Interface, namespace string, logger klog.Logger) *states {
	return &states{client: client, namespace: namespace, logger: logger, known: map[string]*remembered{}}
}

// load reads what a former leader wrote down.
func (s *states) load(ctx context.Context) error {
	list, err := s.client.CoreV1().ConfigMaps(s.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: migration.RecordLabel + "=" + migration.StateRecord})
	if err != nil {
		return fmt.Errorf("reading storage states: %w", err)
	}
	prefix := migration.StateName("")
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list.Items {
		record := &list.Items[i]
		state, err := migration.DecodeState(record.Data[migration.RecordKey])
		if err != nil {
			// Nothing is remembered then: any version may be stored.
			s.logger.Error(err, "Discarding an unreadable storage state", "configMap", record.Name)
		}
		if len(record.Name) > len(prefix) {
			s.known[record.Name[len(prefix):]] = &remembered{state: state, written: record}
		}
	}
	return nil
}

// observe takes in what an object says.
func (s *states) observe(sv *apiserverinternalv1alpha1.StorageVersion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of(sv.Name)
	s.set(r, r.state.Observe(sv, r.watched))
	r.watched, r.gone = true, false
}

// forget a resource that is hosted no more.
func (s *states) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.known[name]; ok {
		*r = remembered{gone: true, dirty: true, written: r.written}
	}
}

func (s *states) of(name string) *remembered {
	r, ok := s.known[name]
	if !ok {
		r = &remembered{}
		s.known[name] = r
	}
	return r
}

func (s *states) set(r *remembered, state migration.State) {
	if r.state.Encode() != state.Encode() {
		r.state, r.dirty = state, true
	}
}

// read is the state of a resource.
func (s *states) read(name string) migration.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.known[name]; ok {
		return r.state
	}
	return migration.State{}
}

// change edits the state of a resource and gives the result.
func (s *states) change(name string, edit func(migration.State) migration.State) migration.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of(name)
	s.set(r, edit(r.state))
	return r.state
}

// names are those of all resources that are remembered, sorted.
func (s *states) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name, r := range s.known {
		if !r.gone {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// flush writes down what has changed, until there was enough time, and reports whether
// something is left. What fails is tried again at a later flush, and does not keep the others
// from being written: the next flush begins where this one ended.
func (s *states) flush(ctx context.Context, enough func() bool) (left bool) {
	s.mu.Lock()
	var names []string
	for name, r := range s.known {
		if r.dirty {
			names = append(names, name)
		}
	}
	s.mu.Unlock()
	slices.Sort(names)
	first, _ := slices.BinarySearch(names, s.next)
	s.next = ""
	for _, name := range slices.Concat(names[first:], names[:first]) {
		if enough() {
			s.next = name
			return true
		}
		if err := s.write(ctx, name); err != nil && ctx.Err() == nil {
			s.logger.Error(err, "Cannot write a storage state, trying again", "storageVersion", name)
		}
	}
	return false
}

func (s *states) write(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	s.mu.Lock()
	r := s.of(name)
	state, gone, written := r.state, r.gone, r.written
	s.mu.Unlock()
	records := s.client.CoreV1().ConfigMaps(s.namespace)
	var err error
	switch {
	case gone && written != nil:
		err = records.Delete(ctx, written.Name, metav1.DeleteOptions{})
		written = nil
	case gone:
	case written == nil:
		written, err = records.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: migration.StateName(name), Labels: map[string]string{migration.RecordLabel: migration.StateRecord}},
			Data:       map[string]string{migration.RecordKey: state.Encode()},
		}, metav1.CreateOptions{})
	default:
		next := written.DeepCopy()
		next.Data = map[string]string{migration.RecordKey: state.Encode()}
		written, err = records.Update(ctx, next, metav1.UpdateOptions{})
	}
	if apierrors.IsNotFound(err) && gone {
		err = nil
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return s.reconcile(ctx, name, err)
	}
	if err != nil {
		return fmt.Errorf("writing the storage state of %s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.of(name)
	r.written = written
	switch {
	case r.gone && gone:
		delete(s.known, name)
	case !r.gone && !gone:
		r.dirty = r.state.Encode() != state.Encode()
	}
	return nil
}

// reconcile merges the state that another client has written. The next flush writes it.
func (s *states) reconcile(ctx context.Context, name string, cause error) error {
	record, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(ctx, migration.StateName(name), metav1.GetOptions{})
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of(name)
	switch {
	case apierrors.IsNotFound(err):
		r.written = nil
	case err != nil:
		return fmt.Errorf("reading the storage state of %s: %w", name, err)
	default:
		r.written = record
		if other, err := migration.DecodeState(record.Data[migration.RecordKey]); err == nil {
			r.state = r.state.Merge(other)
		}
	}
	r.dirty = true
	return fmt.Errorf("another client has changed the storage state of %s: %w", name, cause)
}

// stopped records that a migration failed or was aborted. A resource that no API
// server has announced has no state to record.
func (s *states) stopped(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.known[name]; ok && !r.gone {
		s.set(r, r.state.Stopped(now))
	}
}
