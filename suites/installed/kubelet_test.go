package installed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/retry"
)

// kubelet runs the Pods of a namespace as processes, for providers without kubelets.
type kubelet struct {
	t         *testing.T
	client    kubernetes.Interface
	config    *rest.Config
	program   string
	namespace string
	dir       string

	mu      sync.Mutex
	running map[types.UID]*process
	// ran are the Pods that the kubelet has started, by their role.
	ran map[string][]string
}

// process is a Pod that runs.
type process struct {
	pod  *corev1.Pod
	kill context.CancelFunc
}

// startKubelet runs a kubelet until the test ends.
func startKubelet(p *plane, namespace, roleLabel string) *kubelet {
	config, err := p.ClientConfig(p.Members()[0].Name, false)
	if err != nil {
		p.t.Fatal(err)
	}
	k := &kubelet{t: p.t, client: p.client, config: config, program: p.program, namespace: namespace, dir: p.t.TempDir(),
		running: map[types.UID]*process{}, ran: map[string][]string{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	var looping sync.WaitGroup
	looping.Go(func() {
		var pods sync.WaitGroup
		defer pods.Wait()
		_ = wait.PollUntilContextCancel(ctx, awaitPoll, true, func(ctx context.Context) (bool, error) {
			k.sync(ctx, &pods, roleLabel)
			return false, nil
		})
	})
	p.t.Cleanup(func() {
		cancel()
		looping.Wait()
		if p.t.Failed() {
			k.showLogs()
		}
	})
	return k
}

func (k *kubelet) showLogs() {
	logs, err := filepath.Glob(filepath.Join(k.dir, "*.log"))
	if err != nil {
		k.t.Error(err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		k.t.Logf("%s (%v):\n%s", filepath.Base(log), err, text)
	}
}

// sync starts new Pods and ends deleted ones.
func (k *kubelet) sync(ctx context.Context, processes *sync.WaitGroup, roleLabel string) {
	list, err := k.client.CoreV1().Pods(k.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return // The API server may be restarting.
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid, one := range k.running {
		if !slices.ContainsFunc(list.Items, func(pod corev1.Pod) bool { return pod.UID == uid && pod.DeletionTimestamp == nil }) {
			one.kill()
		}
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if k.running[pod.UID] != nil || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		ctx, kill := context.WithCancel(ctx)
		k.running[pod.UID] = &process{pod, kill}
		k.ran[pod.Labels[roleLabel]] = append(k.ran[pod.Labels[roleLabel]], pod.Name)
		processes.Go(func() {
			defer kill()
			k.run(ctx, pod)
			k.mu.Lock()
			delete(k.running, pod.UID)
			k.mu.Unlock()
		})
	}
}

// run runs a Pod to its end.
func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) {
	container := pod.Spec.Containers[0]
	if !slices.Equal(container.Command, []string{"/refplane"}) {
		k.t.Errorf("the command of %s is %q", pod.Name, container.Command)
	}
	kubeconfig, err := k.kubeconfig(ctx, pod)
	if err != nil {
		if ctx.Err() == nil {
			k.t.Logf("starting %s: %v", pod.Name, err)
		}
		return
	}
	log, err := os.OpenFile(filepath.Join(k.dir, pod.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		k.t.Error(err)
		return
	}
	defer log.Close()
	// When the context ends, the process gets SIGKILL.
	command := exec.CommandContext(ctx, k.program, container.Args...)
	command.Env = []string{clientcmd.RecommendedConfigPathEnvVar + "=" + kubeconfig}
	command.Stdout, command.Stderr = log, log
	k.tell(pod, corev1.PodRunning)
	err = command.Run()
	fmt.Fprintln(log, "ended:", err)
	switch {
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways: // It is started again.
	case err == nil:
		k.tell(pod, corev1.PodSucceeded)
	default:
		k.tell(pod, corev1.PodFailed)
	}
}

// tell writes the phase of a Pod to its status, unless the Pod is gone.
func (k *kubelet) tell(pod *corev1.Pod, phase corev1.PodPhase) {
	ctx, cancel := context.WithTimeout(context.Background(), awaitBound)
	defer cancel()
	pods := k.client.CoreV1().Pods(k.namespace)
	err := retry.OnError(retry.DefaultBackoff, func(err error) bool { return !apierrors.IsNotFound(err) }, func() error {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || now.UID != pod.UID {
			return err
		}
		now.Status.Phase = phase
		_, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		k.t.Logf("telling that %s is %s: %v", pod.Name, phase, err)
	}
}

// kubeconfig has the rights of a Pod's ServiceAccount.
func (k *kubelet) kubeconfig(ctx context.Context, pod *corev1.Pod) (string, error) {
	token, err := k.client.CoreV1().ServiceAccounts(k.namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["it"] = &clientcmdapi.Cluster{Server: k.config.Host, CertificateAuthorityData: k.config.CAData}
	config.AuthInfos["it"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	config.CurrentContext = "it"
	path := filepath.Join(k.dir, pod.Name+".kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

// crash kills the process of a role; the Pod stays, and fails.
func (k *kubelet) crash(roleLabel, role string) (killed int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.running {
		if one.pod.Labels[roleLabel] == role {
			one.kill()
			killed++
		}
	}
	return killed
}

func (k *kubelet) started(role string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.ran[role])
}
