// Package migration is KEP-25, storage version migration: it rewrites stored
// objects so that each lies in etcd in the version that all API servers agree
// on. Here is what is decided, as pure functions of what was read and of the
// time; package migrator reads, waits and writes around it.
//
// # Why a success is true
//
// A migration of a resource rests on its StorageVersion object (KEP-2339): all
// participating servers have announced the same version, so from that moment
// whatever any of them stores is stored in it. The migration lists all objects
// after that moment and sends each back as it is, based on the resourceVersion
// that was listed. Afterwards each object was rewritten by the migration, or
// was written by somebody else since (a conflict), or is gone; and nothing else
// can have been stored in another version, provided that the agreement was
// never interrupted. That is checked at the end by the uid and resourceVersion
// of the StorageVersion, which move whenever anything that it reports changes
// (Basis). If they moved, the objects are gone through again; if the agreement
// is lost, the migration fails.
//
// For a custom resource the agreement must also be on the version that the
// definition names: servers that have not seen a change yet agree on the past.
//
// # The KEP's names and the published ones
//
// The KEP numbers the migrations of a resource: spec.generation asks for one,
// status.observedGeneration and status.completedGeneration follow. The published
// API has an object for each migration, with an immutable specification and a
// final outcome. So the numbers, with the reason for the last of them, and the
// versions that objects may be stored in (the StorageState of KEP-2339) are kept
// for each resource in a ConfigMap (State); the outcome of each migration stands
// in its conditions.
package migration
