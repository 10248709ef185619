// Package migrator carries out what package migration decides. One Migrator
// works at a time, in the controller manager that leads. It has a loop, which
// remembers in which versions objects may be stored, starts migrations that are
// due and tells the others why they wait or fail; and at most one worker, which
// goes through the objects of one resource.
//
// KEP-25 makes the controller a Deployment and each worker a Job. Where nothing
// runs workloads, the controller manager plays both parts: a worker that was
// stopped by a crash or by a change of the leader goes on from its checkpoint in
// the next one.
package migrator
