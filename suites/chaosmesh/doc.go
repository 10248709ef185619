// Package chaosmesh tests that faults are left to Chaos Mesh: a cluster of the local provider is
// judged as an external one, whose API servers are real and keep the objects of Chaos Mesh. A
// stand-in for its controller sets the conditions, and does to the cluster what chaos-daemon and a
// kubelet would do with static Pods: it ends a container and starts it again, and a deleted Pod ends
// nothing. The real controller and daemon of Chaos Mesh are not part of the test.
package chaosmesh
