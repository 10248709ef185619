// Package workload has the shapes of what KEP-25 makes of the migrator where the
// control plane runs workloads: Pods of the controller and of its workers, and the
// Job of a worker.
package workload
