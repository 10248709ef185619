package storageversion

import (
	"net/http"
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
)

// BarrierMessage begins the message of every refusal of the barrier.
const BarrierMessage = "storage version registration is not complete"

// Barrier wraps a handler so that it stores nothing before the server's storage
// versions are published, nor while the server is fenced. All resources are
// released together. It needs the request's info and user in its context, so it
// belongs behind authentication and authorization, in front of everything that
// hosts resources, including aggregation.
func (m *Manager) Barrier(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if reason := m.shut(); reason != nil && !m.decide.passes(m.attributesOf(req), m.config.ServerID) {
			m.metrics.refusals.Inc()
			m.refuse(w, req, reason)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// shut says why the barrier is shut, or nil if it is open.
func (m *Manager) shut() error {
	standing, now := m.place.read(), m.config.Clock.Now()
	if err := standing.check(now, m.config.LeaseDuration); err != nil {
		return m.why(err)
	}
	return m.decide.opens(standing, now)
}

// attributesOf gathers what passes wants to know. A request of which nothing is
// known counts as a guarded write.
func (m *Manager) attributesOf(req *http.Request) attributes {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok {
		return attributes{resourceRequest: true, persisted: true}
	}
	loopback := isLoopback(req)
	return attributes{
		resourceRequest: info.IsResourceRequest,
		verb:            info.Verb,
		group:           info.APIGroup,
		resource:        info.Resource,
		namespace:       info.Namespace,
		name:            info.Name,
		persisted:       info.IsResourceRequest && m.config.Classifier.IsBuiltInPersisted(info.APIGroup, info.Resource),
		loopback:        loopback,
		own:             loopback && req.UserAgent() == m.UserAgent(),
	}
}

// isLoopback reports whether the server sent the request to itself: no other client
// can authenticate as this user.
func isLoopback(req *http.Request) bool {
	u, ok := request.UserFrom(req.Context())
	return ok && u.GetName() == user.APIServerUser && slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup)
}

// refuse answers that the request should be sent again a little later.
//
// KEP-2339: other requests are answered with 503 Service Unavailable.
func (m *Manager) refuse(w http.ResponseWriter, req *http.Request, reason error) {
	status := apierrors.NewServiceUnavailable(BarrierMessage + ": " + m.explained(reason).Error())
	status.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: RetryAfterSeconds}
	m.decide.refuses(status)
	responsewriters.ErrorNegotiated(status, scheme.Codecs, schema.GroupVersion{Version: "v1"}, w, req)
}

// HealthName is the name of the readiness check.
const HealthName = "storage-version-registration"

type healthCheck struct{ m *Manager }

// Name implements healthz.HealthChecker.
func (healthCheck) Name() string { return HealthName }

// Check implements healthz.HealthChecker with the predicate of the barrier.
//
// KEP-2339: the server is not ready until its storage versions are up to date
// and the filter is off.
func (h healthCheck) Check(*http.Request) error {
	return h.m.explained(h.m.decide.ready(h.m.standing()))
}

// MayPersist says why this server may not store an object of a resource at this
// moment, or nil if it may. It is cheap. The barrier asks when a request arrives;
// a storage layer that asks again as it encodes an object also catches requests
// that were under way while the process stood still for longer than its Lease
// lasts. What is written in order to join and to register is exempt.
func (m *Manager) MayPersist(group, resource string) error {
	if group == apiserverinternalv1alpha1.GroupName && resource == "storageversions" ||
		group == coordinationv1.GroupName && resource == "leases" {
		return nil
	}
	return m.decide.persists(m.standing())
}
