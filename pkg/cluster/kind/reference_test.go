//go:build linux

package kind

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

func TestPodOfTheReference(t *testing.T) {
	r := &reference{image: "evenkeel.dev/refplane:abc", planted: map[cluster.Component][]string{cluster.APIServer: {"SV-06-x"}}}
	c := newFakeCluster(t, r, 3, nil)
	c.topology.Spec.Settings.IdentityLeaseDuration = cluster.Duration(40 * time.Second)
	m := c.members[1]
	for _, tc := range []struct {
		component cluster.Component
		flags     []string
	}{
		{cluster.Etcd, []string{
			"etcd", "--name cp2", "--data-dir " + dataDir, "--listen-client-url https://0.0.0.0:2379",
			// The others know it by the address that it keeps.
			"--listen-peer-url https://10.0.0.3:2380", "--advertise-peer-url https://10.0.0.3:2380",
			"--initial-cluster cp1=https://10.0.0.2:2380,cp2=https://10.0.0.3:2380,cp3=https://10.0.0.4:2380",
			"--cluster-token c-1", "--cert-file /evenkeel/pki/etcd.crt",
		}},
		{cluster.APIServer, []string{
			"apiserver", "--release 1.3", "--server-id apiserver-cp2", "--hostname c-1-control-plane2", "--secure-port 6443",
			// By the loopback, where the agent carries the link.
			"--etcd-servers https://127.0.0.1:2379", "--identity-lease-duration 40s", "--defect SV-06-x",
			"--etcd-cafile /evenkeel/pki/etcd-ca.crt", "--client-ca-file /evenkeel/pki/ca.crt",
		}},
		{cluster.ControllerManager, []string{
			"controller-manager", "--release 1.3", "--secure-port 10257", "--kubeconfig /evenkeel/pki/controller-manager.kubeconfig",
		}},
	} {
		t.Run(string(tc.component), func(t *testing.T) {
			raw, err := r.pod(c, m, tc.component, "1.3")
			if err != nil {
				t.Fatal(err)
			}
			pod := &corev1.Pod{}
			if err := yaml.UnmarshalStrict(raw, pod); err != nil {
				t.Fatal(err)
			}
			checkPod(t, r, pod)
			container := pod.Spec.Containers[0]
			command := strings.Join(container.Command, " ")
			for _, want := range tc.flags {
				if !strings.Contains(command+" ", " "+want+" ") {
					t.Errorf("%q is not in %s", want, command)
				}
			}
			// The agent recognizes it by its program and first argument, and its logs
			// by its name.
			at := slices.IndexFunc(r.programs(), func(one agent.Component) bool { return one.Name == tc.component })
			if one := r.programs()[at]; one.Program != "refplane" || one.Argument != container.Command[1] || one.Pod != pod.Name || one.Pod != container.Name {
				t.Errorf("the agent looks for %+v, the Pod is %s of %q", one, pod.Name, container.Command)
			}
		})
	}
	one, err := r.pod(c, m, cluster.Etcd, "1.3")
	if err != nil {
		t.Fatal(err)
	}
	if two, err := r.pod(c, m, cluster.Etcd, "1.3"); err != nil || string(one) == string(two) {
		t.Errorf("the next Pod is the same to the kubelet (%v)", err)
	}
	if _, err := r.pod(c, m, cluster.Scheduler, "1.3"); err == nil || !strings.Contains(err.Error(), "has no scheduler") {
		t.Errorf("error %v", err)
	}
}

func TestPeersOfTheReference(t *testing.T) {
	r := &reference{image: "evenkeel.dev/refplane:abc"}
	c := newFakeCluster(t, r, 3, nil)
	c.topology.Spec.Settings.PeerDiscovery = true
	raw, err := r.pod(c, c.members[1], cluster.APIServer, "1.3")
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(raw, pod); err != nil {
		t.Fatal(err)
	}
	command := strings.Join(pod.Spec.Containers[0].Command, " ")
	for _, want := range []string{
		"--peer-ca-file /evenkeel/pki/ca.crt", "--peer-advertise-ip 10.0.0.3", "--proxy-client-cert-file /evenkeel/pki/front-proxy.crt",
		"--requestheader-client-ca-file /evenkeel/pki/front-proxy-ca.crt", "--requestheader-allowed-names front-proxy-client",
	} {
		if !strings.Contains(command+" ", " "+want+" ") {
			t.Errorf("%q is not in %s", want, command)
		}
	}
}

// checkPod looks at what the Pods of all components have alike.
func checkPod(t *testing.T, r *reference, pod *corev1.Pod) {
	t.Helper()
	container := pod.Spec.Containers[0]
	if container.Command[0] != "/refplane" || container.Image != r.image || container.ImagePullPolicy != corev1.PullNever {
		t.Errorf("the container is %+v", container)
	}
	if !pod.Spec.HostNetwork || *pod.Spec.TerminationGracePeriodSeconds != int64(stopGrace.Seconds()) || pod.Namespace != "kube-system" {
		t.Errorf("the Pod is %+v", pod)
	}
	// Each file and folder that a flag names is mounted.
	var mounted []string
	for _, mount := range container.VolumeMounts {
		mounted = append(mounted, mount.MountPath)
	}
	for _, word := range container.Command[1:] {
		if strings.HasPrefix(word, "/") && !slices.ContainsFunc(mounted, func(path string) bool { return strings.HasPrefix(word, path) }) {
			t.Errorf("%s is not below any of %q", word, mounted)
		}
	}
}
