package indexedjob

import (
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/suites/internal/bringup"
)

const (
	// release of Kubernetes: the one that CI builds for its node image.
	release = "v1.35.4"
	// planeBound is how long the control plane may be up.
	planeBound = 15 * time.Minute
)

// start brings API servers and the Job controller up, and gives a client without a limit.
func start(t *testing.T) kubernetes.Interface {
	t.Helper()
	topology, err := cluster.LoadTopology(filepath.Join("..", "..", "clusters", "local-3-kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	topology.SetRelease(release)
	topology.Spec.Members = topology.Spec.Members[:1]
	topology.Spec.Settings.WorkloadMigrator = true // has the local provider start the Job controller
	ctx, made := bringup.Start(t, topology, "indexedjob", planeBound)
	config, err := made.ClientConfig(made.Members()[0].Name, false)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1 // it is the client of a node with hundreds of Pods
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	// What the controller of ServiceAccounts would make, which the local provider does not start.
	if _, err := client.CoreV1().ServiceAccounts(corev1.NamespaceDefault).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return client
}
