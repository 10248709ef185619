// Package installed has the test of a migrator that is installed in published
// Kubernetes as KEP-25 has it: a Deployment, a Job for each migration, and a
// checkpoint that goes with the Job. Members are upgraded between two releases that
// store a resource in different versions; its objects are migrated, and what lies in
// etcd is looked at.
//
// On the local provider there is no kubelet, so the test runs the Pods' commands as
// processes, each with the rights of its ServiceAccount and no others. With
// EVENKEEL_TOPOLOGY=clusters/kind-3-kubernetes-migrator.yaml real ones run them.
package installed
