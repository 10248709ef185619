// Package indexedjob tests that a plan which Kubernetes plays as an Indexed Job comes to the
// report of one machine.
//
// TestJob_OnLocalAPIServers applies the manifest to published Kubernetes of the local
// provider: etcd, kube-apiserver, kube-scheduler and the Job controller, all real. There is no
// kubelet, so a stand-in plays the Pods' commands as processes; behind their runs there is no
// control plane. The reference does not serve Jobs, and the Job controller is in a module
// that Evenkeel does not link, so that the test wants a release that is built (`make
// binaries RELEASES=v1.35.4`).
package indexedjob
