// Package bench has what the benchmarks share: control planes that are brought up
// through the local provider, what the kernel tells of processes and of the machine,
// and figures with their units and goals in the tables of a report.
package bench
