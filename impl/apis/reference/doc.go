// +k8s:deepcopy-gen=package
// +groupName=reference.evenkeel.dev

// Package reference is the API group of the reference control plane's own
// resource, in the form in which the server holds it in memory. Each published
// version converts to and from this form without loss, which is what allows
// one release to store a version and the next one to store another.
package reference
