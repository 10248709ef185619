// Package example shows how tests of one's own run on Evenkeel's clusters, in
// the style of sigs.k8s.io/e2e-framework and with nothing of Evenkeel but
// pkg/cluster/e2eframework: an environment whose setup brings up a topology with
// three members, features that ask each member by klient and wait on conditions,
// and node operations that stop, start and upgrade a member.
//
// What the features look at is KEP-2339 in small: which servers the
// StorageVersions name, and whether these agree, while a member is away, back,
// and at another release. It is no replacement for the suites beside it, which
// judge a recorded history: here somebody looks now and then, and what happens
// in between is not seen.
//
// It is an ordinary Go test:
//
//	go test ./suites/example
//
// EVENKEEL_TOPOLOGY names another topology, EVENKEEL_OUT a folder below which
// the components' logs are kept, and EVENKEEL_REFPLANE the reference control
// plane's binary, which is built from source without it. The flags of
// e2e-framework follow -args, such as `-args -feature upgraded`.
package example
