package external

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestUpgradeAndRollback(t *testing.T) {
	p := newPlane(t, "cp1")
	p.releases = []string{"v1.35.4", "v1.36.3"}
	const script = `echo "$EVENKEEL_HOOK $EVENKEEL_HOST $EVENKEEL_FROM $EVENKEEL_RELEASE" >> calls
n=$(cat n 2>/dev/null || echo 1800000000); echo $((n + 1)) > n
echo $EVENKEEL_RELEASE > cp1.version; cp n cp1.start`
	p.hook("upgrade", script).hook("rollback", script)
	c := p.up()
	replacer := c.(cluster.NodeUpgrader)
	for _, release := range []string{"v1.36.3", "v1.35.4"} {
		if err := replacer.Replace(t.Context(), "cp1", release); err != nil {
			t.Fatal(err)
		}
		if got := c.Release("cp1"); got != release {
			t.Errorf("it runs %s, want %s", got, release)
		}
	}
	if got, want := p.read("calls"), "upgrade node-cp1 v1.35.4 v1.36.3\nrollback node-cp1 v1.36.3 v1.35.4"; got != want {
		t.Errorf("hooks were told %q, want %q", got, want)
	}
	want := []string{"cp1 started 1", "cp1 exited 1 expected", "cp1 started 2", "cp1 exited 2 expected", "cp1 started 3"}
	if got := p.changes.of("cp1"); !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
	if err := replacer.Replace(t.Context(), "cp1", "v9"); err == nil || !strings.Contains(err.Error(), `there is no release "v9"`) {
		t.Errorf("error %v", err)
	}
}

// The word of a hook is not taken for what it says.
func TestUpgradeThatIsNone(t *testing.T) {
	p := newPlane(t, "cp1")
	p.releases = []string{"v1.35.4", "v1.36.3"}
	c := p.hook("upgrade", "echo 1800000000 > cp1.start").up()
	err := c.(cluster.NodeUpgrader).Replace(t.Context(), "cp1", "v1.36.3")
	if err == nil || !strings.Contains(err.Error(), "the hook upgrade has ended, and the API server says that it runs v1.35.4, not v1.36.3") {
		t.Errorf("error %v", err)
	}
}

func TestHookThatFails(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.hook("kill", `echo "one"; echo "the node is not there" >&2; exit 3`).hook("stop", "exit 1").hook("start", "true").up()
	err := c.Kill(t.Context(), "cp1", cluster.APIServer)
	for _, want := range []string{"cannot kill the apiserver of member cp1: the hook kill failed: exit status 3", "the node is not there"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := c.StopMember(t.Context(), "cp1"); err == nil || !strings.Contains(err.Error(), "it printed nothing") {
		t.Errorf("error %v", err)
	}
	log := p.read("logs/cp1-hooks.log")
	if !strings.Contains(log, "the hook kill apiserver") || !strings.Contains(log, "one\nthe node is not there") || strings.Contains(log, "exit 3") {
		t.Errorf("the log is\n%s", log)
	}
}

func TestHookThatTakesTooLong(t *testing.T) {
	p := newPlane(t, "cp1")
	p.hook("kill", `trap 'echo asked to end; exit 0' TERM; echo $$ > pid; sleep 60 & wait`)
	hook := p.hooks["kill"]
	// Long enough for a shell to set its trap on a busy machine.
	hook.Timeout = cluster.Duration(3 * time.Second)
	p.hooks["kill"] = hook
	c := p.up()
	begin := time.Now()
	err := c.Kill(t.Context(), "cp1", cluster.APIServer)
	if err == nil || !strings.Contains(err.Error(), "the hook kill failed: it took longer than 3s") || !strings.Contains(err.Error(), "asked to end") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(begin); took > hookGrace+10*time.Second {
		t.Errorf("it took %s", took)
	}
	pid := p.read("pid")
	if _, err := os.Stat(filepath.Join("/proc", pid)); pid == "" || err == nil {
		t.Errorf("the hook %q still runs", pid)
	}
}

func TestNothingIsDoneWithoutLeave(t *testing.T) {
	p := newPlane(t, "cp1")
	p.releases = []string{"v1.35.4", "v1.36.3"}
	for _, name := range []string{"upgrade", "rollback", "stop", "start", "kill", "pause", "resume", "cutOff", "reconnect", "powerOff", "powerOn"} {
		p.hook(name, "echo x >> done")
	}
	c, err := p.made(true)
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, err := range map[string]error{
		"replace": c.(cluster.NodeUpgrader).Replace(ctx, "cp1", "v1.36.3"),
		"stop":    c.StopMember(ctx, "cp1"), "stop a component": c.StopComponent(ctx, "cp1", cluster.APIServer),
		"start": c.StartMembers(ctx, map[string]string{"cp1": "v1.35.4"}), "start a component": c.StartComponent(ctx, "cp1", cluster.APIServer),
		"kill": c.Kill(ctx, "cp1", cluster.APIServer), "pause": c.Pause(ctx, "cp1", cluster.Whole), "resume": c.Resume(ctx, "cp1", cluster.Whole),
		"cut": c.SetLink(t.Context(), "cp1", cluster.LinkNode, cluster.Shape{Cut: true}), "off": c.PowerOff(ctx, "cp1"), "on": c.PowerOn(ctx, "cp1"),
	} {
		if err == nil || !strings.Contains(err.Error(), "--allow-disruption") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
	if done := p.read("done"); done != "" {
		t.Errorf("hooks were run: %s", done)
	}
}

func TestWhatHasNoHookIsUnsupported(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.up()
	ctx := t.Context()
	_, stats := c.LinkStats("cp1", cluster.LinkNode)
	_, faulty := c.ClientConfig("cp1", true)
	_, etcd := c.EtcdConfig("cp1")
	for name, err := range map[string]error{
		"stop": c.StopMember(ctx, "cp1"), "kill": c.Kill(ctx, "cp1", cluster.APIServer), "kill an etcd": c.Kill(ctx, "cp1", cluster.Etcd),
		"pause": c.Pause(ctx, "cp1", cluster.Whole), "cut": c.SetLink(t.Context(), "cp1", cluster.LinkNode, cluster.Shape{Cut: true}),
		"delay": c.SetLink(t.Context(), "cp1", cluster.LinkEtcd, cluster.Shape{Latency: time.Second}), "off": c.PowerOff(ctx, "cp1"),
		"another release": c.StartMembers(ctx, map[string]string{"cp1": "v9"}), "stats": stats, "faulty": faulty, "etcd": etcd,
	} {
		if !errors.Is(err, cluster.ErrUnsupported) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if why := c.(cluster.ExternallyManaged).Lacks("upgrade"); why != "the topology has no hook upgrade" {
		t.Errorf("it lacks: %s", why)
	}
	if why := c.(cluster.ExternallyManaged).Lacks(cluster.MeansEtcd); why != "the topology names no etcd of cp1 that may be read" {
		t.Errorf("it lacks: %s", why)
	}
}

// What was killed and comes back by itself is another process then, and expected.
func TestKillOfWhatComesBack(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.hook("kill", `echo $EVENKEEL_COMPONENT > killed; touch cp1.down; (sleep 0.6; echo 1800000000 > cp1.start; rm cp1.down) >/dev/null 2>&1 &`).up()
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := c.StartComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if got := p.read("killed"); got != "apiserver" {
		t.Errorf("the hook was told %q", got)
	}
	if process, runs := c.Process("cp1", cluster.APIServer); !runs || process.StartTime != 180000000000 {
		t.Errorf("the process is %+v (%v)", process, runs)
	}
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1", "cp1 exited 1 expected", "cp1 started 2"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

// An API server that no hook was to end has ended unexpectedly.
func TestRestartOutOfTheBlue(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.up()
	p.put("cp1.start", "1800000000")
	wait(t, func() bool {
		process, _ := c.Process("cp1", cluster.APIServer)
		return process.StartTime == 180000000000
	})
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1", "cp1 exited 1", "cp1 started 2"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

// An address that moves to another node when its own is down leads to a server that was
// never started: no crash is proved by that, and no return.
func TestAnAddressThatMoves(t *testing.T) {
	p := newPlane(t, "cp1", "cp2")
	c := p.hook("kill", `echo cp2 > cp1.moved`).up()
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	wait(t, func() bool { _, runs := c.Process("cp1", cluster.APIServer); return !runs })
	ctx, cancel := context.WithTimeout(t.Context(), 2*nameAgain)
	defer cancel()
	if err := c.StartComponent(ctx, "cp1", cluster.APIServer); err == nil {
		t.Error("the API server of cp2 counts as that of cp1, started again")
	}
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1", "cp1 exited 1"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

// A server that is silent for a while is no other one, and did not end.
func TestSilenceIsNoEnd(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.up()
	p.put("cp1.down", "")
	wait(t, func() bool { return p.deaf.Load() >= 6 })
	if err := os.Remove(filepath.Join(p.dir, "cp1.down")); err != nil {
		t.Fatal(err)
	}
	before := p.counter["cp1"].Load()
	wait(t, func() bool { return p.counter["cp1"].Load() > before }) // it was asked who it is
	if _, runs := c.Process("cp1", cluster.APIServer); !runs {
		t.Error("it counts as gone")
	}
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

// A hook that says that it has ended a process which answers again was wrong.
func TestTheUndead(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.hook("stop", "touch cp1.down").hook("start", "rm -f cp1.down").up()
	if err := c.StopMember(t.Context(), "cp1"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*lookSlow)
	defer cancel()
	if err := c.StartMembers(ctx, map[string]string{"cp1": "v1.35.4"}); err == nil {
		t.Error("the process of before counts as started")
	}
	want := []string{"cp1 started 1", "cp1 exited 1 expected", "cp1 exited 1"}
	wait(t, func() bool { return slices.Equal(p.changes.of("cp1"), want) })
}

func TestStopLeavesTheClusterAsItWas(t *testing.T) {
	p := newPlane(t, "cp1", "cp2", "cp3")
	p.hook("pause", "touch cp1.frozen").hook("resume", `rm -f cp1.frozen; echo "resume $EVENKEEL_MEMBER of $EVENKEEL_COMPONENT." >> done`).
		hook("cutOff", "true").hook("reconnect", `echo "reconnect $EVENKEEL_MEMBER" >> done`).
		hook("stop", "touch cp3.down").hook("start", `rm -f cp3.down; echo "start $EVENKEEL_MEMBER" >> done`)
	c := p.up()
	for _, err := range []error{
		c.Pause(t.Context(), "cp1", cluster.Whole), c.SetLink(t.Context(), "cp2", cluster.LinkNode, cluster.Shape{Cut: true}), c.StopMember(t.Context(), "cp3"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if paused, err := c.Paused("cp1", cluster.APIServer); err != nil || !paused {
		t.Errorf("paused: %v, %v", paused, err)
	}
	// A run that was interrupted stops its cluster with a context that has ended.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Stop(ended); err != nil {
		t.Error(err)
	}
	// All members are restored at the same time.
	done := strings.Split(p.read("done"), "\n")
	slices.Sort(done)
	if want := []string{"reconnect cp2", "resume cp1 of .", "start cp3"}; !slices.Equal(done, want) {
		t.Errorf("taken back was %q, want %q", done, want)
	}
	if err := c.Stop(t.Context()); err != nil || strings.Count(p.read("done"), "\n") != 2 {
		t.Errorf("the second time: %v, %q", err, p.read("done"))
	}
}

func TestLogsTellNoCredential(t *testing.T) {
	p := newPlane(t, "cp1")
	hook := cluster.Hook{Command: []string{"/bin/sh", "-c", "true", secret}}
	p.hooks["kill"] = hook
	c := p.up()
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if log := p.read("logs/cp1-hooks.log"); log == "" || strings.Contains(log, secret) {
		t.Errorf("the log is %q", log)
	}
}

// wait waits until something holds.
func wait(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came about")
		}
	}
}
