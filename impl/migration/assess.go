package migration

import (
	"fmt"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Facts are the observed facts about the resource of a migration.
type Facts struct {
	// Target is how clients reach the resource, if Found. Certain is false if a resource
	// that was not found may exist all the same.
	Target         Target
	Found, Certain bool
	// StorageVersion is nil if no API server has announced the resource.
	StorageVersion *apiserverinternalv1alpha1.StorageVersion
	// Definition is nil unless the resource is a custom one.
	Definition *Definition
}

// Step is what a migration needs next.
type Step string

// The steps of a migration.
const (
	// Wait: not yet, see the reason.
	Wait Step = "wait"
	// Fail: never.
	Fail Step = "fail"
	// Skip: there is nothing to rewrite; it has succeeded.
	Skip Step = "skip"
	// Run: a worker may go on with it.
	Run Step = "run"
)

// Reasons of conditions.
const (
	ReasonRunning           = "MigrationRunning"
	ReasonCompleted         = "MigrationCompleted"
	ReasonSucceeded         = "MigrationSucceeded"
	ReasonShortCircuited    = "SingleVersion"
	ReasonAwaitingAgreement = "AwaitingAgreement"
	ReasonAwaitingResource  = "AwaitingResource"
	ReasonQueued            = "Queued"
	ReasonRetrying          = "Retrying"
	ReasonNotFound          = "ResourceNotFound"
	ReasonNotMigratable     = "ResourceNotMigratable"
	ReasonNotAnnounced      = "StorageVersionNotPublished"
	ReasonAgreementLost     = "AgreementLost"
	ReasonObjectsRefused    = "ObjectsRefused"
	ReasonUnreadable        = "ObjectsUnreadable"
	ReasonWorkerFailed      = "WorkerFailed"
)

// Assessment is a step, with its reason and message.
type Assessment struct {
	Step            Step
	Reason, Message string
	// Basis is what a worker rests on, for Run and Skip.
	Basis Basis
}

// Assess decides what an unfinished migration needs next.
func Assess(svm *storagemigrationv1.StorageVersionMigration, facts Facts, now time.Time) Assessment {
	resource := ResourceOf(svm)
	young := now.Before(svm.CreationTimestamp.Add(UnknownGrace))
	basis, agreed := BasisOf(facts.StorageVersion)
	switch {
	case !facts.Found:
		return assessAbsent(svm, facts, now)
	case facts.Target.Migratable() != nil:
		return Assessment{Step: Fail, Reason: ReasonNotMigratable, Message: facts.Target.Migratable().Error() + "."}
	case facts.StorageVersion == nil && Started(svm):
		return lost(resource.String())
	case facts.StorageVersion == nil && young:
		return Assessment{Step: Wait, Reason: ReasonAwaitingAgreement, Message: fmt.Sprintf("No server has announced in which version it stores %s yet.", resource)}
	case facts.StorageVersion == nil:
		// KEP-2339: if a server does not use the API, its resources are not managed.
		return Assessment{Step: Fail, Reason: ReasonNotAnnounced, Message: fmt.Sprintf("The server of %s does not announce in which version it stores the resource, so the controller cannot determine when a migration is complete.", resource)}
	case (!agreed || !facts.Definition.Follows(basis)) && Started(svm):
		return lost(resource.String())
	case !agreed:
		return Assessment{Step: Wait, Reason: ReasonAwaitingAgreement, Message: fmt.Sprintf("The servers store %s in different versions, or some of them have not announced theirs; the migration begins when they agree.", resource)}
	case !facts.Definition.Follows(basis):
		return Assessment{Step: Wait, Reason: ReasonAwaitingAgreement, Message: fmt.Sprintf("The servers still store %s as %s, and its definition says %s; the migration begins when they have followed.", resource, basis.Version, facts.Definition.encoding())}
	case singleVersion(facts.StorageVersion, facts.Definition, basis):
		return Assessment{Step: Skip, Reason: ReasonShortCircuited, Message: fmt.Sprintf("%s is the only version of %s, so every object is stored in it.", basis.Version, resource), Basis: basis}
	}
	return Assessment{Step: Run, Reason: ReasonRunning, Basis: basis}
}

// assessAbsent decides what a migration needs next of a resource that no server was found to offer.
func assessAbsent(svm *storagemigrationv1.StorageVersionMigration, facts Facts, now time.Time) Assessment {
	resource := ResourceOf(svm)
	_, agreed := BasisOf(facts.StorageVersion)
	switch {
	case !facts.Certain || now.Before(svm.CreationTimestamp.Add(UnknownGrace)):
		return Assessment{Step: Wait, Reason: ReasonAwaitingResource, Message: fmt.Sprintf("No server answers for %s yet.", resource)}
	case agreed && waited(svm, now) < OutagePatience:
		// KEP-2339: the entries of servers that have gone are removed. Those that are there
		// store the resource, and only the way to them is away, as while an APIService is replaced.
		return Assessment{Step: Wait, Reason: ReasonAwaitingResource, Message: fmt.Sprintf("Servers store %s, and no API server offers it now.", resource)}
	case facts.StorageVersion != nil && Started(svm):
		return lost(resource.String())
	}
	return Assessment{Step: Fail, Reason: ReasonNotFound, Message: fmt.Sprintf("No server offers %s; check group and plural name of the resource.", resource)}
}

// waited is for how long a migration has not run.
func waited(svm *storagemigrationv1.StorageVersionMigration, now time.Time) time.Duration {
	c := meta.FindStatusCondition(svm.Status.Conditions, string(storagemigrationv1.MigrationRunning))
	switch {
	case c == nil:
		return now.Sub(svm.CreationTimestamp.Time)
	case c.Status == metav1.ConditionTrue:
		return 0
	}
	return now.Sub(c.LastTransitionTime.Time)
}

func lost(resource string) Assessment {
	return Assessment{Step: Fail, Reason: ReasonAgreementLost, Message: fmt.Sprintf("The servers do not agree any more on the version in which they store %s; migrate again when they do.", resource)}
}
