package storageversion

import (
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// Classifier classifies the resource of a request.
type Classifier interface {
	// IsBuiltInPersisted reports whether this process itself stores objects of
	// the resource. It is false for reviews, which no server stores, for custom
	// resources and for resources of aggregated servers.
	IsBuiltInPersisted(group, resource string) bool
}

// attributes are what the barrier knows of a request.
type attributes struct {
	// resource: the request is for a resource rather than for a path.
	resourceRequest bool
	verb            string
	group, resource string
	namespace, name string
	// persisted is the Classifier's word. A subresource follows its parent.
	persisted bool
	// loopback: the request was sent by this process to itself.
	loopback bool
	// own: in particular, it was sent by the Manager.
	own bool
}

// passes reports whether a request may pass while registration is not complete.
//
// KEP-2339: until the storage versions are published, only these pass: loopback
// requests to the storage version API; reads; requests for what is not
// persisted; requests for aggregated APIs; requests for custom resources.
//
// In addition the Manager may write identity Leases. The KEP wants membership
// established before anything is published, so the write that establishes it
// cannot wait for publication. It may delete Leases of servers that are gone
// for the same reason, and because a delete stores nothing in any version.
func passes(a attributes, serverID string) bool {
	if !a.resourceRequest {
		return true
	}
	switch a.verb {
	case "get", "list", "watch":
		return true
	}
	if !a.persisted {
		return true
	}
	switch {
	case a.loopback && a.group == apiserverinternalv1alpha1.GroupName && a.resource == "storageversions":
		return true
	case a.loopback && a.group == coordinationv1.GroupName && a.resource == "leases" && a.namespace == LeaseNamespace:
		// A create does not have the name in its path; the Manager creates no
		// other Lease than its own.
		return a.name == serverID || a.own && (a.verb == "create" || a.verb == "delete")
	}
	return false
}
