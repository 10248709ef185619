package workload

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/migration"
)

const (
	// RoleLabel distinguishes the Pods of the controller, and the Jobs and Pods of workers,
	// from others.
	RoleLabel = "reference.evenkeel.dev/storage-migration-role"
	// ControllerRole is the value of RoleLabel on the Pods of the controller.
	ControllerRole = "controller"
	// WorkerRole is the value of RoleLabel on the Jobs and Pods of workers.
	WorkerRole = "worker"
	// WorkerSelector selects the Jobs and the Pods of workers.
	WorkerSelector = RoleLabel + "=" + WorkerRole

	// ControllerAccount is the ServiceAccount of the controller.
	ControllerAccount = "storage-migration-controller"
	// WorkerAccount is the ServiceAccount of the workers.
	WorkerAccount = "storage-migration-worker"

	// uidLabel and nameAnnotation are of the migration that a Job works on,
	// versionAnnotation is the StorageVersion of its resource.
	uidLabel          = "reference.evenkeel.dev/migration-uid"
	nameAnnotation    = "reference.evenkeel.dev/migration"
	versionAnnotation = "reference.evenkeel.dev/storage-version"
)

// Worker is the configuration of a worker.
type Worker struct {
	Migration *storagemigrationv1.StorageVersionMigration
	// StorageVersion is the name of the object that describes the resource.
	StorageVersion string
	// Generation is the number of the migration among those of its resource.
	Generation int64
	// Namespace of the Job and of its checkpoint.
	Namespace string
	// Rate is the most objects that are written in a second.
	Rate float64
}

// JobName is the name of the Job that works on a migration. There cannot be two.
func JobName(svm types.UID) string { return "storage-migration-" + string(svm) }

// Job of a worker. A Pod that fails is replaced once it has ended for certain, so
// that there is one at a time.
//
// KEP-25: the Job is annotated with the generation; the Job controller ensures
// that the worker completes.
func (p Pod) Job(w Worker) *batchv1.Job {
	labels := map[string]string{RoleLabel: WorkerRole, uidLabel: string(w.Migration.UID)}
	annotations := map[string]string{
		nameAnnotation:                 w.Migration.Name,
		versionAnnotation:              w.StorageVersion,
		migration.GenerationAnnotation: strconv.FormatInt(w.Generation, 10),
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: JobName(w.Migration.UID), Labels: labels, Annotations: annotations},
		Spec: batchv1.JobSpec{
			Parallelism: ptr.To[int32](1), Completions: ptr.To[int32](1),
			BackoffLimit:         ptr.To[int32](WorkerRetries),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:          batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			}}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec: p.Spec(WorkerRole, WorkerAccount, corev1.RestartPolicyNever,
					"migrate", "worker", "--namespace="+w.Namespace,
					"--migration="+w.Migration.Name, "--uid="+string(w.Migration.UID),
					"--generation="+strconv.FormatInt(w.Generation, 10),
					"--rate="+strconv.FormatFloat(w.Rate, 'g', -1, 64)),
			},
		},
	}
}

// Owner is the reference by which something goes when the Job goes.
func Owner(job *batchv1.Job) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Name: job.Name, UID: job.UID}
}

// MigrationOf is the name and the uid of the migration that a Job works on.
func MigrationOf(job *batchv1.Job) (name string, uid types.UID) {
	return job.Annotations[nameAnnotation], types.UID(job.Labels[uidLabel])
}

// StorageVersionOf is the name of the object that describes what a Job migrates.
func StorageVersionOf(job *batchv1.Job) string { return job.Annotations[versionAnnotation] }

// GenerationOf returns the generation of a Job; 0 if it is unknown.
func GenerationOf(job *batchv1.Job) int64 {
	generation, err := strconv.ParseInt(job.Annotations[migration.GenerationAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return generation
}

// Ended reports whether a Job has ended: completed, or failed and why.
func Ended(job *batchv1.Job) (completed, failed bool, why string) {
	for i := range job.Status.Conditions {
		condition := &job.Status.Conditions[i]
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			completed = true
		case batchv1.JobFailed:
			failed, why = true, condition.Message
		case batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet: // its Pods may still run
		}
	}
	return completed, failed, why
}
