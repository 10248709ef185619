// Package example shows how to run your own tests on Evenkeel's clusters, in the
// style of sigs.k8s.io/e2e-framework. Of Evenkeel it uses only
// pkg/cluster/e2eframework: an environment whose setup brings up a topology with
// three members, features that read from each member by klient and wait on
// conditions, and node operations that stop, start and upgrade a member.
//
// The features check a small part of KEP-2339: which servers the StorageVersions
// name, and whether these agree, while a member is stopped, started again, and at
// another release. The package does not replace the other suites, which judge a
// recorded history: these features poll, and miss what happens between two polls.
//
// It is an ordinary Go test:
//
//	go test ./suites/example
//
// EVENKEEL_TOPOLOGY names another topology, EVENKEEL_OUT the folder for the
// components' logs, and EVENKEEL_REFPLANE the binary of the reference control
// plane. Without EVENKEEL_REFPLANE, the test builds it from source. The flags of
// e2e-framework follow -args, such as `-args -feature upgraded`.
package example
