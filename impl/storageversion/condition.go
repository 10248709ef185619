package storageversion

import (
	"slices"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of the condition AllEncodingVersionsEqual.
const (
	// ReasonAgreed: there is an agreed version.
	ReasonAgreed = "CommonEncodingVersionSet"
	// ReasonNotAgreed: there is none, because servers store different versions.
	ReasonNotAgreed = "CommonEncodingVersionUnset"
	// ReasonNotReported: there is none, because a participating server has not reported.
	ReasonNotReported = "ReportsMissing"
)

// Messages are fixed per reason, so that an object changes only when its reports
// change; they do not name missing servers.
const (
	messageAgreed      = "Every participating API server stores this resource in the agreed version."
	messageNotAgreed   = "The participating API servers store this resource in different versions."
	messageNotReported = "All reports name one version, and some participating API servers have not reported yet."
)

// conditionFor is the condition that goes with an agreed version, or with none.
//
// KEP-2339: the condition is updated together with the agreed version, and its status is one
// of True, False and Unknown. It is Unknown where the reports are equal and a participant's is
// missing: that one may be about to report the same version or another one.
func conditionFor(entries []apiserverinternalv1alpha1.ServerStorageVersion, agreed *string) apiserverinternalv1alpha1.StorageVersionCondition {
	condition := apiserverinternalv1alpha1.StorageVersionCondition{
		Type:    apiserverinternalv1alpha1.AllEncodingVersionsEqual,
		Status:  apiserverinternalv1alpha1.ConditionFalse,
		Reason:  ReasonNotAgreed,
		Message: messageNotAgreed,
	}
	switch {
	case agreed != nil:
		condition.Status, condition.Reason, condition.Message = apiserverinternalv1alpha1.ConditionTrue, ReasonAgreed, messageAgreed
	case allEqual(entries):
		condition.Status, condition.Reason, condition.Message = apiserverinternalv1alpha1.ConditionUnknown, ReasonNotReported, messageNotReported
	}
	return condition
}

// allEqual is whether all reports name one version.
func allEqual(entries []apiserverinternalv1alpha1.ServerStorageVersion) bool {
	return !slices.ContainsFunc(entries, func(e apiserverinternalv1alpha1.ServerStorageVersion) bool {
		return e.EncodingVersion != entries[0].EncodingVersion
	})
}

// withCondition returns the conditions with ours set for the agreed version. The
// transition time moves when the outcome changes, and at no other time, the outcome being the
// agreed version, or the status where there is none: a consumer that compares two readings is to see
// that one agreement was replaced by another one in between. Of more than two outcomes within a second
// the later ones have one time.
func withCondition(old *apiserverinternalv1alpha1.StorageVersionStatus, entries []apiserverinternalv1alpha1.ServerStorageVersion, agreed *string, now time.Time) []apiserverinternalv1alpha1.StorageVersionCondition {
	conditions := slices.Clone(old.Conditions)
	condition := conditionFor(entries, agreed)
	at := slices.IndexFunc(conditions, ours)
	if at < 0 {
		condition.LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
		return append(conditions, condition)
	}
	previous := conditions[at]
	condition.ObservedGeneration = previous.ObservedGeneration
	condition.LastTransitionTime = previous.LastTransitionTime
	if previous.Status != condition.Status || agreed != nil && !sameVersion(old.CommonEncodingVersion, agreed) {
		condition.LastTransitionTime = laterThan(previous.LastTransitionTime, now)
	}
	conditions[at] = condition
	return conditions
}

func ours(c apiserverinternalv1alpha1.StorageVersionCondition) bool {
	return c.Type == apiserverinternalv1alpha1.AllEncodingVersionsEqual
}

func sameVersion(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// laterThan is the time of a transition: now, or a second after the previous one where that was
// in this second. Stored times have whole seconds; without this a second transition would be told
// with an equal time. A time that has not come is followed by no later one: it would tell of a
// transition that is still to come. Nor is it followed by an earlier one, since servers' clocks differ.
func laterThan(previous metav1.Time, now time.Time) metav1.Time {
	next := metav1.NewTime(now).Rfc3339Copy()
	switch {
	case next.After(previous.Time):
		return next
	case previous.After(now):
		return previous
	}
	return metav1.NewTime(previous.Add(time.Second)).Rfc3339Copy()
}
