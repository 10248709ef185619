package reference

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Positions that a Ballast can be stowed at. The empty position means that the
// Ballast is not stowed yet.
const (
	PositionFore      = "fore"
	PositionMidships  = "midships"
	PositionAft       = "aft"
	PositionUndecided = ""
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Ballast is a weight that keeps a ship on an even keel. It does nothing: it
// exists to be stored in one version by one release and in another by the next.
type Ballast struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec BallastSpec
}

// BallastSpec is how heavy a Ballast is and where it lies.
type BallastSpec struct {
	// Kilograms is not negative.
	Kilograms int64
	// Position is one of the Position… constants.
	Position string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// BallastList is a list of Ballasts.
type BallastList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Ballast
}
