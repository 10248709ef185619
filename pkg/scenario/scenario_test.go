package scenario

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestShippedScenariosAreValid(t *testing.T) {
	files, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		s, err := LoadFS(fixtures.Files, file)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := "scenarios/" + s.Metadata.Name + ".yaml"; want != file || s.Description == "" || len(s.Judges) == 0 || s.CRD == nil {
			t.Errorf("%s: is named %q and judges %v", file, s.Metadata.Name, s.Judges)
		}
	}
	fromDisk, err := Load("../../fixtures/scenarios/upgrade-rollback-crash.yaml")
	if err != nil || len(fromDisk.Faults) != 3 || len(fromDisk.Workloads) != 4 {
		t.Errorf("%v %v", fromDisk, err)
	}
}

const head = "apiVersion: evenkeel.dev/v1alpha1\nkind: Scenario\nmetadata: {name: x}\n" // three lines

func TestMistakesAreNamedByLine(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"unknown key at the top", head + "stepz: []\n", `s/x.yaml:4: unknown key "stepz"`},
		{"unknown key in a step", head + "steps:\n- hold: {name: a, for: 1s}\n- hold:\n    name: b\n    fro: 1s\n", `s/x.yaml:8: unknown key "fro"`},
		{"unknown action", head + "steps:\n- explode: {}\n", `s/x.yaml:5: unknown key "explode"`},
		{"no steps", head, "no steps"},
		{"other kind", strings.Replace(head, "Scenario", "Topology", 1) + "steps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:2: is a \"Topology\""},
		{"two actions", head + "steps:\n- hold: {name: a, for: 1s}\n  stop: {member: a}\n", "s/x.yaml:5: step 1 (stop): has more than one action"},
		{"empty step", head + "steps:\n- {}\n", "s/x.yaml:5: step 1 (no action)"},
		{"hold without length", head + "steps:\n- hold: {name: a}\n", "must be a positive duration"},
		{"same hold twice", head + "steps:\n- hold: {name: a, for: 1s}\n- hold: {name: a, for: 1s}\n", "s/x.yaml:6: step 2 (hold): the name \"a\" is taken"},
		{"no duration", head + "steps:\n- hold: {name: a, for: soon}\n", "s/x.yaml:5"},
		{"upgrade to nothing", head + "steps:\n- upgrade: {member: cp1}\n", "to is missing"},
		{"no such fault", head + "steps:\n- crash: {member: cp1, fault: f.yaml}\n", "s/x.yaml:5: read the fault faults/f.yaml: file does not exist"},
		{"no such workload", head + "traffic:\n  workloads: [w.yaml]\nsteps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:5: read the workload workloads/w.yaml"},
		{"no such component", head + "steps:\n- stop: {member: cp1, component: kubelet}\n", "no component \"kubelet\""},
		{"no requirement", head + "judges: [SV-1]\nsteps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:4: \"SV-1\" is no ID"},
		{"peers without discovery.record", head + "discovery: {peers: true}\nsteps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:4: discovery.peers needs discovery.record"},
		{"peers and what is judged without", head + "judges: [AD-23, AD-25]\ndiscovery: {record: true, peers: true}\nsteps:\n- hold: {name: a, for: 1s}\n",
			"s/x.yaml:5: with discovery.peers a scenario can judge AD-23 and AD-24 only: AD-25 takes"},
		{"traffic of more than all", head + "traffic:\n  share: 1.5\n  workloads: []\nsteps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:5: traffic.share must be above 0 and at most 1"},
		{"traffic of no number", head + "traffic:\n  share: .nan\n  workloads: []\nsteps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:5: .nan, where a finite number is needed"},
		{"traffic of nothing", head + "traffic:\n  share: 0\n  workloads: []\nsteps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:5: traffic.share must be above 0 and at most 1"},
		{"a switch of no value", head + "leaderElection:\n  releaseOnExit: always\nsteps:\n- hold: {name: a, for: 1s}\n", "s/x.yaml:5: leaderElection.releaseOnExit is \"always\": write on or off"},
		{"power cut without length", head + "steps:\n- powerCycle: {member: cp1}\n", "step 1 (powerCycle): offFor must be a positive duration"},
		{"downFor of a pause", head + "steps:\n- pause: {member: cp1, fault: f.yaml, downFor: 1s}\n", "unknown key \"downFor\""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := LoadFS(fstest.MapFS{"s/x.yaml": {Data: []byte(test.in)}}, "s/x.yaml")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v\nwant one with %s", err, test.want)
			}
		})
	}
	if _, err := Load("nowhere/x.yaml"); err == nil || !strings.Contains(err.Error(), "nowhere/x.yaml") {
		t.Errorf("a missing file: %v", err)
	}
}

const (
	podFault = "apiVersion: chaos-mesh.org/v1alpha1\nkind: PodChaos\nmetadata: {name: f}\nspec:\n  mode: one\n" +
		"  selector: {labelSelectors: {component: kube-apiserver, evenkeel.dev/member: \"@member\"}}\n"
	crashFault = podFault + "  action: container-kill\n  containerNames: [kube-apiserver]\n"
	pauseFault = podFault + "  action: pod-failure\n"
	cutFault   = "apiVersion: chaos-mesh.org/v1alpha1\nkind: NetworkChaos\nmetadata: {name: f}\nspec:\n  mode: all\n" +
		"  selector: {labelSelectors: {evenkeel.dev/member: \"@member\"}}\n  action: partition\n  direction: to\n"
)

func TestStepsFitTheirFaults(t *testing.T) {
	for _, test := range []struct{ name, step, fault, want string }{
		{"crash", "crash: {member: cp1, fault: f.yaml}", crashFault, ""},
		{"pause", "pause: {member: cp1, fault: f.yaml}", pauseFault + "  duration: 1s\n", ""},
		{"partition", "partition: {member: cp1, fault: f.yaml}", cutFault + "  duration: 1s\n", ""},
		{"partition until healed", "inject: {member: cp1, fault: f.yaml}", cutFault, ""},
		{"partition for no time", "partition: {member: cp1, fault: f.yaml}", cutFault, "the partition would be over at once"},
		{"partition by a pause", "partition: {member: cp1, fault: f.yaml}", pauseFault + "  duration: 1s\n", "cuts no link"},
		{"pause by a partition", "pause: {member: cp1, fault: f.yaml}", cutFault + "  duration: 1s\n", "freezes no process"},
		{"pause until healed", "inject: {member: cp1, fault: f.yaml}", pauseFault, ""},
		{"heal everywhere", "heal: {fault: f.yaml}", crashFault, ""},
		{"fixed member", "crash: {fault: f.yaml}", strings.Replace(crashFault, "@member", "@leader", 1), ""},
		{"crash by a pause", "crash: {member: cp1, fault: f.yaml}", pauseFault, "kills no process"},
		{"pause by a crash", "pause: {member: cp1, fault: f.yaml}", crashFault, "freezes no process"},
		{"pause for no time", "pause: {member: cp1, fault: f.yaml}", pauseFault, "would be over at once"},
		{"duration without effect", "inject: {member: cp1, fault: f.yaml}", pauseFault + "  duration: 1s\n", "leave the duration out"},
		{"crash during an upgrade", "upgrade: {member: cp1, to: \"@next\", withFaults: [f.yaml]}", crashFault, "stops and starts"},
		{"no member", "crash: {fault: f.yaml}", crashFault, "which names none"},
		{"two members", "crash: {member: cp1, fault: f.yaml}", strings.Replace(crashFault, "@member", "@leader", 1), "must not name one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := LoadFS(fstest.MapFS{
				"s/x.yaml":      {Data: []byte(head + "steps:\n- " + test.step + "\n")},
				"faults/f.yaml": {Data: []byte(test.fault)},
			}, "s/x.yaml")
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "s/x.yaml:5")) {
				t.Errorf("error %v\nwant one with %q", err, test.want)
			}
		})
	}
}

func TestSelectors(t *testing.T) {
	members := []string{"cp1", "cp2", "cp3"}
	leader := func() (string, error) { return "cp2", nil }
	for selector, want := range map[string]string{
		"@cp1": "cp1", "@cp3": "cp3", "cp2": "cp2", "@all": "cp1 cp2 cp3", "@leader": "cp2", "@followers": "cp1 cp3",
		"@cp4": "!only 3 members", "@cp0": "!no selector", "@cpx": "!no selector", "cp9": "!selects no member",
	} {
		got, err := selectMembers(selector, members, leader)
		if wrong, isError := strings.CutPrefix(want, "!"); isError {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: error %v, want one with %q", selector, err, wrong)
			}
		} else if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s selects %v (%v), want %s", selector, got, err, want)
		}
	}
	none := func() (string, error) { return "", errors.New("there is no leader") }
	if _, err := selectMembers("@leader", members, none); err == nil {
		t.Error("a leader was found where there is none")
	}
	if _, err := selectMembers("@followers", []string{"cp2"}, leader); err == nil {
		t.Error("a follower was found where there is none")
	}
}

func TestReleases(t *testing.T) {
	releases := []string{"1.1", "1.2", "1.3"}
	for _, test := range []struct{ name, current, want string }{
		{"1.3", "1.1", "1.3"}, {"@next", "1.1", "1.2"}, {"@previous", "1.2", "1.1"}, {"@start", "1.3", "1.2"},
		{"@start+1", "1.1", "1.3"}, {"@start+1", "1.3", "1.3"},
		{"@oldest", "1.3", "1.1"}, {"@newest", "1.1", "1.3"},
		{"@next", "1.3", ""}, {"@previous", "1.1", ""}, {"9.9", "1.1", ""}, {"@next", "0.1", ""}, {"@start+2", "1.1", ""},
	} {
		got, err := releaseFor(test.name, test.current, "1.2", releases)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s from %s gives %q, %v", test.name, test.current, got, err)
		}
	}
	if !slices.IsSorted(releases) {
		t.Error("the releases were changed")
	}
}

func TestMemberOfAHolder(t *testing.T) {
	members := []cluster.Member{
		{Name: "cp1", Host: "x-control-plane"}, {Name: "cp2", Host: "x-control-plane2"}, {Name: "cp3", Host: "x-control-plane3"}, {Name: "bare"},
	}
	for _, tc := range []struct{ holder, want string }{
		{"x-control-plane_6f1c", "cp1"},
		{"x-control-plane2_6f1c", "cp2"},
		{"x-control-plane3", "cp3"},
		{"x-control-plane22_6f1c", ""},
		{"x-control_plane", ""},
		{"cp1_6f1c", ""},
		{"_6f1c", ""},
		{"", ""},
	} {
		if got, ok := memberOf(tc.holder, members); got != tc.want || ok != (tc.want != "") {
			t.Errorf("the holder %q is taken for %q, want %q", tc.holder, got, tc.want)
		}
	}
}

func TestShareOfTheTraffic(t *testing.T) {
	rates := func(share string) (float64, float64) {
		t.Helper()
		files := fstest.MapFS{
			"s/x.yaml":         {Data: []byte(head + "traffic:\n  workloads: [w.yaml]\n" + share + "steps:\n- populate: {name: p, workloads: [w.yaml], count: 1}\n")},
			"workloads/w.yaml": {Data: []byte("apiVersion: evenkeel.dev/v1alpha1\nkind: Workload\nmetadata: {name: w}\nspec: {resource: a, kind: A, rate: 10, readRate: 4, keep: 1, versions: {v1: [{}]}}\n")},
		}
		s, err := LoadFS(files, "s/x.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if populated := s.Populations["w.yaml"].Spec; populated.Rate != 10 {
			t.Errorf("what is populated has the rate %v", populated.Rate)
		}
		return s.Workloads[0].Spec.Rate, s.Workloads[0].Spec.ReadRate
	}
	if writes, reads := rates(""); writes != 10 || reads != 4 {
		t.Errorf("left out: %v writes and %v reads", writes, reads)
	}
	if writes, reads := rates("  share: 0.25\n"); writes != 2.5 || reads != 1 {
		t.Errorf("a quarter: %v writes and %v reads", writes, reads)
	}
}
