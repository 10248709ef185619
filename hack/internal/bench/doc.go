// Package bench has the code that the benchmarks share: control planes of the local
// provider, the kernel's figures of processes and of the machine, and tables of figures
// with their units and goals.
package bench
