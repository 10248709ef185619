package workload

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const uid = "0c6d3cd5-22f5-4c1f-9d3d-5a4c6bfa7b52"

func newJob() *batchv1.Job {
	svm := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: "m", UID: uid}}
	return Pod{Image: "image"}.Job(Worker{Migration: svm, StorageVersion: "g.widgets", Generation: 3, Namespace: "ours", Rate: 0.5})
}

func TestJob_NamesItsMigration(t *testing.T) {
	job := newJob()
	if name, of := MigrationOf(job); name != "m" || of != uid || GenerationOf(job) != 3 || StorageVersionOf(job) != "g.widgets" {
		t.Errorf("it works on %s, %s, generation %d of %s", name, of, GenerationOf(job), StorageVersionOf(job))
	}
	// The Job controller names Pods after it, with six letters more, and labels them.
	if wrong := validation.IsDNS1123Label(job.Name + "-abcde"); len(wrong) > 0 {
		t.Errorf("its name is %s: %v", job.Name, wrong)
	}
	for _, value := range job.Labels {
		if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
			t.Errorf("%s: %v", value, wrong)
		}
	}
	if key, value, _ := strings.Cut(WorkerSelector, "="); job.Labels[key] != value || job.Spec.Template.Labels[key] != value {
		t.Errorf("its labels are %v", job.Labels)
	}
	if owner := Owner(job); owner.APIVersion != "batch/v1" || owner.Kind != "Job" || owner.Name != job.Name {
		t.Errorf("what it owns says %+v", owner)
	}
}

func TestJob_RunsOnePodAtATimeOnANode(t *testing.T) {
	job := newJob()
	pod := job.Spec.Template.Spec
	want := []string{"migrate", "worker", "--namespace=ours", "--migration=m", "--uid=" + uid, "--generation=3", "--rate=0.5"}
	if pod.ServiceAccountName != WorkerAccount || pod.RestartPolicy != corev1.RestartPolicyNever || !slices.Equal(pod.Containers[0].Args, want) {
		t.Errorf("its Pod is %+v", pod)
	}
	if *job.Spec.Parallelism != 1 || *job.Spec.Completions != 1 || *job.Spec.PodReplacementPolicy != batchv1.Failed {
		t.Errorf("there may be several Pods at once: %+v", job.Spec)
	}
	if pod.HostNetwork || len(pod.Tolerations) > 0 || len(pod.Containers[0].Env) > 0 {
		t.Errorf("it runs on the control plane: %+v", pod)
	}
}

func TestOnControlPlane(t *testing.T) {
	pod := Pod{Image: "image", OnControlPlane: true}.Spec("c", "a", corev1.RestartPolicyAlways)
	var env []string
	for _, variable := range pod.Containers[0].Env {
		env = append(env, variable.Name)
	}
	if !pod.HostNetwork || !slices.Equal(env, []string{"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) || len(pod.NodeSelector) != 1 {
		t.Errorf("got %+v", pod)
	}
}

func TestEnded(t *testing.T) {
	for _, test := range []struct {
		conditions        []batchv1.JobCondition
		completed, failed bool
	}{
		{nil, false, false},
		{[]batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionFalse}, {Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}, false, false},
		{[]batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}, {Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}, true, false},
		{[]batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: "m"}}, false, true},
	} {
		job := &batchv1.Job{Status: batchv1.JobStatus{Conditions: test.conditions}}
		if completed, failed, why := Ended(job); completed != test.completed || failed != test.failed || failed != (why == "m") {
			t.Errorf("%v: %v %v %q", test.conditions, completed, failed, why)
		}
	}
}
