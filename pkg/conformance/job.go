package conformance

import (
	"fmt"
	"math"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/manifest"
)

// JobOptions say how a Job plays a plan.
type JobOptions struct {
	// Name and Namespace of the Job and its ConfigMap.
	Name, Namespace string
	// Image has evenkeel and what the target takes.
	Image string
	// Store is a URL that Pods put their bundles to; empty if Claim is set.
	Store string
	// Claim is a PersistentVolumeClaim that Pods share, for their bundles.
	Claim string
	// Parallel is how many Pods run at a time.
	Parallel int
	// CPU and Memory of each Pod: what it requests, and what it is limited to.
	CPU, Memory string
	// Queue is a queue of Kueue; empty for none.
	Queue string
	// Topology is the content of the plan's topology.
	Topology []byte
}

// Names and places inside the Pod.
const (
	jobContainer = "evenkeel"
	plannedDir   = "/plan"
	workDir      = "/work"
	storeDir     = "/store"
	zippedPlan   = PlanFile + ".gz"
	topologyFile = "topology.yaml"
)

const (
	// maxConfigMap is how many bytes a ConfigMap may hold; see its API reference.
	maxConfigMap = 1 << 20
	// grace is how long a Pod may take to take its control plane down and to put what it has
	// found into the store.
	grace = 120
	// evenkeelUser runs the Pod: the one that distroless images call nonroot.
	evenkeelUser = 65532
	// queueLabel is where Kueue finds the queue of a Job.
	queueLabel = "kueue.x-k8s.io/queue-name"
)

// finalStatuses are the exit statuses of a Pod whose line has a verdict other than pass: another
// Pod would not change it. After any other status, such as 3 or that of a container that was
// killed (137, 255), there is no verdict, and another Pod may come to one.
var finalStatuses = []int32{statusFail, statusOpen}

// Job writes the manifest of an Indexed Job that plays the plan, line by line: a ConfigMap
// with plan and topology, and the Job. A Pod without a verdict is played again, as often as the
// plan tries a run. A Pod that found a breach, or left a line open after all tries, is not: its
// index fails. A Pod that was disrupted is played again and does not count.
func Job(plan *Plan, o JobOptions) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	config, err := o.configMap(plan)
	if err != nil {
		return nil, err
	}
	job, err := o.job(plan)
	if err != nil {
		return nil, err
	}
	return manifest.YAML(config, job)
}

func (o JobOptions) check() error {
	switch {
	case len(validation.IsDNS1123Label(o.Name)) > 0:
		return fmt.Errorf("--name %q is no DNS label (lower-case letters, digits and dashes)", o.Name)
	case o.Image == "":
		return fmt.Errorf("name the image that has evenkeel: --image")
	case (o.Store == "") == (o.Claim == ""):
		return fmt.Errorf("name where Pods put their bundles: a URL with --store, or a PersistentVolumeClaim with --claim")
	case o.Store != "" && !strings.Contains(o.Store, "://"):
		return fmt.Errorf("--store %q is no URL, and a Pod has no folder of that name: name a PersistentVolumeClaim with --claim", o.Store)
	case o.Parallel < 1:
		return fmt.Errorf("--parallel is to be at least 1")
	}
	return nil
}

// number is one of a Job's, of which no sensible one is above its type.
func number(n int) *int32 {
	return ptr.To(int32(min(n, math.MaxInt32))) //nolint:gosec // G115: min bounds it.
}

func (o JobOptions) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: o.Name, Namespace: o.Namespace, Labels: map[string]string{"app.kubernetes.io/name": jobContainer, "app.kubernetes.io/instance": o.Name}}
}

func (o JobOptions) configMap(plan *Plan) (*corev1.ConfigMap, error) {
	raw, err := plan.YAML()
	if err != nil {
		return nil, err
	}
	packed, err := zipped(raw)
	if err != nil {
		return nil, err
	}
	// Binary data is written in base64.
	if size := len(packed)*4/3 + len(o.Topology); size > maxConfigMap {
		return nil, fmt.Errorf("the plan has %d lines and takes %d bytes, and a ConfigMap holds %d: split it with --focus or --scenario", len(plan.Lines), size, maxConfigMap)
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: o.meta(),
		Data: map[string]string{topologyFile: string(o.Topology)}, BinaryData: map[string][]byte{zippedPlan: packed},
	}, nil
}

func (o JobOptions) job(plan *Plan) (*batchv1.Job, error) {
	resources := corev1.ResourceList{}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: o.CPU, corev1.ResourceMemory: o.Memory} {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("--%s %q is no quantity: %w", name, text, err)
		}
		resources[name] = quantity
	}
	meta := o.meta()
	if o.Queue != "" {
		meta.Labels[queueLabel] = o.Queue
	}
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			CompletionMode:       ptr.To(batchv1.IndexedCompletion),
			Completions:          number(len(plan.Lines)),
			Parallelism:          number(min(o.Parallel, len(plan.Lines))),
			BackoffLimitPerIndex: number(plan.Asked.Tries),
			PodReplacementPolicy: ptr.To(batchv1.Failed), // two Pods never play one line at a time
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				}},
				{Action: batchv1.PodFailurePolicyActionFailIndex, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: ptr.To(jobContainer), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: finalStatuses,
				}},
			}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: o.meta().Labels}, Spec: o.pod(resources)},
		},
	}, nil
}

func (o JobOptions) pod(resources corev1.ResourceList) corev1.PodSpec {
	store := o.Store
	volumes := []corev1.Volume{
		{Name: "plan", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: o.Name}}}},
		{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	mounts := []corev1.VolumeMount{{Name: "plan", MountPath: plannedDir, ReadOnly: true}, {Name: "work", MountPath: workDir}, {Name: "work", MountPath: "/tmp", SubPath: "tmp"}}
	if o.Claim != "" {
		store = storeDir
		volumes = append(volumes, corev1.Volume{Name: "store", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: o.Claim}}})
		mounts = append(mounts, corev1.VolumeMount{Name: "store", MountPath: storeDir})
	}
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To(int64(grace)), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(evenkeelUser)), RunAsGroup: ptr.To(int64(evenkeelUser)), FSGroup: ptr.To(int64(evenkeelUser)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: jobContainer, Image: o.Image,
			Command:   []string{"evenkeel", "conformance", "line"},
			Args:      []string{"--plan", plannedDir + "/" + zippedPlan, "--topology", plannedDir + "/" + topologyFile, "--store", store, "--out", workDir + "/campaign"},
			Env:       []corev1.EnvVar{{Name: "HOME", Value: workDir}},
			Resources: corev1.ResourceRequirements{Requests: resources, Limits: resources},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			VolumeMounts: mounts,
		}},
		Volumes: volumes,
	}
}
