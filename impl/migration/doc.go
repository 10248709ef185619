// Package migration is KEP-25, storage version migration: it rewrites stored
// objects so that etcd contains each in the version that all API servers agree on.
// This package has the decisions, as pure functions of the objects that were read and
// of the time. Package migrator reads, waits and writes.
//
// # Why a success is true
//
// A migration of a resource depends on its StorageVersion object (KEP-2339): all
// participating servers have announced the same version, so from that moment all of
// them store in it. The migration lists all objects after that moment and sends each
// back unchanged, with the listed resourceVersion as precondition. Afterwards the
// migration has rewritten the object, or another client has written it since (a
// conflict), or it is gone. No object can have been stored in another version,
// provided that the agreement was never interrupted. The migration checks that at the
// end by the uid and resourceVersion of the StorageVersion, which change with
// everything that it reports (Basis). If they changed, the migration passes over the
// objects again; if the agreement is lost, the migration fails.
//
// For a custom resource the agreement must also be on the version that the
// definition names: servers that have not observed a change yet agree on the previous
// version.
//
// # The KEP's names and the published ones
//
// The KEP numbers the migrations of a resource: spec.generation asks for one,
// status.observedGeneration and status.completedGeneration follow. The published
// API has an object for each migration, with an immutable specification and a
// final outcome. So a ConfigMap (State) for each resource keeps the numbers, with
// the reason for the last of them, and the versions in which objects may be stored
// (the StorageState of KEP-2339). The conditions of each migration hold its outcome.
package migration
