// Package installed tests a migrator that is installed in published Kubernetes as
// KEP-25 describes: a Deployment, a Job for each migration, and a checkpoint that the
// Job owns. The test upgrades the members between two releases that store a resource in
// different versions, migrates its objects, and reads the stored objects from etcd.
//
// The local provider has no kubelet, so the test runs the Pods' commands as processes,
// each with the rights of its ServiceAccount and no others. With
// EVENKEEL_TOPOLOGY=clusters/kind-3-kubernetes-migrator.yaml real kubelets run them.
package installed
