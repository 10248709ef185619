package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// foreignCluster is an external cluster that gives these means.
type foreignCluster struct {
	shelved
	gives []cluster.Means
	// runs is the release of its members, 1.2 where it is not said.
	runs string
}

func (f foreignCluster) Lacks(means cluster.Means) string {
	if slices.Contains(f.gives, means) {
		return ""
	}
	return "there is no " + string(means)
}

func (f foreignCluster) Release(string) string { return cmp.Or(f.runs, "1.2") }

func (f foreignCluster) HostAddress(context.Context) (string, error) { return "localhost", nil }

var everyHook = []cluster.Means{
	cluster.HookUpgrade, cluster.HookRollback, cluster.HookStop, cluster.HookStart, cluster.HookKill, cluster.HookPause, cluster.HookResume,
	cluster.HookCutOff, cluster.HookReconnect, cluster.HookPowerOff, cluster.HookPowerOn,
}

func shipped(t *testing.T, name string) *Scenario {
	t.Helper()
	s, err := LoadFS(fixtures.Files, "scenarios/"+name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDisrupts(t *testing.T) {
	for name, want := range map[string]string{
		"discovery-quick": "", "quick": "", "election-soak": "",
		"discovery": "5 restart", "discovery-upgrade": "4 upgrade", "discovery-outage": "3 setBackendBehavior", "upgrade-rollback-crash": "2 upgrade",
		"migration": "1 populate",
	} {
		step, action, disrupts := shipped(t, name).Disrupts()
		got := ""
		if disrupts {
			got = fmt.Sprintf("%d %s", step, action)
		}
		if got != want {
			t.Errorf("%s disrupts first by step %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"departed", "joined-silent", "conflict-storm", "election-quick", "node-faults", "collector-slow", "discovery-peers"} {
		if _, _, disrupts := shipped(t, name).Disrupts(); !disrupts {
			t.Errorf("%s disrupts nothing", name)
		}
	}
}

// A step that takes members to a release that there is not, or not then, is left out, and the
// others are played.
func TestLeaveOut_StepsForWhichThereIsNoRelease(t *testing.T) {
	for runs, want := range map[string]string{"1.2": "", "1.3": "there is no release after 1.3; there are: 1.1, 1.2, 1.3"} {
		s := shipped(t, "discovery-forward")
		left := s.LeaveOut(foreignCluster{gives: append(slices.Clone(everyHook), cluster.MeansAddress), runs: runs})
		upgrades := 0
		for i := range s.Steps {
			if s.Steps[i].Name() != "upgrade" {
				continue
			}
			upgrades++
			if why := left[i+1]; why != want {
				t.Errorf("with %s step %d is left out since %q", runs, i+1, why)
			}
		}
		if upgrades == 0 || want == "" && len(left) > 0 || want != "" && len(left) != upgrades {
			t.Errorf("with %s %d of %d steps are left out", runs, len(left), upgrades)
		}
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	address := cluster.MeansAddress
	for _, tc := range []struct {
		name  string
		gives []cluster.Means
		// left are the actions of the steps that are left out, and lacks what follows, beside
		// the machines.
		left, lacks string
	}{
		{"discovery-quick", nil, "2 registerAPI", "earlier processes etcd backends traffic peers emulation features balancer probes"},
		{"discovery-quick", []cluster.Means{address, cluster.MeansEtcd}, "", "earlier processes traffic peers emulation features balancer probes"},
		{"discovery-quick", []cluster.Means{address, cluster.MeansEtcd, cluster.MeansProcesses}, "", "earlier traffic peers emulation features balancer probes"},
		{"discovery", []cluster.Means{address}, "5 restart, 13 crash", "earlier processes etcd traffic peers emulation features balancer probes restarts"},
		{"discovery", []cluster.Means{address, cluster.HookKill}, "5 restart", "earlier processes etcd traffic peers emulation features balancer probes"},
		{"discovery", append(slices.Clone(everyHook), address), "", "earlier processes etcd traffic peers emulation features balancer probes"},
		{"discovery-upgrade", append(slices.Clone(everyHook), address), "", "earlier processes etcd traffic peers emulation features balancer probes"},
		{"discovery-upgrade", []cluster.Means{address}, "4 upgrade, 8 rollback, 11 upgrade, 13 upgrade, 15 upgrade", "earlier processes etcd traffic peers emulation features balancer probes restarts"},
		{"discovery-backends", append(slices.Clone(everyHook), address), "", "earlier processes etcd traffic peers emulation features balancer probes"},
		{"gates", append(slices.Clone(everyHook), address), "2 upgrade", "earlier processes etcd traffic peers emulation features balancer probes"},
	} {
		t.Run(tc.name+" "+fmt.Sprint(tc.gives), func(t *testing.T) {
			s, c := shipped(t, tc.name), foreignCluster{gives: tc.gives}
			leftOut := s.LeaveOut(c)
			var left []string
			for i := range s.Steps {
				action := s.Steps[i].Name()
				if why, is := leftOut[i+1]; is {
					left = append(left, fmt.Sprintf("%d %s", i+1, action))
					if why == "" {
						t.Errorf("step %d is left out for no reason", i+1)
					}
				}
			}
			if got := strings.Join(left, ", "); got != tc.left {
				t.Errorf("left out are %q, want %q", got, tc.left)
			}
			var lacks []string
			for _, lack := range s.Lacks(c, leftOut, false) {
				lacks = append(lacks, lack.What)
			}
			if got := strings.Join(lacks, " "); got != tc.lacks+" "+history.LackMachines {
				t.Errorf("it lacks %q, want %q", got, tc.lacks)
			}
		})
	}
	if left := shipped(t, "node-faults").LeaveOut(newFake()); left != nil {
		t.Errorf("of a cluster that goes with the run %v is left out", left)
	}
}

// A reason that several steps share is said once.
func TestLacks_SaysAReasonOnce(t *testing.T) {
	for _, tc := range []struct {
		name  string
		gives []cluster.Means
		want  string
	}{
		{"discovery-upgrade", []cluster.Means{cluster.MeansAddress},
			"steps 4 (upgrade), 11 (upgrade), 13 (upgrade) and 15 (upgrade) were left out, since there is no upgrade; step 8 (rollback) was left out, since there is no rollback"},
		{"discovery", []cluster.Means{cluster.MeansAddress}, "step 5 (restart) was left out, since there is no stop; step 13 (crash) was left out, since the fault apiserver-crash.yaml cannot be injected: there is no kill"},
		{"discovery", everyHook, ""},
	} {
		s, c := shipped(t, tc.name), foreignCluster{gives: tc.gives}
		got := ""
		for _, lack := range s.Lacks(c, s.LeaveOut(c), false) {
			if lack.What == history.LackRestarts {
				got = lack.Reason
			}
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// A new step must not be played on an external cluster by oversight: on a cluster without
// means a scenario only reads, and defines groups of its own.
func TestLeaveOut_ClusterWithoutMeansIsOnlyRead(t *testing.T) {
	files, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		s, err := LoadFS(fixtures.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		leftOut := s.LeaveOut(foreignCluster{})
		for i := range s.Steps {
			action, set := s.Steps[i].Name(), s.Steps[i].Action
			if _, left := leftOut[i+1]; !left && !isHarmless(set) {
				t.Errorf("%s: step %d (%s) would be played", file, i+1, action)
			}
		}
	}
}

// A run removes its objects, at whichever step it stops.
func TestCleanUp_RemovesAllObjectsFromAnExternalCluster(t *testing.T) {
	r, s, _ := onShelf(t, "tides")
	s.lag = 0
	r.Run = "run-1"
	r.cluster = foreignCluster{shelved: r.cluster.(shelved), gives: []cluster.Means{cluster.MeansAddress}}
	r.foreign = r.cluster.(cluster.ExternallyManaged)
	for i, step := range []Step{
		{Action: &RegisterAPI{Member: "@cp1", CRD: "buoys", Group: "sea.evenkeel.dev", Versions: []string{"v1"}}},
		{Action: &RegisterAPI{Member: "@cp3", Backend: "tides"}},
		{Action: &Churn{Members: []string{"@all"}, Rounds: 2}},
	} {
		if err := r.play(t.Context(), i+1, &step); err != nil {
			t.Fatal(err)
		}
	}
	there := func() (paths []string) {
		for path, object := range s.objects {
			if object["deleted"] != true {
				paths = append(paths, path)
			}
		}
		slices.Sort(paths)
		return paths
	}
	for _, want := range []string{"/api/v1/namespaces/evenkeel-run-1", "/api/v1/namespaces/evenkeel-run-1/services/evenkeel-tides", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/buoys.sea.evenkeel.dev"} {
		if !slices.Contains(there(), want) {
			t.Errorf("%s was not made: %v", want, there())
		}
	}
	// If the harness is killed the garbage collector removes them with their owner.
	const owner = "/apis/rbac.authorization.k8s.io/v1/clusterroles/evenkeel-run-1"
	for _, path := range there() {
		raw, err := json.Marshal(s.objects[path])
		if err != nil {
			t.Fatal(err)
		}
		if within := strings.HasPrefix(path, "/api/v1/namespaces/evenkeel-run-1/"); !within && path != owner && !strings.Contains(string(raw), `"kind":"ClusterRole","name":"evenkeel-run-1"`) {
			t.Errorf("%s has no owner: %s", path, raw)
		}
	}
	if !slices.Contains(there(), owner) {
		t.Errorf("the owner was not made: %v", there())
	}
	if err := r.cleanUp(t.Context()); err != nil || len(there()) != 0 {
		t.Errorf("%v is left (%v)", there(), err)
	}
}

// heir is an external cluster whose agents remove what a run has made if the harness is killed.
type heir struct {
	foreignCluster
	bequeaths bool
	// told are the namespaces that it was told of, each with what was there by then.
	told *[]string
	made func() []string
}

func (h heir) Bequeaths() bool { return h.bequeaths }

func (h heir) Bequeath(_ context.Context, namespace string, owner metav1.OwnerReference) error {
	*h.told = append(*h.told, fmt.Sprint(namespace, " ", owner.Name, " ", h.made()))
	return nil
}

// Whatever a run makes, also where the topology gives no leave for traffic: agents know what to
// remove before the first of it is there.
func TestOwner_IsBequeathedBeforeAnythingElseIsMade(t *testing.T) {
	for bequeaths, want := range map[bool][]string{
		true:  {"evenkeel-run-1 evenkeel-run-1 [/api/v1/namespaces/evenkeel-run-1 /apis/rbac.authorization.k8s.io/v1/clusterroles/evenkeel-run-1]"},
		false: nil,
	} {
		r, s, _ := onShelf(t)
		s.lag = 0
		r.Run = "run-1"
		var told []string
		c := heir{foreignCluster: foreignCluster{shelved: r.cluster.(shelved)}, bequeaths: bequeaths, told: &told, made: func() []string {
			s.mu.Lock()
			defer s.mu.Unlock()
			return slices.Sorted(maps.Keys(s.objects))
		}}
		r.cluster, r.foreign = c, c
		for i := range 2 {
			step := Step{Action: &RegisterAPI{Member: "@cp1", CRD: "buoys", Group: fmt.Sprintf("sea%d.evenkeel.dev", i), Versions: []string{"v1"}}}
			if err := r.play(t.Context(), i+1, &step); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(told, want) {
			t.Errorf("it was told %q, want %q", told, want)
		}
		if _, made := s.objects["/api/v1/namespaces/evenkeel-run-1"]; made != bequeaths {
			t.Errorf("the namespace was made: %t, want %t", made, bequeaths)
		}
		if err := r.cleanUp(t.Context()); err != nil {
			t.Error(err)
		}
		for path, object := range s.objects {
			if object["deleted"] != true {
				t.Errorf("%s is left", path)
			}
		}
	}
}

func TestWhatCannotBeCleanedUpIsTold(t *testing.T) {
	r, _, _ := onShelf(t)
	r.cluster = foreignCluster{shelved: shelved{newFake(), "http://127.0.0.1:1"}}
	r.foreign = r.cluster.(cluster.ExternallyManaged)
	if err := r.cleanUp(t.Context()); err != nil {
		t.Errorf("with nothing made: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		r.made.note(observe.Call{Group: crdGroup, Version: "v1", Resource: crdResource, Name: "buoys.sea.evenkeel.dev"})
	}
	err := r.cleanUp(ended)
	for _, want := range []string{"the run has left 1 objects in the cluster: customresourcedefinitions buoys.sea.evenkeel.dev;",
		"kubectl delete --ignore-not-found customresourcedefinitions.apiextensions.k8s.io buoys.sea.evenkeel.dev"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if len(r.made.objects) != 1 {
		t.Errorf("one object counts as %d", len(r.made.objects))
	}
}

func TestCheck_ExternalClusterGetsGroupsOfTheHarnessOnly(t *testing.T) {
	r, _, _ := onShelf(t)
	theirs := &RegisterAPI{Member: "@cp1", CRD: "widgets", Group: "example.com", Versions: []string{"v1"}}
	r.Scenario.Steps = []Step{{Action: theirs}}
	if err := r.check(); err != nil {
		t.Errorf("in a cluster of our own: %v", err)
	}
	r.foreign = foreignCluster{}
	if err := r.check(); err == nil || !strings.Contains(err.Error(), "the group example.com may belong to the users of the cluster") {
		t.Errorf("error %v", err)
	}
	theirs.Group = "lights.evenkeel.dev"
	if err := r.check(); err != nil {
		t.Error(err)
	}
}

func TestLeftOutStepsAreTold(t *testing.T) {
	r, _, h := onShelf(t)
	r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "@cp1"}}}}
	r.LeaveOut = map[int]string{1: "there is no hook"}
	for i := range r.Scenario.Steps {
		r.leaveOut(i + 1)
	}
	if got := h.told(); len(got) != 1 || got[0] != "1 stop "+string(history.PhaseSkipped)+" " {
		t.Errorf("told was %q", got)
	}
	if len(r.cluster.(shelved).calls) != 0 {
		t.Errorf("the cluster was asked for %v", r.cluster.(shelved).calls)
	}
}

// A step that is accompanied by a fault which cannot be injected is played without it: a member
// that was not upgraded would leave everything after it in another state.
func TestLeaveOut_NoStepForTheFaultThatGoesWithIt(t *testing.T) {
	s := shipped(t, "rolling-upgrade")
	r, _, h := onShelf(t)
	c := foreignCluster{shelved: r.cluster.(shelved), gives: append(slices.Clone(everyHook), cluster.MeansProcesses)}
	r.cluster, r.foreign, r.Scenario = c, c, s
	r.LeaveOut = s.LeaveOut(c)
	for i := range s.Steps {
		if s.Steps[i].Name() == "upgrade" && r.LeaveOut[i+1] != "" {
			t.Errorf("step %d is left out: %s", i+1, r.LeaveOut[i+1])
		}
		if len(faultsOf(s.Steps[i].Action)) == 1 && s.Steps[i].Name() == "upgrade" {
			if r.leaveOut(i + 1) {
				t.Errorf("step %d is not played", i+1)
			}
			if err := r.around(t.Context(), []string{"cp1"}, faultsOf(s.Steps[i].Action), func() error { return errors.New("played") }); err == nil || err.Error() != "played" {
				t.Errorf("step %d is played with %v", i+1, err)
			}
		}
	}
	if got := h.told(); len(got) != 1 || got[0] != "2 inject "+string(history.PhaseSkipped)+" " {
		t.Errorf("told was %q", got)
	}
}

// On a cluster that was there before, nothing that is judged by etcd or by processes counts at first, so that
// no step is played then. Where neither is seen there is nothing to wait for.
func TestOutlastBeginning(t *testing.T) {
	for name, tc := range map[string]struct {
		foreign cluster.ExternallyManaged
		want    time.Duration
	}{
		"one of our own": {nil, 0},
		"the API alone":  {foreignCluster{}, 0},
		"etcd":           {foreignCluster{gives: []cluster.Means{cluster.MeansEtcd}}, history.BeginningSettles},
		"the agent":      {foreignCluster{gives: []cluster.Means{cluster.MeansEtcd, cluster.MeansProcesses}}, history.BeginningSettles},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, began := newRunner(newFake(), newHistory()), time.Now()
				r.Clock, r.foreign = clock.RealClock{}, tc.foreign
				if err := r.outlastBeginning(t.Context()); err != nil || time.Since(began) != tc.want {
					t.Errorf("it waits for %v, want %v: %v", time.Since(began), tc.want, err)
				}
			})
		})
	}
}

func isHarmless(a Action) bool {
	one, ok := a.(observing)
	return ok && one.harmless()
}
