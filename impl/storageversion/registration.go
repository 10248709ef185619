package storageversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// errAbsent: the server is not among the participants, so it must not publish.
var errAbsent = errors.New("this server is not among the participants")

// occasion is why a report is made.
type occasion int

const (
	// boot: the server is registering, or hosts a new resource.
	boot occasion = iota
	// upkeep: the server is registered.
	upkeep
	// vanish: the server takes its report back although it hosts the resource.
	vanish
	// withdraw: the server does not host the resource.
	withdraw
)

// register publishes everything and opens the barrier. It is false if the
// context ended before that.
func (m *Manager) register(ctx context.Context, client kubernetes.Interface, member *membership) bool {
	start := m.config.Clock.Now()
	m.decide.registers(ctx, client)
	if m.config.Silent {
		m.withdrawAll(ctx, client)
	} else {
		m.registerAll(ctx, client)
	}
	m.decide.reported(ctx, client)
	marked := m.until(ctx, marking, func() (bool, error) {
		err := m.mark(ctx, member)
		if err == nil {
			err = m.place.registered(m.config.Clock.Now(), m.config.LeaseDuration)
		}
		if err != nil {
			m.renew.put(m.config.ServerID)
		}
		return err == nil, err
	})
	if marked {
		m.metrics.registered.Set(1)
		m.config.Logger.Info(m.settled(), "server", m.config.ServerID, "took", m.config.Clock.Since(start))
	}
	return marked
}

// registerAll publishes all reports and withdraws those of an earlier release of the
// server that are not true any more. Then it checks all of them again: another client
// may have damaged the first one before the last one was published. It ends when a
// check finds nothing to do.
//
// By KEP-2339 the server is not ready before that, so there is no other bound; what
// fails is told by the readiness check. Custom resources do not wait for the barrier,
// and it does not wait for them: those that fail are left to maintenance.
func (m *Manager) registerAll(ctx context.Context, client kubernetes.Interface) {
	if err := m.reportAll(ctx, client, m.names(), boot); err != nil && ctx.Err() == nil {
		m.config.Logger.Error(err, "Some storage versions are not published yet", "server", m.config.ServerID)
	}
	if !m.decide.checks {
		return
	}
	m.until(ctx, inspecting, func() (bool, error) {
		wrong, foreign, err := m.inspect(ctx, client)
		if err != nil {
			return false, err
		}
		custom, builtIn := m.split(wrong)
		if len(builtIn)+len(foreign) == 0 {
			for _, name := range custom {
				m.repair.put(name)
			}
			return true, nil
		}
		return false, errors.Join(m.reportAll(ctx, client, wrong, boot), m.reportAll(ctx, client, foreign, withdraw))
	})
}

// until tries until it is done or the context ends, with growing pauses after failures. It is
// false if the context ended.
func (m *Manager) until(ctx context.Context, what string, try func() (done bool, err error)) bool {
	defer m.troubles.Over(what)
	for failed := 0; ctx.Err() == nil; {
		done, err := try()
		switch {
		case done:
			return true
		case err == nil:
			m.troubles.Over(what)
			failed = 0
		case ctx.Err() == nil:
			failed++
			m.troubles.Failed(what, err)
			m.config.Logger.Error(err, "Failed and trying again", "server", m.config.ServerID, "what", what)
			m.wait(ctx, backoff(failed, ErrorRetry, ErrorRetryMax, m.random.float()))
		}
	}
	return false
}

// split tells the names of custom resources from those of built-in ones.
func (m *Manager) split(names []string) (custom, builtIn []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		if m.custom[name] {
			custom = append(custom, name)
		} else {
			builtIn = append(builtIn, name)
		}
	}
	return custom, builtIn
}

// inspect lists the objects that lack a report of ours, and those that have one
// which is not ours to make.
func (m *Manager) inspect(ctx context.Context, client kubernetes.Interface) (wrong, foreign []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	list, err := client.InternalV1alpha1().StorageVersions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("listing storage versions: %w", err)
	}
	found := map[string]bool{}
	for i := range list.Items {
		sv := &list.Items[i]
		found[sv.Name] = true
		want, ours := m.want(sv.Name)
		switch {
		case ours && damaged(&sv.Status, m.config.ServerID, want.entries):
			wrong = append(wrong, sv.Name)
		case !ours && len(ownEntries(&sv.Status, m.config.ServerID)) > 0:
			foreign = append(foreign, sv.Name)
		}
	}
	for _, name := range m.names() {
		if !found[name] {
			wrong = append(wrong, name)
		}
	}
	return wrong, foreign, nil
}

// reportAll reports in the named objects, some at a time, and retries those that fail for
// ReportPatience. Each object has its next attempt after all others have had theirs, so that
// one that cannot be written delays no other. The error tells those that are left.
//
// Conflicts cannot continue forever: each one means that the write of another client
// succeeded. Among the servers every success removes a competitor, because a server
// whose report is in place does not write again; and the collector writes only in
// response to others. An adversary that keeps writing would have to hit, every time,
// the few milliseconds between our read and our write. The pauses between attempts do
// not widen that gap, and their jitter avoids a common rhythm.
func (m *Manager) reportAll(ctx context.Context, client kubernetes.Interface, names []string, why occasion) error {
	began := m.config.Clock.Now()
	for round := 1; ; round++ {
		failed, contended := m.attemptAll(ctx, client, names, why)
		if len(failed) == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
		pause := backoff(round, ErrorRetry, ErrorRetryMax, m.random.float())
		if contended {
			pause = backoff(round, ConflictRetry, ConflictRetryMax, m.random.float())
		}
		if m.config.Clock.Since(began)+pause > ReportPatience {
			return errors.Join(slices.Collect(maps.Values(failed))...)
		}
		if !m.wait(ctx, pause) {
			return ctx.Err()
		}
		names = slices.Sorted(maps.Keys(failed))
	}
}

// attemptAll is one attempt at each of the named objects. It returns the errors of those that
// failed, and whether one of them met another writer.
func (m *Manager) attemptAll(ctx context.Context, client kubernetes.Interface, names []string, why occasion) (failed map[string]error, contended bool) {
	work := make(chan string)
	var mu sync.Mutex
	failed = map[string]error{}
	var workers sync.WaitGroup
	for range min(RegistrationWorkers, len(names)) {
		workers.Go(func() {
			for name := range work {
				err := m.attempt(ctx, client, name, why)
				if err == nil {
					continue
				}
				mu.Lock()
				failed[name] = err
				contended = contended || overtaken(err)
				mu.Unlock()
			}
		})
	}
	for _, name := range names {
		work <- name
	}
	close(work)
	workers.Wait()
	return failed, contended
}

// attempt is one attempt at a report, with what is counted and shown of it.
func (m *Manager) attempt(ctx context.Context, client kubernetes.Interface, name string, why occasion) error {
	err := m.tryReport(ctx, client, name, why)
	what := "publishing storage version " + name
	switch {
	case err == nil:
		m.metrics.registrations.Inc()
		m.troubles.Over(what)
		return nil
	case ctx.Err() != nil:
		m.troubles.Over(what)
		return ctx.Err()
	case overtaken(err):
		m.metrics.conflicts.Inc()
		m.decide.overtaken(ctx, client, name)
	case errors.Is(err, errAbsent):
		m.renew.put(m.config.ServerID)
	}
	if failed := m.troubles.Failed(what, err); !overtaken(err) {
		m.config.Logger.Error(err, "Cannot publish a storage version, trying again", "server", m.config.ServerID, "storageVersion", name, "failed", failed)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// overtaken is whether another client changed, created or deleted the object in between.
func overtaken(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

// tryReport is one attempt at a report.
//
// KEP-2339: get the object or create it, get the participants, change the object
// locally, and update it with the resourceVersion of the first step. The object
// comes first so that its entries are older than the list they are held against.
func (m *Manager) tryReport(ctx context.Context, client kubernetes.Interface, name string, why occasion) error {
	defer m.locks.lock(name)()
	// What the server wants may have changed while this report waited.
	r, ours := m.want(name)
	switch {
	case why == withdraw && ours, why != withdraw && !ours:
		return nil
	case why == withdraw:
		r = report{name: name}
	}
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	term := m.announced.present()
	if why != vanish {
		m.announced.withhold(r)
	}
	err := m.write(ctx, client, r, why)
	if err == nil && why != vanish {
		err = m.announced.note(r, term)
	}
	return err
}

// write adds a report to an object, or removes it.
func (m *Manager) write(ctx context.Context, client kubernetes.Interface, r report, why occasion) error {
	svs := client.InternalV1alpha1().StorageVersions()
	sv, err := svs.Get(ctx, r.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if why == vanish || why == withdraw {
			return nil
		}
		sv, err = svs.Create(ctx, &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: r.name}}, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("getting storage version %s: %w", r.name, err)
	}
	participants, err := ReadParticipants(ctx, client.CoordinationV1().Leases(LeaseNamespace), sv.Status.StorageVersions)
	if err != nil {
		return err
	}
	status, err := m.merged(&sv.Status, r, participants, why)
	if err != nil || sameStatus(&sv.Status, &status) {
		return err
	}
	sv = sv.DeepCopy()
	sv.Status = status
	err = m.decide.update(ctx, svs, sv)
	if err != nil {
		return fmt.Errorf("updating storage version %s: %w", r.name, err)
	}
	return nil
}

// merged is what an object should say, given the participants read after it.
func (m *Manager) merged(old *apiserverinternalv1alpha1.StorageVersionStatus, r report, participants Participants, why occasion) (apiserverinternalv1alpha1.StorageVersionStatus, error) {
	id := m.config.ServerID
	own := r.entries
	if why == vanish || why == withdraw {
		own = nil
	}
	old, participants = m.decide.sees(old, own, participants, why)
	if !participants.Has(id) {
		return apiserverinternalv1alpha1.StorageVersionStatus{}, errAbsent
	}
	// The server knows more about itself than its Lease shows: it does not host a
	// resource that it withdraws, and it stores no resource before it has reported
	// it. A silent server may store anything.
	participants[id] = why == withdraw && !m.config.Silent
	return m.decide.merge(old, id, own, participants, m.config.Clock.Now()), nil
}
