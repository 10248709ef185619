//go:build linux

package install

import (
	"crypto/sha256"
	"encoding/hex"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

const (
	// enforceLabel is where Pod Security finds the level of a namespace.
	enforceLabel = "pod-security.kubernetes.io/enforce"
	// configAnnotation makes Pods of another configuration or other keys other Pods.
	configAnnotation = "evenkeel.dev/agent-digest"
	// controlPlaneLabel is on every control-plane node; its value differs between installers.
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	// notShown stands in a printed Secret for what only an installation has.
	notShown = "(made by evenkeel agent install)"
	// grace is how long an agent may take to undo what it did, in seconds.
	grace = 30
	// keyMode lets only the container's user read the keys.
	keyMode = 0o400
)

// Objects are all that an installation consists of, in the order in which they are made.
type Objects struct {
	Namespace      *corev1.Namespace
	ServiceAccount *corev1.ServiceAccount
	ConfigMap      *corev1.ConfigMap
	Secret         *corev1.Secret
	DaemonSet      *appsv1.DaemonSet
}

// All gives the objects in order.
func (o *Objects) All() []any {
	return []any{o.Namespace, o.ServiceAccount, o.ConfigMap, o.Secret, o.DaemonSet}
}

// Objects are those of the plan.
func (p Plan) Objects() (*Objects, error) {
	config, err := p.configuration()
	if err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{Name: Name, Namespace: Name, Labels: labels()}
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta, Type: corev1.SecretTypeTLS,
		StringData: map[string]string{agent.AuthorityFile: notShown, agent.CertFile: notShown, agent.KeyFile: notShown, agent.SaltFile: notShown},
	}
	digest := sha256.New()
	digest.Write([]byte(config))
	if p.Keys != nil {
		secret.StringData = nil
		secret.Data = map[string][]byte{agent.AuthorityFile: p.Keys.CA, agent.CertFile: p.Keys.Server.CertPEM, agent.KeyFile: p.Keys.Server.KeyPEM, agent.SaltFile: p.Keys.Salt}
		digest.Write(p.Keys.Server.CertPEM)
	}
	pod := p.pod()
	pod.Volumes = append(pod.Volumes,
		corev1.Volume{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: Name, DefaultMode: ptr.To(int32(keyMode))}}},
		corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: Name}}}},
	)
	return &Objects{
		// The agent shares the node's processes, network and files, which Pod Security allows
		// only at the level privileged, although no container of it is privileged.
		Namespace: &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: with(labels(), enforceLabel, "privileged")},
		},
		// No binding gives it a right, and no Pod gets a token of it.
		ServiceAccount: &corev1.ServiceAccount{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta, AutomountServiceAccountToken: ptr.To(false),
		},
		ConfigMap: &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, Data: map[string]string{agent.InstalledFile: config}},
		Secret:    secret,
		DaemonSet: &appsv1.DaemonSet{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: meta,
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{nameLabel: Name}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels(), Annotations: map[string]string{configAnnotation: hex.EncodeToString(digest.Sum(nil))[:16]}},
					Spec:       pod,
				},
			},
		},
	}, nil
}

// StaticPod is the agent as a static Pod, which the kubelet starts when no API server is
// there to give it a DaemonSet's Pod, such as after a power cut at all members. The node
// must have its keys and its configuration in the folders that it mounts.
func (p Plan) StaticPod() *corev1.Pod {
	spec := p.pod()
	// A static Pod can refer to no ServiceAccount, Secret or ConfigMap.
	spec.ServiceAccountName, spec.Affinity, spec.NodeSelector = "", nil, nil
	spec.Volumes = append(spec.Volumes, hostPath("keys", keysFolder, corev1.HostPathDirectory), hostPath("config", configFolder, corev1.HostPathDirectory))
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: Name, Labels: labels()},
		Spec:       spec,
	}
}

const (
	nameLabel      = "app.kubernetes.io/name"
	managedByLabel = "app.kubernetes.io/managed-by"
)

func labels() map[string]string {
	return map[string]string{nameLabel: Name, managedByLabel: "evenkeel"}
}

func with(labels map[string]string, key, value string) map[string]string {
	labels[key] = value
	return labels
}

// pod is what runs on each node, without keys and configuration.
func (p Plan) pod() corev1.PodSpec {
	volumes, mounts := p.node()
	mounts = append(mounts,
		corev1.VolumeMount{Name: "keys", MountPath: keysFolder, ReadOnly: true},
		corev1.VolumeMount{Name: "config", MountPath: configFolder, ReadOnly: true},
	)
	memory := resource.MustParse("256Mi")
	return corev1.PodSpec{
		ServiceAccountName: Name, AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To(int64(grace)),
		HostPID:                       true, // to see the components' processes
		HostNetwork:                   true, // to be reached when the network of Pods is not, and to reach etcd on the loopback
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: controlPlaneLabel, Operator: corev1.NodeSelectorOpExists}}}},
		}}},
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser: ptr.To(int64(0)), RunAsGroup: ptr.To(int64(0)), // the node's files are its
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: Name, Image: p.Image, ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{"/evenkeel", "agent", "serve"},
			Args:    []string{"--config", configFolder + "/" + agent.InstalledFile, "--keys", keysFolder},
			Env: []corev1.EnvVar{{
				Name: agent.NodeVariable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}},
			}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: memory},
			},
			SecurityContext: &corev1.SecurityContext{
				Privileged: ptr.To(false), AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: p.capabilities()},
			},
			VolumeMounts: mounts,
		}},
		Volumes: volumes,
	}
}

// capabilities are those that the rung needs.
func (p Plan) capabilities() []corev1.Capability {
	// Components may run as users of their own, which own their keys and logs.
	needed := []corev1.Capability{"DAC_READ_SEARCH"}
	if p.Rung == cluster.RungDisrupt {
		needed = append(needed, "KILL", "NET_ADMIN")
	}
	return needed
}

// node is what the agent is given of the node's files.
func (p Plan) node() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	add := func(name, path, at string, kind corev1.HostPathType, readOnly bool) {
		volumes = append(volumes, hostPath(name, path, kind))
		mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: at, ReadOnly: readOnly})
	}
	add("manifests", p.Paths.Manifests, manifestsFolder, corev1.HostPathDirectory, p.Rung != cluster.RungDisrupt)
	add("logs", hostLogs, logsFolder, corev1.HostPathDirectory, true)
	if p.Paths.ReadsEtcd() {
		add("etcd-ca", p.Paths.EtcdCA, etcdFolder+"/ca.crt", corev1.HostPathFile, true)
		add("etcd-cert", p.Paths.EtcdCert, etcdFolder+"/client.crt", corev1.HostPathFile, true)
		add("etcd-key", p.Paths.EtcdKey, etcdFolder+"/client.key", corev1.HostPathFile, true)
	}
	return volumes, mounts
}

func hostPath(name, path string, kind corev1.HostPathType) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: ptr.To(kind)}}}
}
