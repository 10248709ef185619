package storageversion

import (
	"context"
	"net/http"
	"strconv"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	internalclient "k8s.io/client-go/kubernetes/typed/apiserverinternal/v1alpha1"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// The bounds of planted defects.
const (
	// lingering is how long SV-14-barrier-lingers keeps the barrier shut.
	lingering = 2 * time.Second
	// readyEarlyDelay is how long SV-14-ready-early puts off registration.
	readyEarlyDelay = 2 * time.Second
	// takenBack is for how long SV-01-takes-one-back leaves an object without its entry.
	takenBack = 2 * time.Second
	// blindWindow is how long SV-09-blind-write waits between read and write.
	blindWindow = 500 * time.Millisecond
	// quietWindow is for how long SV-10-waits-for-quiet wants an object unchanged.
	quietWindow = 3 * time.Second
	// touchInterval is how often SV-23-touches rewrites its objects.
	touchInterval = 5 * time.Second
)

// plant replaces decisions by those of the defects. Only the files of this package that begin
// with "planted" know both.
func (m *Manager) plant() {
	if len(m.config.Defects) == 0 {
		return
	}
	m.plantReports()
	m.plantMoments()
	m.plantWrites()
	m.plantBarrier()
	m.plantLeases()
	d := m.config.Defects
	m.decide.withdraws = !d.Has(defects.SV25StandsByItsWord)      // defect: SV-25-stands-by-its-word
	m.decide.marksSilent = d.Has(defects.SV25PassesForRegistered) // defect: SV-25-passes-for-registered
}

// plantMoments has a server do something at a moment at which it goes on.
func (m *Manager) plantMoments() {
	d := m.config.Defects
	if d.Has(defects.SV11LateJoin) {
		m.decide.joins = func(ctx context.Context, client kubernetes.Interface) {
			if !m.everRegistered() {
				m.registerAll(ctx, client) // defect: SV-11-late-join
			}
		}
	}
	m.decide.registers = func(ctx context.Context, client kubernetes.Interface) {
		if d.Has(defects.SV14ReadyEarly) {
			m.wait(ctx, readyEarlyDelay) // defect: SV-14-ready-early
		}
		if d.Has(defects.SV21VanishingEntry) {
			_ = m.reportAll(ctx, client, m.names(), vanish) // defect: SV-21-vanishing-entry
		}
	}
	if d.Has(defects.SV01TakesOneBack) {
		m.decide.reported = func(ctx context.Context, client kubernetes.Interface) {
			_ = m.reportAll(ctx, client, []string{Name("", "secrets")}, vanish) // defect: SV-01-takes-one-back
		}
		m.decide.maintains = func(ctx context.Context) { m.wait(ctx, takenBack) }
	}
	if d.Has(defects.SV23Touches) {
		m.decide.verifyEvery = touchInterval
		m.decide.verified = func(ctx context.Context, client kubernetes.Interface) {
			for _, name := range m.names() {
				m.touch(ctx, client, name) // defect: SV-23-touches
			}
		}
	}
}

// plantWrites has a server write in another way.
func (m *Manager) plantWrites() {
	d, soundly, started := m.config.Defects, m.decide.update, m.config.Clock.Now()
	m.decide.checks = !d.Has(defects.SV09BlindWrite)
	m.decide.update = func(ctx context.Context, svs internalclient.StorageVersionInterface, sv *apiserverinternalv1alpha1.StorageVersion) error {
		Touch(&sv.Status, m.config.Clock.Now(), d)
		if !d.Has(defects.SV09BlindWrite) {
			return soundly(ctx, svs, sv)
		}
		m.wait(ctx, blindWindow)
		err := soundly(ctx, svs, sv)
		if apierrors.IsConflict(err) { // defect: SV-09-blind-write
			if newest, getErr := svs.Get(ctx, sv.Name, metav1.GetOptions{}); getErr == nil {
				sv.UID, sv.ResourceVersion = newest.UID, newest.ResourceVersion
				err = soundly(ctx, svs, sv)
			}
		}
		return err
	}
	m.decide.overtaken = func(ctx context.Context, client kubernetes.Interface, name string) {
		if d.Has(defects.SV10WaitsForQuiet) {
			m.awaitQuiet(ctx, client, name) // defect: SV-10-waits-for-quiet
		}
		if delay := d.Delay(defects.SV10RegistersLate); delay > 0 {
			m.wait(ctx, started.Add(delay).Sub(m.config.Clock.Now())) // defect: SV-10-registers-late
		}
	}
}

// Touch moves the transition time of a status that is about to be written, if the defect that does
// so is planted.
func Touch(status *apiserverinternalv1alpha1.StorageVersionStatus, now time.Time, d defects.Set) {
	for i := range status.Conditions {
		if ours(status.Conditions[i]) && d.Has(defects.SV07RestlessTransition) {
			status.Conditions[i].LastTransitionTime = laterThan(status.Conditions[i].LastTransitionTime, now) // defect: SV-07-restless-transition
		}
	}
}

// plantBarrier has the barrier let other requests pass, or answer in another way.
func (m *Manager) plantBarrier() {
	d := m.config.Defects
	m.decide.passes = func(a attributes, serverID string) bool { return plantedPasses(a, serverID, d) }
	if d.Has(defects.SV14BarrierLingers) {
		m.decide.opens = func(s standing, now time.Time) error {
			if now.Sub(s.since) < lingering {
				return errNotRegistered // defect: SV-14-barrier-lingers
			}
			return nil
		}
	}
	if d.Has(defects.SV12WrongRefusal) {
		m.decide.refuses = func(status *apierrors.StatusError) {
			status.ErrStatus.Code, status.ErrStatus.Reason = http.StatusForbidden, metav1.StatusReasonForbidden // defect: SV-12-wrong-refusal
		}
	}
	if d.Has(defects.SV14ReadyEarly) {
		m.decide.ready = func(error) error { return nil } // defect: SV-14-ready-early
	}
	if d.Has(defects.SV12BarrierOpen) {
		m.decide.persists = func(error) error { return nil } // defect: SV-12-barrier-open
	}
}

// plantLeases has identity Leases that have expired stay.
func (m *Manager) plantLeases() {
	d := m.config.Defects
	if d.Has(defects.SV16KeepsLeases) {
		m.decide.expired = func(*coordinationv1.Lease, time.Time) bool { return false } // defect: SV-16-keeps-leases
	}
	if delay := d.Delay(defects.SV16ExpiresLate); delay > 0 {
		m.decide.expired = func(lease *coordinationv1.Lease, now time.Time) bool {
			return expired(lease, durationOf(lease)+delay, now) // defect: SV-16-expires-late
		}
	}
}

// plantedPasses is whether a request passes the barrier with the defects.
func plantedPasses(a attributes, serverID string, d defects.Set) bool {
	reads := a.verb == "get" || a.verb == "list" || a.verb == "watch"
	review := a.group == authenticationv1.GroupName || a.group == authorizationv1.GroupName
	switch pass := passes(a, serverID); {
	case !a.resourceRequest || a.loopback && pass:
		return pass
	case reads:
		return !d.Has(defects.SV13HoldsReads) // defect: SV-13-holds-reads
	case !a.persisted && review:
		return !d.Has(defects.SV13HoldsReviews) // defect: SV-13-holds-reviews
	case !a.persisted:
		return !d.Has(defects.SV13HoldsCustom) // defect: SV-13-holds-custom
	default:
		return pass || d.Has(defects.SV12BarrierOpen) // defect: SV-12-barrier-open
	}
}

func (m *Manager) everRegistered() bool {
	select {
	case <-m.place.first():
		return true
	default:
		return false
	}
}

// awaitQuiet waits until an object has not changed for a while, for a planted
// defect.
func (m *Manager) awaitQuiet(ctx context.Context, client kubernetes.Interface, name string) {
	for before := ""; ; {
		sv, err := client.InternalV1alpha1().StorageVersions().Get(ctx, name, metav1.GetOptions{})
		if err == nil && sv.ResourceVersion == before || !m.wait(ctx, quietWindow) {
			return
		}
		if err == nil {
			before = sv.ResourceVersion
		}
	}
}

// touch rewrites an object without changing what it reports.
func (m *Manager) touch(ctx context.Context, client kubernetes.Interface, name string) {
	svs := client.InternalV1alpha1().StorageVersions()
	if sv, err := svs.Get(ctx, name, metav1.GetOptions{}); err == nil {
		sv = sv.DeepCopy()
		metav1.SetMetaDataAnnotation(&sv.ObjectMeta, "reference.evenkeel.dev/touched", strconv.FormatInt(m.config.Clock.Now().UnixNano(), 10)) // defect: SV-23-touches
		_, err = svs.Update(ctx, sv, metav1.UpdateOptions{})
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			m.config.Logger.Error(err, "Cannot rewrite a storage version, as planted", "storageVersion", name)
		}
	}
}
