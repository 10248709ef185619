package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Ballast is a weight that keeps a ship on an even keel.
type Ballast struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is how heavy the ballast is and where it lies.
	// +optional
	Spec BallastSpec `json:"spec,omitempty"`
}

// BallastSpec is how heavy a Ballast is and where it lies. This version made
// the weight a number.
type BallastSpec struct {
	// kilograms is the weight.
	// +optional
	Kilograms int64 `json:"kilograms,omitempty"`
	// position is fore, midships, aft, or empty while undecided.
	// +optional
	Position string `json:"position,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// BallastList is a list of Ballasts.
type BallastList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items is the list of Ballasts.
	Items []Ballast `json:"items"`
}
