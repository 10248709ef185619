// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.evenkeel.reference.v1beta1
// +groupName=reference.evenkeel.dev

// Package v1beta1 is version v1beta1 of the group reference.evenkeel.dev.
package v1beta1
