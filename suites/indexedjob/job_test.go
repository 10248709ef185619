package indexedjob

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

const (
	jobName, namespace = "conformance", corev1.NamespaceDefault
	// parallel is how many Pods run at a time.
	parallel = 24
	// jobBound is how long the Job may take on a busy machine, and jobPoll how often it is
	// looked at.
	jobBound = 10 * time.Minute
	jobPoll  = 200 * time.Millisecond
	// mayFail is how many Pods of an index may fail, which the manifest has from --tries. The Job
	// controller waits for twice as long before each next Pod of an index, beginning with 10 s.
	mayFail = 3
)

// A Job of 200 indexes comes to the report of one machine, though its Pods are deleted, killed
// and evicted at random moments; only Pods without a verdict are played again, and two
// different bundles of one line are refused.
func TestJob_OnLocalAPIServers(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	plan, program := planOf(t, indexes), programDigest(t)
	client := start(t)
	k := startKubelet(t, client, names(plan), program)
	root := filepath.Join(t.TempDir(), "store")
	lost, evicted := indexOf(t, plan, lostLine), indexOf(t, plan, evictedLine)
	record := recordOf(t, plan, lost)
	// A Pod first looks whether its line has a record. While it waits for the answer it is
	// certain to have no verdict.
	url := serveStore(t, &store{root: root, read: map[string]func(nth int){
		record:                     func(nth int) { k.loseFirst(lost, nth) },
		recordOf(t, plan, evicted): func(nth int) { k.evictFirst(evicted, nth) },
	}})

	began := time.Now()
	job, most := k.playJob(plan, url, rand.New(rand.NewPCG(seed, 35)))
	t.Logf("%d of %d indexes had succeeded after %s, and the one of which %d Pods are evicted after %s: %d Pods were started, and %s failed",
		job.Status.Succeeded-1, len(plan.Lines), most.Sub(began).Round(time.Second), mayFail+1, time.Since(began).Round(time.Second),
		k.total(), ptr.Deref(job.Status.FailedIndexes, "none"))
	k.checkIndexes(plan, job)

	bundles, err := conformance.NewStore(root)
	if err != nil {
		t.Fatal(err)
	}
	k.checkLost(lost)
	if _, err := conformance.CollectStore(t.Context(), plan, bundles, filepath.Join(t.TempDir(), "refused")); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("two machines have played line %d", lost+1)) {
		t.Errorf("two different bundles of line %d are not refused: %v", lost+1, err)
	}
	if err := os.Remove(filepath.Join(root, strings.TrimSuffix(record, ".json")+"-conflict.json")); err != nil {
		t.Fatal(err)
	}
	checkMerged(t, plan, bundles, program)
}

// recordOf is the file of the store that has the record of an index.
func recordOf(t *testing.T, plan *conformance.Plan, index int) string {
	t.Helper()
	raw, err := plan.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("lines/%s/%05d.json", bundle.ContentDigest(raw), index+1)
}

// playJob applies the Job and disrupts its Pods, and returns the Job when it has ended, and when
// all of its indexes had ended but one.
func (k *kubelet) playJob(plan *conformance.Plan, url string, random *rand.Rand) (job *batchv1.Job, most time.Time) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), jobBound)
	defer cancel()
	k.apply(plan, url)
	var spared []int
	for _, line := range []string{redLine, openLine, secondTry, refusedLine, couldNotRunLine, evictedLine, lostLine} {
		spared = append(spared, indexOf(k.t, plan, line))
	}
	disrupting, stop := context.WithCancel(ctx)
	defer stop()
	var disruptions sync.WaitGroup
	defer disruptions.Wait()
	defer stop()
	disruptions.Go(func() {
		done := k.disrupt(disrupting, random, spared)
		k.t.Logf("Pods were disrupted at random moments: %v", done)
		for _, way := range ways {
			if done[way.name] < ofEachKind {
				k.t.Errorf("%d Pods were %s, want %d", done[way.name], way.name, ofEachKind)
			}
		}
	})
	err := wait.PollUntilContextCancel(ctx, jobPoll, true, func(ctx context.Context) (done bool, err error) {
		job, err = k.client.BatchV1().Jobs(namespace).Get(ctx, jobName, metav1.GetOptions{})
		if err == nil && most.IsZero() && int(job.Status.Succeeded) >= len(plan.Lines)-len(failing(k.t, plan))-1 {
			most = time.Now()
		}
		return err == nil && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
		}), err
	})
	if err != nil {
		status, _ := yaml.Marshal(job.Status)
		k.t.Fatalf("the Job has not ended: %v; its status is\n%s\nand Pods are\n%s", err, status, k.unfinished())
	}
	return job, most
}

// apply applies the manifest that `evenkeel conformance job` writes.
func (k *kubelet) apply(plan *conformance.Plan, url string) {
	k.t.Helper()
	topology, err := clusters.Read(clusters.Default)
	if err != nil {
		k.t.Fatal(err)
	}
	manifest, err := conformance.Job(plan, conformance.JobOptions{
		Name: jobName, Namespace: namespace, Image: "example/evenkeel", Store: url, Parallel: parallel, CPU: "2", Memory: "4Gi", Topology: topology,
	})
	if err != nil {
		k.t.Fatal(err)
	}
	var config corev1.ConfigMap
	var job batchv1.Job
	documents := strings.Split(string(manifest), "---\n")[1:]
	for i, into := range []any{&config, &job} {
		if err := yaml.UnmarshalStrict([]byte(documents[i]), into); err != nil {
			k.t.Fatal(err)
		}
	}
	if _, err := k.client.CoreV1().ConfigMaps(namespace).Create(k.t.Context(), &config, metav1.CreateOptions{}); err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.client.BatchV1().Jobs(namespace).Create(k.t.Context(), &job, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		k.t.Fatal(err)
	}
}

// unfinished tells of the Pods that the API server has and that the Job controller waits for.
func (k *kubelet) unfinished() string {
	list, err := k.client.CoreV1().Pods(namespace).List(k.t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var told strings.Builder
	for i := range list.Items {
		if object := &list.Items[i]; !terminal(object) || len(object.Finalizers) > 0 {
			fmt.Fprintf(&told, "%s on %q: %s, finalizers %v, deleted %v, %+v\n", object.Name, object.Spec.NodeName, object.Status.Phase, object.Finalizers, object.DeletionTimestamp, object.Status.Conditions)
		}
	}
	return told.String()
}

// checkIndexes makes sure that the Job controller has played again what left no verdict, and
// nothing else.
func (k *kubelet) checkIndexes(plan *conformance.Plan, job *batchv1.Job) {
	k.t.Helper()
	failed := failing(k.t, plan)
	if got, want := ptr.Deref(job.Status.FailedIndexes, ""), fmt.Sprintf("%d,%d", failed[0], failed[1]); got != want {
		k.t.Errorf("the indexes %q have failed, want %q", got, want)
	}
	if int(job.Status.Succeeded) != len(plan.Lines)-len(failed) {
		k.t.Errorf("%d indexes succeeded, want all others", job.Status.Succeeded)
	}
	for line, want := range map[string][]int{
		redLine: {exit.Fail}, openLine: {exit.Inconclusive}, secondTry: {exit.Pass}, refusedLine: {exit.Pass}, couldNotRunLine: {exit.CouldNotRun, exit.Pass},
	} {
		var got []int
		for _, p := range k.podsOf(indexOf(k.t, plan, line)) {
			got = append(got, p.status)
		}
		if !slices.Equal(got, want) {
			k.t.Errorf("the Pods of %s have ended with %v, want %v", line, got, want)
		}
	}
	if pods := k.podsOf(indexOf(k.t, plan, evictedLine)); len(pods) <= mayFail+1 {
		k.t.Errorf("the index whose Pods were evicted had %d Pods, which is no more than may fail", len(pods))
	}
}

// checkLost lets the machine that was given up go on. What its Pod finds is another bundle
// than that of the Pod in its place, and its status says that it does not count.
func (k *kubelet) checkLost(index int) {
	k.t.Helper()
	pods := k.podsOf(index)
	if err := pods[0].thaw(); err != nil {
		k.t.Fatal(err)
	}
	<-pods[0].ended
	if len(pods) != 2 || pods[0].status != exit.CouldNotRun || pods[1].status != exit.Pass {
		k.t.Errorf("of the index whose machine was lost there are %d Pods, and the first has ended with %d", len(pods), pods[0].status)
	}
}

// checkMerged compares what the Pods have left with a campaign on one machine.
func checkMerged(t *testing.T, plan *conformance.Plan, bundles conformance.Store, program string) {
	t.Helper()
	into := filepath.Join(t.TempDir(), "merged")
	merged, err := conformance.CollectStore(t.Context(), plan, bundles, into)
	if err != nil {
		t.Fatal(err)
	}
	local, err := conformance.Begin(t.Context(), plan, conformance.Options{
		Dir: filepath.Join(t.TempDir(), "local"), Player: inProcess{program}, Clock: clock.RealClock{}, Parallel: 2,
		View: conformance.NewConsole(io.Discard, clock.RealClock{}, func(string) time.Duration { return 0 }),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := masked(t, merged), masked(t, local); got != want || merged.Verdict != check.Fail {
		t.Errorf("the Job says\n%.4000s\nand one machine\n%.4000s", got, want)
	}
	verified, err := conformance.Verify(t.Context(), into, conformance.VerifyOptions{Harness: storyHarness})
	if err != nil {
		t.Fatal(err)
	}
	if !verified.Matches() {
		t.Errorf("the merged campaign does not match: %.1000q", verified.Problems)
	}
	t.Logf("%d bundles verify; merged and local: %+v", verified.Judged, merged.Runs)
}

// inProcess plays the runs of the campaign on one machine.
type inProcess struct{ program string }

// Play implements conformance.Player.
func (p inProcess) Play(ctx context.Context, order conformance.Order, started func(conformance.Process) error) (conformance.Played, error) {
	if err := started(conformance.Process{}); err != nil {
		return conformance.Played{}, err
	}
	s := fakerun.Script{Runs: planned(), Program: p.program}
	status, err := s.Play(ctx, order.Args[1:])
	played := conformance.Played{Status: status}
	if err != nil {
		played.Said = err.Error()
	}
	return played, nil
}
