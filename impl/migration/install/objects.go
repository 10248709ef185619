package install

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/migration/workload"
)

const (
	// DefaultNamespace holds everything that is namespaced.
	DefaultNamespace = "storage-version-migration"
	// ManagedLabel marks installed objects, which Uninstall may remove.
	ManagedLabel = "app.kubernetes.io/managed-by"
	// Manager is the value of ManagedLabel.
	Manager = "refplane-migrate-install"
)

// Options are what can be chosen.
type Options struct {
	Namespace string
	// Pod is what the Pods are made of.
	Pod workload.Pod
	// Rate is the most objects that are written in a second.
	Rate float64
	// Automatic has resources migrated as soon as their servers agree on another
	// version, and not only when asked.
	Automatic bool
	// Startup has each resource migrated that is no custom one, when the controller begins.
	Startup bool
}

// Objects are all that is installed, in the order in which they are created.
func Objects(o Options) []runtime.Object {
	return []runtime.Object{
		&corev1.Namespace{TypeMeta: kind("v1", "Namespace"), ObjectMeta: named("", o.Namespace)},
		account(o.Namespace, workload.ControllerAccount),
		account(o.Namespace, workload.WorkerAccount),
		clusterRole(workload.ControllerAccount, o.Namespace, controllerRules(o.Automatic || o.Startup, clusterName(workload.ControllerAccount, o.Namespace))),
		clusterRole(workload.WorkerAccount, o.Namespace, workerRules()),
		clusterBinding(workload.ControllerAccount, o.Namespace),
		clusterBinding(workload.WorkerAccount, o.Namespace),
		role(workload.ControllerAccount, o.Namespace, controllerNamespaceRules()),
		role(workload.WorkerAccount, o.Namespace, workerNamespaceRules()),
		binding(workload.ControllerAccount, o.Namespace),
		binding(workload.WorkerAccount, o.Namespace),
		deployment(o),
	}
}

func kind(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{ManagedLabel: Manager}}
}

func account(namespace, name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{TypeMeta: kind("v1", "ServiceAccount"), ObjectMeta: named(namespace, name)}
}

// clusterName distinguishes installations in several namespaces.
func clusterName(name, namespace string) string { return name + ":" + namespace }

func clusterRole(name, namespace string, rules []rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "ClusterRole"),
		ObjectMeta: named("", clusterName(name, namespace)), Rules: rules}
}

func clusterBinding(name, namespace string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "ClusterRoleBinding"),
		ObjectMeta: named("", clusterName(name, namespace)),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterName(name, namespace)},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}}
}

func role(name, namespace string, rules []rbacv1.PolicyRule) *rbacv1.Role {
	return &rbacv1.Role{TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "Role"), ObjectMeta: named(namespace, name), Rules: rules}
}

func binding(name, namespace string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "RoleBinding"), ObjectMeta: named(namespace, name),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}}
}

// deployment returns the Deployment of the controller. It has one Pod, which works only
// while it holds the Lease: a Pod on an unreachable node may still run.
func deployment(o Options) *appsv1.Deployment {
	labels := map[string]string{workload.RoleLabel: workload.ControllerRole}
	args := []string{"migrate", "controller", "--namespace=" + o.Namespace, "--image=" + o.Pod.Image,
		"--rate=" + strconv.FormatFloat(o.Rate, 'g', -1, 64)}
	if o.Automatic || o.Startup {
		args = append(args, "--owner="+clusterName(workload.ControllerAccount, o.Namespace))
	}
	if o.Startup {
		args = append(args, "--start")
	}
	if o.Automatic {
		args = append(args, "--automatic")
	}
	if o.Pod.OnControlPlane {
		args = append(args, "--on-control-plane")
	}
	return &appsv1.Deployment{
		TypeMeta: kind(appsv1.SchemeGroupVersion.String(), "Deployment"), ObjectMeta: named(o.Namespace, workload.ControllerAccount),
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       o.Pod.Spec(workload.ControllerRole, workload.ControllerAccount, corev1.RestartPolicyAlways, args...),
			},
		},
	}
}
