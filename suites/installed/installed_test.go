package installed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// The names that the program uses in the API, repeated here because the harness does not
// import it.
const (
	roleLabel        = "reference.evenkeel.dev/storage-migration-role"
	workerRole       = "worker"
	recordLabel      = "reference.evenkeel.dev/storage-migration"
	checkpointRecord = "checkpoint"

	ours     = "storage-version-migration"
	resource = "volumeattributesclasses.storage.k8s.io"
	oldest   = "storage.k8s.io/v1beta1"
	newest   = "storage.k8s.io/v1"

	// objects at 8 a second are migrated in chunks of 40: a chunk takes 5 seconds.
	objects = 160
	chunk   = 40
)

func TestMigrationByJobs(t *testing.T) {
	p := start(t, topologyFile(), func(topology *cluster.Topology) {
		topology.Spec.Release = before
		topology.Spec.Settings.WorkloadMigrator = true
	})
	p.populate(objects)
	if got := p.stored(); got.versions[oldest] != objects {
		t.Fatalf("at %s objects are stored as %v", before, got.versions)
	}
	p.upgrade(after)
	if got := p.stored(); got.versions[oldest] != objects {
		t.Fatalf("before the migration objects are stored as %v", got.versions)
	}

	// kind nodes have no CNI plugin.
	p.must("migrate", "install", "--on-control-plane")
	var k *kubelet
	if !p.onNodes {
		k = startKubelet(p, ours, roleLabel)
	}
	first := p.updates()
	p.must("migrate", "start", "--resource="+resource)
	p.await("half of the objects are migrated", func(context.Context) (bool, error) { return p.stored().versions[newest] >= objects/2, nil })
	p.checkOwnership()
	p.crashWorker(k)
	at := p.stored().versions[newest]

	p.await("all objects are migrated", func(context.Context) (bool, error) { return p.stored().versions[newest] == objects, nil })
	p.await("the migration has succeeded", func(context.Context) (bool, error) {
		out, _ := p.refplane("migrate", "progress")
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, resource) {
				return strings.Contains(line, " done "), nil
			}
		}
		return false, fmt.Errorf("progress: %s", out)
	})
	got := p.stored()
	if got.versions[newest] != objects || len(got.versions) != 1 || got.writes[2] != objects {
		t.Errorf("after the migration objects are stored as %v, with writes %v", got.versions, got.writes)
	}
	repeated := p.updates() - first - objects
	t.Logf("a worker was killed at %d of %d objects; %d updates were repeated, a chunk is %d", at, objects, repeated, chunk)
	if repeated < 0 || repeated > chunk {
		t.Errorf("%d updates were repeated", repeated)
	}
	if k != nil {
		if workers := k.started(workerRole); len(workers) != 2 {
			t.Errorf("the Pods of workers were %q", workers)
		}
	}
	p.awaitNoWorker("after success")

	// KEP-25: to delete a migration is to abort it.
	p.must("migrate", "start", "--resource="+resource)
	p.await("a worker is at work", func(ctx context.Context) (bool, error) {
		pods, err := p.pods(ctx, workerRole)
		return err == nil && slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning }), err
	})
	p.must("migrate", "abort", "--resource="+resource)
	p.awaitNoWorker("after an abort")

	p.must("migrate", "uninstall")
	p.await("the namespace is gone", func(ctx context.Context) (bool, error) {
		_, err := p.client.CoreV1().Namespaces().Get(ctx, ours, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	roles, err := p.client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=refplane-migrate-install"})
	if err != nil || len(roles.Items) > 0 {
		t.Errorf("%d ClusterRoles are left: %v", len(roles.Items), err)
	}
}

// Two migrators must not compete for the same objects.
func TestInstallYieldsToKubernetes(t *testing.T) {
	for _, release := range []string{before, after} {
		t.Run(release, func(t *testing.T) {
			p := start(t, "../../"+localTopology, func(topology *cluster.Topology) {
				topology.Spec.Release = release
				topology.Spec.Members = topology.Spec.Members[:1]
			})
			p.await("a leader of kube-controller-manager", func(ctx context.Context) (bool, error) {
				_, err := p.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, "kube-controller-manager", metav1.GetOptions{})
				return err == nil, err
			})
			out, status := p.refplane("migrate", "install")
			if status != 3 || !strings.Contains(out, history.ProgramOn("kube-controller-manager", "cp1")+" carries out migrations already") {
				t.Errorf("exit status %d: %s", status, out)
			}
			if _, err := p.client.CoreV1().Namespaces().Get(t.Context(), ours, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("refplane installed objects all the same: %v", err)
			}
		})
	}
}

func (p *plane) pods(ctx context.Context, role string) ([]corev1.Pod, error) {
	list, err := p.client.CoreV1().Pods(ours).List(ctx, metav1.ListOptions{LabelSelector: roleLabel + "=" + role})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func jobs(ctx context.Context, client kubernetes.Interface) ([]batchv1.Job, error) {
	list, err := client.BatchV1().Jobs(ours).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func (p *plane) checkpoints(ctx context.Context) ([]corev1.ConfigMap, error) {
	list, err := p.client.CoreV1().ConfigMaps(ours).List(ctx, metav1.ListOptions{LabelSelector: recordLabel + "=" + checkpointRecord})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// checkOwnership checks that the Job owns the checkpoint.
func (p *plane) checkOwnership() {
	p.t.Helper()
	made, err := jobs(p.t.Context(), p.client)
	if err != nil || len(made) != 1 {
		p.t.Fatalf("there are %d Jobs: %v", len(made), err)
	}
	checkpoints, err := p.checkpoints(p.t.Context())
	if err != nil || len(checkpoints) != 1 {
		p.t.Fatalf("there are %d checkpoints: %v", len(checkpoints), err)
	}
	if owners := checkpoints[0].OwnerReferences; len(owners) != 1 || owners[0].Kind != "Job" || owners[0].UID != made[0].UID {
		p.t.Errorf("the checkpoint is owned by %+v", owners)
	}
}

// crashWorker ends the worker without warning.
func (p *plane) crashWorker(k *kubelet) {
	p.t.Helper()
	if k != nil {
		if killed := k.crash(roleLabel, workerRole); killed != 1 {
			p.t.Fatalf("%d workers were killed", killed)
		}
		return
	}
	pods, err := p.pods(p.t.Context(), workerRole)
	if err != nil || len(pods) != 1 {
		p.t.Fatalf("there are %d Pods of workers: %v", len(pods), err)
	}
	now := int64(0)
	if err := p.client.CoreV1().Pods(ours).Delete(p.t.Context(), pods[0].Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		p.t.Fatal(err)
	}
}

// awaitNoWorker waits until the worker's Job and Pods, and with the Job the checkpoint, are
// gone.
func (p *plane) awaitNoWorker(when string) {
	p.t.Helper()
	p.await("no worker is left "+when, func(ctx context.Context) (bool, error) {
		made, err := jobs(ctx, p.client)
		if err != nil {
			return false, err
		}
		pods, err := p.pods(ctx, workerRole)
		if err != nil {
			return false, err
		}
		checkpoints, err := p.checkpoints(ctx)
		return len(made)+len(pods)+len(checkpoints) == 0, err
	})
}
