package driver

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

var update = flag.Bool("update", false, "write the golden command lines")

// theirs is a topology with a driver, of two members that have addresses.
func theirs(driver string, external cluster.External) *cluster.Topology {
	external.Driver = driver
	return &cluster.Topology{
		APIVersion: cluster.APIVersion, Kind: cluster.TopologyKind, Metadata: cluster.Metadata{Name: "theirs"}, File: "/theirs/theirs.yaml",
		Spec: cluster.Spec{Provider: "external", Distribution: cluster.ForeignDistribution, External: &external, Members: []cluster.MemberSpec{
			{Name: "cp1", External: &cluster.ExternalMember{Kubeconfig: cluster.Kubeconfig{File: "cp1"}, Address: "10.0.0.1"}},
			{Name: "cp2", External: &cluster.ExternalMember{Kubeconfig: cluster.Kubeconfig{File: "cp2"}, Address: "10.0.0.2"}},
			{Name: "cp3", External: &cluster.ExternalMember{Kubeconfig: cluster.Kubeconfig{File: "cp3"}, Address: "2001:db8::3"}},
		}},
	}
}

// cases are what the golden files have of each operation, by the names of the files.
var cases = []struct {
	name string
	Task
}{
	{"first", Task{First: true}},
	{"later", Task{}},
	{"apiserver", Task{Component: cluster.APIServer}},
}

// The command lines of every operation are those of the golden files, which were read beside the
// pages of the installer.
func TestOperations_HaveTheGoldenCommandLines(t *testing.T) {
	for _, d := range All() {
		for _, one := range d.Operations {
			var got strings.Builder
			last := ""
			for _, tc := range cases {
				task := tc.Task
				task.Topology, task.Node, task.Others, task.Release = theirs(d.Name, examples[d.Name]), "10.0.0.1", []string{"10.0.0.2", "2001:db8::3"}, "v1.36.3"+suffixes[d.Name]
				var lines strings.Builder
				for _, line := range one.Commands(task) {
					words := make([]string, len(line))
					for i, word := range line {
						words[i] = quotedIfNeeded(word)
					}
					lines.WriteString(strings.Join(words, " ") + "\n")
				}
				if lines.String() != last {
					got.WriteString("# " + tc.name + "\n" + lines.String())
				}
				last = lines.String()
			}
			file := filepath.Join("testdata", d.Name, one.Hook+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("%s %s: the command lines are\n%s\nwant those of %s\n%s", d.Name, one.Hook, got.String(), file, want)
			}
		}
	}
}

// examples are what topologies of each driver say of how nodes are reached, and suffixes are what
// the distribution's releases end in.
var (
	examples = map[string]cluster.External{
		"kubeadm": {SSH: &cluster.SSH{User: "admin", Port: 2222, IdentityFile: "id_ed25519", JumpHost: "bastion"}},
		"k3s":     {SSH: &cluster.SSH{User: "root"}},
		"talos":   {Talosctl: &cluster.Talosctl{Config: "talosconfig", Context: "prod", Images: "registry.example.com/kubernetes"}},
	}
	suffixes = map[string]string{"k3s": "+k3s1", "rke2": "+rke2r1"}
)

func quotedIfNeeded(word string) string {
	if strings.ContainsAny(word, " \n'\"$") {
		return quoted(word)
	}
	return word
}

// A shell understands each script, which is the last word of an ssh command.
func TestScripts_AreShell(t *testing.T) {
	for _, d := range All() {
		for _, one := range d.Operations {
			for _, component := range []cluster.Component{"", cluster.APIServer} {
				lines := one.Commands(Task{Topology: theirs(d.Name, cluster.External{}), Node: "n", Others: []string{"10.0.0.2"}, Component: component, Release: "v1.36.3"})
				for _, line := range lines {
					if line[0] != "ssh" {
						continue
					}
					outer := line[len(line)-1]
					if !strings.HasPrefix(outer, "sudo -n /bin/sh -ec '") {
						t.Fatalf("%s %s: the node gets %q", d.Name, one.Hook, outer)
					}
					inner, err := exec.Command("/bin/sh", "-c", "printf %s "+strings.TrimPrefix(outer, "sudo -n /bin/sh -ec ")).Output()
					if err != nil {
						t.Fatalf("%s %s: %v", d.Name, one.Hook, err)
					}
					check := exec.Command("/bin/sh", "-n")
					check.Stdin = strings.NewReader(string(inner))
					if said, err := check.CombinedOutput(); err != nil {
						t.Errorf("%s %s: %v: %s\n%s", d.Name, one.Hook, err, said, inner)
					}
				}
			}
		}
	}
}

// What a topology says of paths and contexts is one word of a command line, whatever is in it, and
// no part of a script.
func TestCommandLines_KeepOddWordsWhole(t *testing.T) {
	const folder, odd = "/their $(reboot) folder/o'neil", "an `odd`; \"word\" & 'more'"
	for _, d := range All() {
		topology := theirs(d.Name, cluster.External{
			SSH:      &cluster.SSH{User: "admin", IdentityFile: odd},
			Talosctl: &cluster.Talosctl{Config: odd, Context: odd, Images: "registry.example.com/k8s"},
		})
		topology.File = folder + "/theirs.yaml"
		for _, one := range d.Operations {
			for _, line := range one.Commands(Task{Topology: topology, Node: "n", Others: []string{"10.0.0.2"}, Release: "v1.36.3"}) {
				words, option := []string{folder + "/" + odd}, "-i"
				if line[0] == "talosctl" {
					words, option = append(words, odd), "--talosconfig"
				}
				at := slices.Index(line, option)
				if at < 0 || line[at+1] != words[0] || words[len(words)-1] == odd && line[slices.Index(line, "--context")+1] != odd {
					t.Errorf("%s %s: %q", d.Name, one.Hook, line)
				}
				if script := line[len(line)-1]; strings.Contains(script, "odd") || strings.Contains(script, "reboot)") {
					t.Errorf("%s %s: the script is %q", d.Name, one.Hook, script)
				}
			}
		}
	}
}

// Every hook is done by a driver, or the driver says why not.
func TestDrivers_AnswerForEveryHook(t *testing.T) {
	if len(All()) == 0 {
		t.Fatal("there is no driver")
	}
	for _, d := range All() {
		for _, hook := range cluster.Hooks() {
			_, does := d.Operation(hook)
			if why, lacks := d.Lacks[hook]; does == lacks || lacks && why == "" {
				t.Errorf("%s: %s is done: %v, and lacking: %v (%q)", d.Name, hook, does, lacks, why)
			}
		}
		if len(d.Operations)+len(d.Lacks) != len(cluster.Hooks()) {
			t.Errorf("%s has an operation for what is no hook", d.Name)
		}
		for _, one := range d.Operations {
			if one.Doc == "" || strings.HasSuffix(one.Doc, ".") {
				t.Errorf("%s %s is described by %q", d.Name, one.Hook, one.Doc)
			}
		}
		if d.Doc == "" || len(d.Sources) == 0 {
			t.Errorf("%s has no description or names no source", d.Name)
		}
	}
}

func TestLack_SaysWhy(t *testing.T) {
	for _, tc := range []struct {
		name, driver, hook string
		change             func(*cluster.Topology)
		want               string
	}{
		{"rollback", "kubeadm", cluster.HookRollback, nil, "the driver kubeadm has no rollback here: kubeadm upgrades a member, and has no way back"},
		{"upgrade", "kubeadm", cluster.HookUpgrade, nil, ""},
		{"strange release", "kubeadm", cluster.HookUpgrade, func(t *cluster.Topology) { t.Spec.External.Releases = []string{"v1.36.3; reboot"} }, "installs releases such as v1.36.3"},
		{"no release", "kubeadm", cluster.HookUpgrade, func(t *cluster.Topology) { t.Spec.External.Releases = nil }, "names none that it could install"},
		{"no release of k3s", "k3s", cluster.HookRollback, func(t *cluster.Topology) { t.Spec.External.Releases = nil }, "names none that it could install"},
		{"cut", "kubeadm", cluster.HookCutOff, nil, ""},
		{"cut without addresses", "kubeadm", cluster.HookCutOff, func(t *cluster.Topology) { t.Spec.Members[1].External.Address = "node-2" }, "no IP address of cp2"},
		{"cut of a single member", "kubeadm", cluster.HookCutOff, func(t *cluster.Topology) { t.Spec.Members = t.Spec.Members[:1] }, "there is no other member"},
		{"upgrade of k3s", "k3s", cluster.HookUpgrade, func(t *cluster.Topology) { t.Spec.External.Releases = []string{"v1.35.4+k3s1", "v1.36.3+k3s2"} }, ""},
		{"upgrade of k3s to what is no release of it", "k3s", cluster.HookUpgrade, nil, "installs releases such as v1.36.3+k3s1"},
		{"rollback of k3s within a minor version", "k3s", cluster.HookRollback, func(t *cluster.Topology) { t.Spec.External.Releases = []string{"v1.36.2+k3s1", "v1.36.3+k3s2"} }, ""},
		{"rollback of k3s", "k3s", cluster.HookRollback, func(t *cluster.Topology) { t.Spec.External.Releases = []string{"v1.35.4+k3s1", "v1.36.3+k3s2"} }, "with a snapshot of the datastore"},
		{"rollback of rke2 within a minor version", "rke2", cluster.HookRollback, func(t *cluster.Topology) { t.Spec.External.Releases = []string{"v1.36.2+rke2r1", "v1.36.3+rke2r2"} }, ""},
		{"rollback of rke2", "rke2", cluster.HookRollback, func(t *cluster.Topology) { t.Spec.External.Releases = []string{"v1.35.4+rke2r1", "v1.36.3+rke2r2"} }, "with a snapshot of the datastore"},
		{"upgrade of talos without a registry", "talos", cluster.HookUpgrade, nil, "names no registry of the components' images"},
		{"upgrade of talos", "talos", cluster.HookUpgrade, func(t *cluster.Topology) {
			t.Spec.External.Talosctl = &cluster.Talosctl{Images: "registry.example.com/"}
		}, ""},
		{"power of talos", "talos", cluster.HookPowerOff, nil, "is no power cut"},
		{"stop of talos without a way back", "talos", cluster.HookStop, nil, "takes a hook start of yours"},
		{"power without a way back", "kubeadm", cluster.HookPowerOff, nil, "takes a hook powerOn of yours"},
		{"power", "kubeadm", cluster.HookPowerOff, func(t *cluster.Topology) {
			t.Spec.External.Hooks = map[string]cluster.Hook{cluster.HookPowerOn: {Command: []string{"x"}}}
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			topology := theirs(tc.driver, cluster.External{Releases: []string{"v1.35.4", "v1.36.3"}})
			if tc.change != nil {
				tc.change(topology)
			}
			d, _ := Lookup(tc.driver)
			got := d.Lack(topology, tc.hook)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("it lacks %q, want %q", got, tc.want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	hook := map[string]cluster.Hook{cluster.HookPowerOff: {Command: []string{"x"}}}
	for _, tc := range []struct {
		name, driver string
		external     cluster.External
		want         string
	}{
		{"none", "kubeadm", cluster.External{SSH: &cluster.SSH{User: "admin", Port: 22}}, ""},
		{"unknown", "kops", cluster.External{}, `spec.external.driver "kops" is no driver; there are: `},
		{"a key of another driver", "kubeadm", cluster.External{Talosctl: &cluster.Talosctl{Config: "x"}}, "there is no parameter talosctl.config"},
		{"a hook whose way back nothing has", "kubeadm", cluster.External{Hooks: hook}, "spec.external.hooks.powerOff needs the hook powerOn"},
		{"a hook whose way back the driver has", "kubeadm", cluster.External{Hooks: map[string]cluster.Hook{cluster.HookStop: {Command: []string{"x"}}}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Problems(theirs(tc.driver, tc.external))
			if (len(got) == 0) != (tc.want == "") || tc.want != "" && !slices.ContainsFunc(got, func(one string) bool { return strings.Contains(one, tc.want) }) {
				t.Errorf("problems %q, want %q", got, tc.want)
			}
		})
	}
}

func TestReference_DescribesEveryDriver(t *testing.T) {
	all := Reference()
	for _, d := range All() {
		one, ok := ReferenceOf(d.Name)
		if !ok || !strings.Contains(all, one) || !strings.Contains(one, "`"+cluster.HookStop+"`") {
			t.Errorf("the reference of %s is %q", d.Name, one)
		}
	}
	if _, ok := ReferenceOf("kops"); ok {
		t.Error("there is a reference of a driver that there is not")
	}
}
