package migrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/workload"
)

const ours = "ours"

// podRestart is how long the Job controller waits before it replaces a Pod.
const podRestart = 10 * time.Second

// cluster is a world with what runs workloads: it plays the Job controller, the
// kubelet and the garbage collector.
type cluster struct {
	*world
	// pod is ended by kill; pods counts those that were started.
	mu   sync.Mutex
	kill context.CancelFunc
	pods int
	jobs int
}

func inCluster(t *testing.T, objects int, f func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{world: newWorld(t, objects)}
		c.client.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.jobs++
			action.(clienttesting.CreateAction).GetObject().(*batchv1.Job).UID = types.UID("job-" + strconv.Itoa(c.jobs))
			return false, nil, nil
		})
		c.client.PrependReactor("delete", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
			job, err := c.client.Tracker().Get(action.GetResource(), ours, action.(clienttesting.DeleteAction).GetName())
			if err == nil {
				c.collect(job.(*batchv1.Job))
			}
			return false, nil, nil
		})
		f(t, c)
	})
}

// collect deletes what a Job owns.
func (c *cluster) collect(job *batchv1.Job) {
	for _, record := range c.checkpoints() {
		if slices.ContainsFunc(record.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == job.UID }) {
			if err := c.client.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("configmaps"), ours, record.Name); err != nil {
				c.t.Error(err)
			}
		}
	}
	c.end()
}

// end kills the Pod that runs, if any.
func (c *cluster) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kill != nil {
		c.kill()
	}
}

func (c *cluster) checkpoints() []corev1.ConfigMap {
	list, err := c.client.Tracker().List(corev1.SchemeGroupVersion.WithResource("configmaps"), corev1.SchemeGroupVersion.WithKind("ConfigMap"), ours)
	if err != nil {
		c.t.Fatal(err)
	}
	return slices.DeleteFunc(list.(*corev1.ConfigMapList).Items, func(r corev1.ConfigMap) bool {
		return r.Labels[migration.RecordLabel] != migration.CheckpointRecord
	})
}

func (c *cluster) allJobs() []batchv1.Job {
	list, err := c.client.Tracker().List(batchv1.SchemeGroupVersion.WithResource("jobs"), batchv1.SchemeGroupVersion.WithKind("Job"), ours)
	if err != nil {
		c.t.Fatal(err)
	}
	return list.(*batchv1.JobList).Items
}

// options are those of controller and workers alike.
func options(t *testing.T, jobs *Jobs) Options {
	logger := klog.NewKlogr()
	o := Options{Namespace: ours, ChunkSize: 10, Logger: &logger, Jobs: jobs}
	if err := o.complete(); err != nil {
		t.Fatal(err)
	}
	return o
}

// controller runs one; stop ends it and waits.
func (c *cluster) controller(automatic bool) (stop func()) {
	o := options(c.t, &Jobs{Pod: workload.Pod{Image: "image"}})
	o.Automatic = automatic
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { newMigrator(o, c.clients()).run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// nodes run the Pods of Jobs until stop.
func (c *cluster) nodes() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			for _, job := range c.allJobs() {
				if completed, failed, _ := workload.Ended(&job); !completed && !failed {
					c.run(ctx, &job)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// run runs one Pod of a Job.
func (c *cluster) run(ctx context.Context, job *batchv1.Job) {
	pod, kill := context.WithCancel(ctx)
	defer kill()
	c.mu.Lock()
	c.kill = kill
	c.pods++
	c.mu.Unlock()
	err := newMigrator(options(c.t, nil), c.clients()).work(pod, taskOf(c.t, job))
	if err == nil {
		c.condition(job.Name, batchv1.JobComplete)
		return
	}
	if errors.Is(err, context.Canceled) {
		c.t.Errorf("a worker that is stopped returns %v, which the process takes for a success", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(podRestart):
	}
}

// condition is what the Job controller sets; the Job may be gone.
func (c *cluster) condition(name string, kind batchv1.JobConditionType) {
	jobs := c.client.BatchV1().Jobs(ours)
	job, err := jobs.Get(context.Background(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Message: "as the test has it"})
	if _, err := jobs.UpdateStatus(context.Background(), job, metav1.UpdateOptions{}); err != nil {
		c.t.Error(err)
	}
}

// taskOf is what the Pod's arguments say.
func taskOf(t *testing.T, job *batchv1.Job) (task Task) {
	for _, arg := range job.Spec.Template.Spec.Containers[0].Args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "--migration":
			task.Migration = value
		case "--uid":
			task.UID = types.UID(value)
		case "--generation":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Error(err)
			}
			task.Generation = n
		}
	}
	return task
}

func (c *cluster) ourState() migration.State {
	record, err := c.client.CoreV1().ConfigMaps(ours).Get(context.Background(), migration.StateName(svName), metav1.GetOptions{})
	if err != nil {
		return migration.State{}
	}
	state, err := migration.DecodeState(record.Data[migration.RecordKey])
	if err != nil {
		c.t.Fatal(err)
	}
	return state
}

func TestAJobMigratesEverything(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		c.before = func(_ context.Context, n int, _ string) error {
			if n != 12 {
				return nil
			}
			jobs, checkpoints := c.allJobs(), c.checkpoints()
			if len(jobs) != 1 || len(checkpoints) != 1 || !slices.Equal(checkpoints[0].OwnerReferences, []metav1.OwnerReference{workload.Owner(&jobs[0])}) {
				t.Errorf("while it is running: %v, %v", jobs, checkpoints)
			}
			return nil
		}
		c.ask("m")
		defer c.nodes()()
		defer c.controller(false)()
		if got := c.ended("m"); got.Reason != migration.ReasonSucceeded || got.Message != "35 of 35 objects migrated to test.dev/v2." {
			t.Errorf("ended with %+v", got)
		}
		if c.old() > 0 || c.attempts() != 35 {
			t.Errorf("%d objects are stored in the old version after %d writes", c.old(), c.attempts())
		}
		if got := c.storedVersions(); !slices.Equal(got, []string{"v2"}) {
			t.Errorf("storedVersions is %v", got)
		}
		c.until("the Job and its checkpoint are gone", func() bool { return len(c.allJobs()) == 0 && len(c.checkpoints()) == 0 })
		c.until("the state is written down", func() bool { return c.ourState().Settled("test.dev/v2") })
		if s := c.ourState(); s.Generation != 1 || s.ObservedGeneration != 1 || s.CompletedGeneration != 1 {
			t.Errorf("the state is %+v", s)
		}
	})
}

// Killed at any write, the Pod that replaces it repeats no more than the chunk in hand.
func TestAKilledPodCostsOneChunkAtMost(t *testing.T) {
	for crash := 1; crash <= 35; crash += 3 {
		t.Run(fmt.Sprint(crash), func(t *testing.T) {
			inCluster(t, 35, func(t *testing.T, c *cluster) {
				c.before = func(ctx context.Context, n int, _ string) error {
					if n != crash {
						return nil
					}
					c.world.mu.Unlock()
					c.end()
					<-ctx.Done()
					c.world.mu.Lock()
					return ctx.Err()
				}
				c.ask("m")
				defer c.nodes()()
				defer c.controller(false)()
				if got := c.ended("m"); got.Reason != migration.ReasonSucceeded {
					t.Errorf("ended with %+v", got)
				}
				if c.old() > 0 || c.attempts() > 35+10 || c.pods != 2 || c.jobs != 1 {
					t.Errorf("%d left in the old version, %d attempts by %d Pods of %d Jobs", c.old(), c.attempts(), c.pods, c.jobs)
				}
			})
		})
	}
}

// Another controller goes on with the Job that one has launched.
func TestAControllerGoesOnWhereOneEnded(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		c.ask("m")
		defer c.nodes()()
		stop := c.controller(false)
		c.until("a worker is at work", func() bool { return c.attempts() > 5 })
		stop()
		c.until("the worker has ended", func() bool { return c.attempts() == 35 })
		time.Sleep(time.Minute)
		if migration.Finished(c.get("m")) {
			t.Fatal("an outcome was told though no controller was there")
		}
		defer c.controller(false)()
		if got := c.ended("m"); got.Reason != migration.ReasonSucceeded || c.jobs != 1 {
			t.Errorf("ended with %+v after %d Jobs", got, c.jobs)
		}
		c.until("it is counted once", func() bool { s := c.ourState(); return s.CompletedGeneration == 1 && s.Generation == 1 })
	})
}

// What a worker found may be long ago when it is told: in the meantime a server may
// have stored the old version again.
func TestAnOldVerdictIsNoSuccess(t *testing.T) {
	for _, test := range []struct {
		name   string
		agreed string
		reason string
	}{{"moved", "test.dev/v2", migration.ReasonSucceeded}, {"lost", "", migration.ReasonAgreementLost}} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, 35, func(t *testing.T, c *cluster) {
				c.ask("m")
				defer c.nodes()()
				stop := c.controller(false)
				c.until("a worker is at work", func() bool { return c.attempts() > 5 })
				stop()
				c.until("the worker has ended", func() bool {
					completed, _, _ := workload.Ended(&c.allJobs()[0])
					return completed
				})
				c.world.mu.Lock()
				c.stored["w001"].version = "test.dev/v1"
				c.world.mu.Unlock()
				c.announce(storageVersion("60", test.agreed, "test.dev/v2", "test.dev/v2"))
				defer c.controller(false)()
				got := c.ended("m")
				if got.Reason != test.reason || got.Reason == migration.ReasonSucceeded && (c.old() > 0 || c.jobs != 2) {
					t.Errorf("ended with %+v, %d left in the old version after %d Jobs", got, c.old(), c.jobs)
				}
			})
		})
	}
}

func TestADeletedMigrationEndsItsJob(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		c.before = func(_ context.Context, n int, _ string) error {
			if n == 12 {
				return c.clients().migrations.Delete(context.Background(), "m1", metav1.DeleteOptions{})
			}
			return nil
		}
		c.ask("m1")
		defer c.nodes()()
		defer c.controller(false)()
		c.until("the Job and its checkpoint are gone", func() bool {
			return c.attempts() >= 12 && len(c.allJobs()) == 0 && len(c.checkpoints()) == 0
		})
		if c.attempts() >= 35 {
			t.Errorf("%d objects were written although the migration was deleted at the 12th", c.attempts())
		}
		c.ask("m2")
		if got := c.ended("m2"); got.Reason != migration.ReasonSucceeded {
			t.Errorf("the next one ended with %+v", got)
		}
	})
}

func TestOneJobAtATime(t *testing.T) {
	inCluster(t, 25, func(t *testing.T, c *cluster) {
		c.before = func(context.Context, int, string) error {
			if jobs := c.allJobs(); len(jobs) != 1 {
				t.Errorf("there are %d Jobs", len(jobs))
			}
			return nil
		}
		c.ask("a")
		c.ask("b")
		defer c.nodes()()
		defer c.controller(false)()
		a, b := c.ended("a"), c.ended("b")
		if a.Reason != migration.ReasonSucceeded || b.Reason != migration.ReasonSucceeded || b.LastTransitionTime.Before(&a.LastTransitionTime) {
			t.Errorf("a ended with %+v, b with %+v", a, b)
		}
	})
}

func TestAFailedJobFailsItsMigration(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		c.ask("m")
		defer c.controller(false)()
		c.until("a Job is there", func() bool { return len(c.allJobs()) == 1 })
		c.condition(c.allJobs()[0].Name, batchv1.JobFailed)
		if got := c.ended("m"); got.Type != string(storagemigrationv1.MigrationFailed) || got.Reason != migration.ReasonWorkerFailed {
			t.Errorf("ended with %+v", got)
		}
	})
}

// A Job that is complete proves nothing: only a verdict does.
func TestAJobWithoutVerdictIsNoSuccess(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		c.ask("m")
		defer c.controller(false)()
		c.until("a Job is there", func() bool { return len(c.allJobs()) == 1 })
		c.condition(c.allJobs()[0].Name, batchv1.JobComplete)
		c.until("another Job is there", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.jobs == 2 })
		if svm := c.get("m"); migration.Finished(svm) || c.attempts() > 0 {
			t.Errorf("the status is %+v", svm.Status)
		}
		defer c.nodes()()
		if got := c.ended("m"); got.Reason != migration.ReasonSucceeded || c.attempts() != 35 {
			t.Errorf("ended with %+v after %d writes", got, c.attempts())
		}
	})
}

// A worker cannot tell whether a resource will be served again; the controller can.
func TestAResourceThatGoesAwayFailsItsJob(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		c.listing = func(o metav1.ListOptions) error {
			if o.Continue != "" {
				c.unserved.Store(true)
				return apierrors.NewNotFound(widgets, "")
			}
			return nil
		}
		c.ask("m")
		defer c.nodes()()
		defer c.controller(false)()
		c.waits("m")
		c.retire()
		if got := c.ended("m"); got.Reason != migration.ReasonNotFound && got.Reason != migration.ReasonAgreementLost {
			t.Errorf("ended with %+v", got)
		}
		c.until("the Job is gone", func() bool { return len(c.allJobs()) == 0 })
	})
}

func TestALossOfAgreementEndsTheJob(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		c.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				c.announce(storageVersion("60", "", "test.dev/v2", "test.dev/v1"))
			}
			return nil
		}
		c.ask("m")
		defer c.nodes()()
		defer c.controller(false)()
		if got := c.ended("m"); got.Reason != migration.ReasonAgreementLost || c.attempts() >= 35 {
			t.Errorf("ended with %+v after %d writes", got, c.attempts())
		}
		if got := c.storedVersions(); len(got) != 2 {
			t.Errorf("storedVersions was trimmed to %v", got)
		}
	})
}

// A Job that makes no progress is deleted when another resource waits. Its checkpoint stays,
// and the next Job of the migration continues from it.
func TestAJobWithoutProgressGivesWay(t *testing.T) {
	inCluster(t, 35, func(t *testing.T, c *cluster) {
		var healed atomic.Bool
		c.before = func(_ context.Context, _ int, name string) error {
			if name >= "w015" && !healed.Load() {
				return apierrors.NewInternalError(errors.New("a webhook is down"))
			}
			return nil
		}
		c.addGadgets(20)
		c.ask("bad")
		defer c.nodes()()
		defer c.controller(false)()
		c.until("the worker is stuck", func() bool { return c.attempts() > 16 })
		c.askForGadgets("good")
		began := time.Now()
		if got := c.ended("good"); got.Reason != migration.ReasonSucceeded || time.Since(began) > 3*migration.GiveWay {
			t.Errorf("the other one ended with %+v after %s", got, time.Since(began))
		}
		if got := c.checkpoints(); len(got) != 1 {
			t.Fatalf("%d checkpoints are left", len(got))
		} else if kept, err := migration.DecodeCheckpoint(got[0].Data[migration.RecordKey]); err != nil || kept.Done.Total() != 10 || kept.Trouble.Since.IsZero() {
			t.Errorf("the checkpoint is %+v (%v)", kept, err)
		}
		healed.Store(true)
		if got := c.ended("bad"); got.Reason != migration.ReasonSucceeded || c.old() > 0 {
			t.Errorf("ended with %+v, %d left in the old version", got, c.old())
		}
		c.until("the Jobs and their checkpoints are gone", func() bool { return len(c.allJobs()) == 0 && len(c.checkpoints()) == 0 })
	})
}
