// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.evenkeel.reference.v1alpha1
// +groupName=reference.evenkeel.dev

// Package v1alpha1 is version v1alpha1 of the group reference.evenkeel.dev.
package v1alpha1
