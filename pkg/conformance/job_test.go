package conformance

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

// couldNotRun is the status of a Pod that has no verdict.
const couldNotRun = 3

func jobOptions(t testing.TB) JobOptions {
	t.Helper()
	topology, err := clusters.Read("clusters/local-3.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return JobOptions{Name: "theirs", Image: "example/evenkeel", Claim: "bundles", Parallel: 10, CPU: "2", Memory: "4Gi", Queue: "night", Topology: topology}
}

func manifestOf(t testing.TB, plan *Plan, o JobOptions) (config corev1.ConfigMap, job batchv1.Job) {
	t.Helper()
	raw, err := Job(plan, o)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(raw), "---\n")
	if len(parts) != 3 {
		t.Fatalf("%d documents", len(parts)-1)
	}
	for i, into := range []any{&config, &job} {
		if err := yaml.UnmarshalStrict([]byte(parts[i+1]), into); err != nil {
			t.Fatal(err)
		}
	}
	return config, job
}

func TestJob_HasAnIndexForEachLine(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Repeat = 3 })
	config, job := manifestOf(t, plan, jobOptions(t))
	spec := job.Spec
	if int(*spec.Completions) != len(plan.Lines) || *spec.CompletionMode != batchv1.IndexedCompletion || *spec.BackoffLimitPerIndex != 3 || *spec.Parallelism != 10 {
		t.Errorf("%+v", spec)
	}
	container := spec.Template.Spec.Containers[0]
	if !equality.Semantic.DeepEqual(container.Resources.Requests, container.Resources.Limits) || container.Resources.Limits.Cpu().String() != "2" {
		t.Errorf("%+v", container.Resources)
	}
	if job.Labels[queueLabel] != "night" || spec.Template.Labels[queueLabel] != "" {
		t.Errorf("%v, %v", job.Labels, spec.Template.Labels)
	}
	// The plan that the Pod reads is the plan.
	file := filepath.Join(t.TempDir(), zippedPlan)
	if err := os.WriteFile(file, config.BinaryData[zippedPlan], 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := ReadPlan(file)
	if err != nil || len(read.Lines) != len(plan.Lines) || read.Harness != plan.Harness {
		t.Errorf("%v, %+v", err, read)
	}
	for status, want := range map[int32]batchv1.PodFailurePolicyAction{1: "FailIndex", 2: "FailIndex", 3: "", 137: "", 255: ""} {
		if got := actionOn(spec.PodFailurePolicy, status, false); got != want {
			t.Errorf("after the status %d: %q, want %q", status, got, want)
		}
		if got := actionOn(spec.PodFailurePolicy, status, true); got != batchv1.PodFailurePolicyActionIgnore {
			t.Errorf("after the status %d of a disrupted Pod: %q", status, got)
		}
	}
}

// actionOn is what the Job controller does after a Pod has failed: that of the first rule
// that matches; empty counts it towards the limit of its index.
func actionOn(policy *batchv1.PodFailurePolicy, status int32, disrupted bool) batchv1.PodFailurePolicyAction {
	for _, rule := range policy.Rules {
		for _, pattern := range rule.OnPodConditions {
			if disrupted && pattern.Type == corev1.DisruptionTarget && pattern.Status == corev1.ConditionTrue {
				return rule.Action
			}
		}
		if codes := rule.OnExitCodes; codes != nil && status != 0 {
			in := slices.Contains(codes.Values, status)
			if in == (codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
				return rule.Action
			}
		}
	}
	return ""
}

func TestJob_RefusesWhatCannotRun(t *testing.T) {
	plan := planned(t, nil)
	for want, change := range map[string]func(*JobOptions){
		"is no DNS label":         func(o *JobOptions) { o.Name = "Theirs" },
		"--image":                 func(o *JobOptions) { o.Image = "" },
		"with --claim":            func(o *JobOptions) { o.Claim = "" },
		"is no URL":               func(o *JobOptions) { o.Claim, o.Store = "", "/mnt" },
		"--parallel":              func(o *JobOptions) { o.Parallel = 0 },
		"--cpu \"x\"":             func(o *JobOptions) { o.CPU = "x" },
		"a ConfigMap holds":       func(o *JobOptions) { o.Topology = make([]byte, maxConfigMap) },
		"PersistentVolumeClaim, ": func(o *JobOptions) { o.Store = "http://x" },
	} {
		o := jobOptions(t)
		change(&o)
		if _, err := Job(plan, o); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, ", ")) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// putServer serves a folder and takes PUT, as a store on a web server does.
func putServer(t testing.TB, root string) *httptest.Server {
	t.Helper()
	files := directory(root)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		switch r.Method {
		case http.MethodGet:
			http.ServeFile(w, r, filepath.Join(root, name))
		case http.MethodPut:
			err := files.write(r.Context(), name, r.Body, 0, r.Header.Get("If-None-Match") == "*")
			switch {
			case errors.Is(err, fs.ErrExist):
				w.WriteHeader(http.StatusPreconditionFailed)
			case err != nil:
				http.Error(w, err.Error(), http.StatusInternalServerError)
			default:
				w.WriteHeader(http.StatusCreated)
			}
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// An Indexed Job whose Pods are disrupted and whose machines fail comes to the report of one
// machine that was not: with 200 indexes, on a volume and over HTTP.
func TestPlayLine_AsAnIndexedJob(t *testing.T) {
	repeat := 29
	if testing.Short() {
		repeat = 4
	}
	plan := planned(t, func(r *Request) { r.Repeat = repeat })
	if !testing.Short() && len(plan.Lines) < 200 {
		t.Fatalf("%d lines", len(plan.Lines))
	}
	runs := map[string]string{"restart-skew/1": fakerun.Fail, "rolling-upgrade/2": fakerun.WeakOnce, "restart-skew/3": fakerun.Refuse, "rolling-upgrade/4": fakerun.CrashOnce}
	local, _ := playCampaign(t, plan, fakerun.Script{Runs: runs}, Options{Parallel: 2})
	volume := filepath.Join(t.TempDir(), "store")
	remoteRoot := t.TempDir()
	for name, where := range map[string]string{"volume": volume, "http": putServer(t, remoteRoot).URL} {
		t.Run(name, func(t *testing.T) {
			store, err := NewStore(where)
			if err != nil {
				t.Fatal(err)
			}
			_, job := manifestOf(t, plan, jobOptions(t))
			k := kubelet{t: t, job: &job, plan: plan, store: store, script: fakerun.Script{Runs: runs}, pods: map[int]int{}, failed: map[int]bool{}}
			k.run()
			into := filepath.Join(t.TempDir(), "merged")
			merged, err := CollectStore(t.Context(), plan, store, into)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := masked(t, merged), masked(t, local); got != want {
				t.Errorf("the Job says\n%.4000s\nand one machine\n%.4000s", got, want)
			}
			if problems := problemsOf(t, into, VerifyOptions{}); len(problems) > 0 {
				t.Errorf("%.1000q", problems)
			}
			// What is red stays red, and is played once.
			red := slices.IndexFunc(plan.Lines, func(l Line) bool { return l.Scenario == "restart-skew" && l.Seed == 1 })
			if !k.failed[red] || k.counted(red) != 1 {
				t.Errorf("the red index has failed: %v, with %d Pods that count", k.failed[red], k.counted(red))
			}
			if others := slices.Collect(maps.Keys(k.failed)); len(others) != 1 {
				t.Errorf("the indexes %v have failed", others)
			}
		})
	}
}

// kubelet plays the Pods of a Job in this process, and does after each what the Job's policy
// says: it stands in for the kubelet and the Job controller.
type kubelet struct {
	t      *testing.T
	job    *batchv1.Job
	plan   *Plan
	store  Store
	script fakerun.Script
	mu     sync.Mutex
	// pods counts those that count of each index, and failed are the indexes that failed.
	pods   map[int]int
	failed map[int]bool
}

func (k *kubelet) counted(index int) int { return k.pods[index] }

func (k *kubelet) run() {
	var group sync.WaitGroup
	slots := make(chan struct{}, *k.job.Spec.Parallelism)
	for index := range int(*k.job.Spec.Completions) {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			k.index(index)
		})
	}
	group.Wait()
}

// index plays Pods until the index has succeeded or failed.
func (k *kubelet) index(index int) {
	random := rand.New(rand.NewPCG(35, uint64(index))) //nolint:gosec // G115: an index is not negative.
	for disruptions, failures := random.IntN(3), 0; ; {
		disrupted := disruptions > 0
		disruptions--
		status := k.pod(index, disrupted)
		action := actionOn(k.job.Spec.PodFailurePolicy, status, disrupted)
		if status == 0 {
			return
		}
		if action == batchv1.PodFailurePolicyActionIgnore {
			continue
		}
		k.mu.Lock()
		k.pods[index]++
		if failures++; action == batchv1.PodFailurePolicyActionFailIndex || failures > int(*k.job.Spec.BackoffLimitPerIndex) {
			k.failed[index] = true
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
	}
}

// pod plays one Pod, with a disk of its own, and gives its exit status.
func (k *kubelet) pod(index int, disrupted bool) int32 {
	dir, err := os.MkdirTemp("", "pod-")
	if err != nil {
		k.t.Error(err)
		return couldNotRun
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			k.t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	var player Player = &inProcess{script: k.script}
	if disrupted {
		player = &stopping{inProcess: &inProcess{script: k.script}, cancel: cancel}
	}
	r, err := PlayLine(ctx, k.plan, index+1, k.store, options(k.t, k.script, Options{Dir: filepath.Join(dir, "campaign"), Player: player}))
	switch {
	case err != nil:
		return couldNotRun
	case r.Passed():
		return 0
	}
	return int32(statusOf(r.Verdict)) //nolint:gosec // G115: it is 0 to 3.
}

func TestPlayLine_TellsWhatIsWrong(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Scenarios = []string{"restart-skew"} })
	store, err := NewStore(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := PlayLine(ctx, plan, 2, store, options(t, fakerun.Script{}, Options{})); err == nil || !strings.Contains(err.Error(), "the plan has no line 2") {
		t.Errorf("%v", err)
	}
	crash := fakerun.Script{Runs: map[string]string{"restart-skew/1": fakerun.Crash}}
	if _, err := PlayLine(ctx, plan, 1, store, options(t, crash, Options{})); !errors.Is(err, ErrNoVerdict) {
		t.Errorf("%v", err)
	}
	if _, err := PlayLine(ctx, plan, 1, store, options(t, crash, Options{Topology: "clusters/local-5.yaml"})); err == nil || !strings.Contains(err.Error(), "has changed since the campaign was planned") {
		t.Errorf("%v", err)
	}
	// A line that the store has is not played again.
	first, err := PlayLine(ctx, plan, 1, store, options(t, fakerun.Script{}, Options{}))
	if err != nil || first.Verdict != check.Pass {
		t.Fatal(err, first)
	}
	player := &inProcess{}
	if again, err := PlayLine(ctx, plan, 1, store, options(t, fakerun.Script{}, Options{Player: player})); err != nil || len(player.played) > 0 || again.Verdict != check.Pass {
		t.Errorf("%v, %v, %+v", err, player.played, again)
	}
	// Two machines that play the same line at the same time.
	other := slices.Clone(first.Tries)
	other[0].Digest = strings.Repeat("0", 64)
	if err := putRecord(ctx, store, &Record{first.Plan, 1, check.Fail, other}); err == nil || !strings.Contains(err.Error(), "two machines have played line 1") {
		t.Errorf("%v", err)
	}
	if _, err := CollectStore(ctx, plan, store, filepath.Join(t.TempDir(), "c")); err == nil || !strings.Contains(err.Error(), "two machines have played line 1") {
		t.Errorf("%v", err)
	}
	// A store that cannot be reached, or that says no.
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		http.Error(w, "no room", http.StatusInsufficientStorage)
	}))
	defer refuses.Close()
	full, err := NewStore(refuses.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := PlayLine(ctx, plan, 1, full, options(t, fakerun.Script{}, Options{})); err == nil || !strings.Contains(err.Error(), "507") {
		t.Errorf("%v", err)
	}
}

func TestPlain_ReadsWhatWasCompressed(t *testing.T) {
	if got, err := plain([]byte("text")); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	packed, err := zipped([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := plain(packed); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := plain(packed[:len(packed)-3]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}
