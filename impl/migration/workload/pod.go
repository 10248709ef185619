package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// Program is where an image has the binary.
const Program = "/refplane"

// Pod is what Pods of the migrator have in common.
type Pod struct {
	Image string
	// OnControlPlane has them run on nodes of the control plane and in the network of
	// the node, and talk to the API server of the node that they are on. So they need
	// neither a CNI plugin nor kube-proxy.
	OnControlPlane bool
}

// Spec is a Pod that runs the program with arguments as a ServiceAccount.
func (p Pod) Spec(container, serviceAccount string, restart corev1.RestartPolicy, args ...string) corev1.PodSpec {
	spec := corev1.PodSpec{
		ServiceAccountName: serviceAccount,
		RestartPolicy:      restart,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](unprivileged), RunAsGroup: ptr.To[int64](unprivileged),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: container, Image: p.Image, ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{Program}, Args: args,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpuRequest), corev1.ResourceMemory: resource.MustParse(memoryRequest),
			}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		}},
	}
	if !p.OnControlPlane {
		return spec
	}
	const role = "node-role.kubernetes.io/control-plane"
	spec.HostNetwork = true
	spec.NodeSelector = map[string]string{role: ""}
	spec.Tolerations = []corev1.Toleration{
		{Key: role, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		// Without a CNI plugin a node is never ready.
		{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeNetworkUnavailable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	}
	spec.Containers[0].Env = []corev1.EnvVar{
		{Name: "KUBERNETES_SERVICE_HOST", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.hostIP"}}},
		{Name: "KUBERNETES_SERVICE_PORT", Value: apiServerPort},
	}
	return spec
}
