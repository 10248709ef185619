// Package registry says how a step, a fault and a workload declare themselves: their parameters
// with the values that these may have, what they need of a cluster, and about how long they take.
// What ships registers itself in a file of its own; a program that composes scenarios, and the
// reference that `evenkeel steps`, `evenkeel faults` and `evenkeel workloads` print, read the
// entries and list nothing themselves.
//
// It knows no step, no fault and no workload; pkg/scenario, pkg/fault and pkg/workload do.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package registry
