// Package fault injects faults that are described by Chaos Mesh's own typed
// objects, so that the same files can later be played by Chaos Mesh's own
// engine. Here they are carried out through cluster.Cluster, and each must
// prove that it bit: an executor that believes an injection because the call
// for it returned no error reports green on a system that was never harmed.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package fault
