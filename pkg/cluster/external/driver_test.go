package external

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// The first member that gets a release is taken there by `kubeadm upgrade apply`, the others by
// `kubeadm upgrade node`: the stand-in refuses anything else, as the real one does.
func TestDriver_KubeadmUpgradesMembers(t *testing.T) {
	p := newPlane(t, "cp1", "cp2")
	p.releases = []string{"v1.35.4", "v1.36.3"}
	c := p.nodes("kubeadm").up()
	for _, name := range []string{"cp1", "cp2"} {
		if err := c.(cluster.NodeUpgrader).Replace(t.Context(), name, "v1.36.3"); err != nil {
			t.Fatal(err)
		}
		if got := c.Release(name); got != "v1.36.3" {
			t.Errorf("%s runs %s", name, got)
		}
		if got, want := p.changes.of(name), []string{name + " started 1", name + " exited 1 expected", name + " started 2"}; !slices.Equal(got, want) {
			t.Errorf("the observer was told %q, want %q", got, want)
		}
	}
	err := c.(cluster.NodeUpgrader).Replace(t.Context(), "cp1", "v1.35.4")
	if !errors.Is(err, cluster.ErrUnsupported) || !strings.Contains(err.Error(), "the driver kubeadm has no rollback here: kubeadm upgrades a member, and has no way back to an older release") {
		t.Errorf("error %v", err)
	}
	want := "-o BatchMode=yes -o ConnectTimeout=10 -o ControlMaster=no -o ControlPath=none -o ServerAliveInterval=5 -o ServerAliveCountMax=3 -p 2222 -l admin -- node-cp1 sudo -n"
	if log := p.sshLog(); len(log) != 2 || !strings.HasPrefix(log[0], want) {
		t.Errorf("ssh was called with %q, want %q and one more", log, want)
	}
}

// K3s and RKE2 go to the next patch release and back by their install scripts. That of K3s loses
// how the server was set up, which the driver keeps.
func TestDriver_InstallScriptsReplaceReleases(t *testing.T) {
	for driver, releases := range map[string][]string{
		"k3s":  {"v1.36.2+k3s1", "v1.36.3+k3s1"},
		"rke2": {"v1.36.2+rke2r1", "v1.36.3+rke2r1"},
	} {
		t.Run(driver, func(t *testing.T) {
			p := newPlane(t, "cp1")
			p.releases = releases
			c := p.nodes(driver).up()
			for _, release := range []string{releases[1], releases[0]} {
				if err := c.(cluster.NodeUpgrader).Replace(t.Context(), "cp1", release); err != nil {
					t.Fatal(err)
				}
				if got := c.Release("cp1"); got != release {
					t.Errorf("it runs %s, want %s", got, release)
				}
			}
			if got := p.read("node-cp1/etc/systemd/system/k3s.service"); got != "server --cluster-init" {
				t.Errorf("the unit is %q", got)
			}
		})
	}
}

func TestDriver_InstallScriptThatFailsIsAnErrorAndKeepsTheUnit(t *testing.T) {
	p := newPlane(t, "cp1")
	p.releases = []string{"v1.36.2+k3s1", "v1.36.3+k3s1"}
	c := p.nodes("k3s").up()
	p.put("node-cp1/no-download", "")
	err := c.(cluster.NodeUpgrader).Replace(t.Context(), "cp1", "v1.36.3+k3s1")
	if err == nil || !strings.Contains(err.Error(), "the upgrade of the driver k3s failed: exit status 1") {
		t.Errorf("error %v", err)
	}
	if got := p.read("node-cp1/etc/systemd/system/k3s.service"); got != "server --cluster-init" || c.Release("cp1") != "v1.36.2+k3s1" {
		t.Errorf("the unit is %q, and the release %s", got, c.Release("cp1"))
	}
}

// What systemd runs is stopped, started, killed and frozen.
func TestDriver_ServicesAreOperated(t *testing.T) {
	for _, driver := range []string{"k3s", "rke2"} {
		t.Run(driver, func(t *testing.T) {
			p := newPlane(t, "cp1").nodes(driver)
			c := p.up()
			ctx := t.Context()
			for _, step := range []struct {
				name string
				do   func() error
			}{
				{"stop", func() error { return c.StopComponent(ctx, "cp1", cluster.APIServer) }},
				{"start", func() error { return c.StartComponent(ctx, "cp1", cluster.APIServer) }},
				{"kill", func() error { return c.Kill(ctx, "cp1", cluster.APIServer) }},
				{"start after the kill", func() error { return c.StartComponent(ctx, "cp1", cluster.APIServer) }},
				{"pause", func() error { return c.Pause(ctx, "cp1", cluster.APIServer) }},
				{"resume", func() error { return c.Resume(ctx, "cp1", cluster.APIServer) }},
			} {
				if err := step.do(); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
			}
			want := []string{"cp1 started 1", "cp1 exited 1 expected", "cp1 started 2", "cp1 exited 2 expected", "cp1 started 3", "cp1 paused 3", "cp1 resumed 3"}
			if got := p.changes.of("cp1"); !slices.Equal(got, want) {
				t.Errorf("the observer was told %q, want %q", got, want)
			}
		})
	}
}

// Talos is upgraded component by component at one member, and rebooted. It stops no single
// component, and says so before anything is done.
func TestDriver_TalosByTalosctl(t *testing.T) {
	p := newPlane(t, "cp1")
	p.releases = []string{"v1.35.4", "v1.36.3"}
	c := p.nodes("talos").up()
	if err := c.(cluster.NodeUpgrader).Replace(t.Context(), "cp1", "v1.36.3"); err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := c.StartComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	foreign := c.(cluster.ExternallyManaged)
	for means, want := range map[cluster.Means]string{
		cluster.MeansStopComponent: "the driver talos has no stop here: talosctl cannot start a node that it has shut down",
		cluster.HookPowerOff:       "is no power cut",
		cluster.HookPause:          "a Talos node has no shell",
	} {
		if why := foreign.Lacks(means); !strings.Contains(why, want) {
			t.Errorf("of %s it lacks %q, want %q", means, why, want)
		}
	}
	log := strings.Split(p.read("talosctl.log"), "\n")
	want := "--endpoints node-cp1 --nodes node-cp1 patch machineconfig --mode=no-reboot --patch {\"cluster\":{\"apiServer\":{\"image\":\"registry.example.com/kubernetes/kube-apiserver:v1.36.3\"}}}"
	if len(log) != 4 || log[0] != want || log[3] != "--endpoints node-cp1 --nodes node-cp1 reboot --mode force --wait=false" {
		t.Errorf("talosctl was called with %q", log)
	}
}

// With a hook that starts a node, Talos stops whole members, and components not at all.
func TestDriver_TalosStopsWholeMembersWithAHook(t *testing.T) {
	p := newPlane(t, "cp1").nodes("talos")
	p.hook("start", "rm node-cp1/kubelet-off")
	c := p.up()
	if why := c.(cluster.ExternallyManaged).Lacks(cluster.HookStop); why != "" {
		t.Errorf("it lacks: %s", why)
	}
	if why := c.(cluster.ExternallyManaged).Lacks(cluster.MeansStopComponent); !strings.Contains(why, "the driver talos stops whole members only: talosctl shuts down a node") {
		t.Errorf("it lacks %q", why)
	}
	if err := c.StopComponent(t.Context(), "cp1", cluster.APIServer); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	if err := c.StopMember(t.Context(), "cp1"); err != nil {
		t.Fatal(err)
	}
	if err := c.StartMembers(t.Context(), map[string]string{"cp1": "v1.35.4"}); err != nil {
		t.Fatal(err)
	}
}

func TestDriver_KubeadmStopsAndStarts(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	ctx := t.Context()
	if err := c.StopComponent(ctx, "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if _, runs := c.Process("cp1", cluster.APIServer); runs || !p.there("node-cp1/etc/kubernetes/evenkeel-away/kube-apiserver.yaml") {
		t.Errorf("it runs: %v", runs)
	}
	if err := c.StartMembers(ctx, map[string]string{"cp1": "v1.35.4"}); err != nil {
		t.Fatal(err)
	}
	if _, runs := c.Process("cp1", cluster.APIServer); !runs || p.there("node-cp1/etc/kubernetes/evenkeel-away/kube-apiserver.yaml") {
		t.Errorf("it runs: %v", runs)
	}
}

// What a run leaves stopped is started again as it ends.
func TestDriver_StopOfARunStartsMembers(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	if err := c.StopMember(t.Context(), "cp1"); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !p.there("node-cp1/etc/kubernetes/manifests/kube-apiserver.yaml") {
		t.Error("the manifest was not moved back")
	}
}

func TestDriver_KubeadmKills(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	before, _ := c.Process("cp1", cluster.APIServer)
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := c.StartComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if now, runs := c.Process("cp1", cluster.APIServer); !runs || now == before {
		t.Errorf("the process is %+v (%v), and was %+v", now, runs, before)
	}
}

func TestDriver_KubeadmPauses(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	if err := c.Pause(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if !p.there("cp1.frozen") {
		t.Error("it is not frozen")
	}
	if err := c.Resume(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1", "cp1 paused 1", "cp1 resumed 1"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

// A pause of the whole member that shows no effect is an error, and is taken back: the exit status
// of ssh is no proof.
func TestDriver_PauseWithoutEffectIsAnError(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	p.put("node-cp1/sys/fs/cgroup/kubepods.slice/cgroup.freeze", "0")
	c := p.up()
	// Long enough for an answer on a busy machine.
	c.(*external).bounds = bounds{effect: 4 * time.Second, silence: 3 * time.Second}
	err := c.Pause(t.Context(), "cp1", cluster.Whole)
	if err == nil || !strings.Contains(err.Error(), "the pause of the driver kubeadm has ended, and the API server still answers") {
		t.Errorf("error %v", err)
	}
	if got := p.read("node-cp1/sys/fs/cgroup/kubepods.slice/cgroup.freeze"); got != "0" {
		t.Errorf("the cgroup is left frozen: %s", got)
	}
}

func TestDriver_UnreachableNodeIsAnError(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	p.put("node-cp1/unreachable", "")
	c := p.up()
	err := c.Kill(t.Context(), "cp1", cluster.APIServer)
	for _, want := range []string{"the kill of the driver kubeadm failed: exit status 255", "Connection refused"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := c.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "do by hand at node-cp1 what `evenkeel drivers kubeadm` says of start") {
		t.Errorf("error %v", err)
	}
}

// A hook overrides one operation of the driver, and no other.
func TestDriver_HookOverridesOneOperation(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	p.hook("kill", `kill -KILL $(cat node-cp1/run/kube-apiserver); echo $EVENKEEL_HOOK >> calls`)
	c := p.up()
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	usedSSH := p.there("ssh.log")
	if err := c.StartComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if got := p.read("calls"); got != "kill" || usedSSH {
		t.Errorf("the hook was called %q, and ssh was used for it: %v", got, usedSSH)
	}
	if why := c.(cluster.ExternallyManaged).Lacks(cluster.MeansStopComponent); why != "" {
		t.Errorf("it lacks: %s", why)
	}
}

func TestDriver_NothingIsDoneWithoutLeave(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c, err := p.made(true)
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err == nil || !strings.Contains(err.Error(), "--allow-disruption") || p.there("ssh.log") {
		t.Errorf("error %v; ssh was used: %v", err, p.there("ssh.log"))
	}
}

func TestTopologyProblems_AreThoseOfTheDriver(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	topology := p.topology()
	topology.Spec.External.Driver = "kops"
	if got := (Provider{}).TopologyProblems(topology); len(got) != 1 || !strings.Contains(got[0], `"kops" is no driver`) {
		t.Errorf("problems %q", got)
	}
}
