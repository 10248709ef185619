package external

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// leaving is a plane of two members that leaves faults to a Chaos Mesh.
func leaving(t *testing.T) *plane {
	t.Helper()
	p := newPlane(t, "cp1", "cp2")
	p.faults = &cluster.FaultEngine{Engine: cluster.EngineChaosMesh}
	p.put("chaos-mesh", "")
	return p
}

func TestChaosMesh_ClusterWithoutItIsRefused(t *testing.T) {
	p := newPlane(t, "cp1")
	p.faults = &cluster.FaultEngine{Engine: cluster.EngineChaosMesh}
	_, err := p.made(false)
	if err == nil || !strings.Contains(err.Error(), "member cp1 does not serve /apis/chaos-mesh.org/v1alpha1: install Chaos Mesh, or leave spec.external.faults out") {
		t.Errorf("error %v", err)
	}
}

func TestChaosMesh_IsTheEngineWhereTheTopologySaysSo(t *testing.T) {
	p := newPlane(t, "cp1")
	if cluster.LeavesFaults(p.up()) {
		t.Error("faults are left to Chaos Mesh")
	}
	p = leaving(t)
	p.faults.Namespace = "chaos"
	c := p.up()
	if namespace, ok := c.(cluster.ChaosMeshed).ChaosMesh(); !ok || namespace != "chaos" {
		t.Errorf("the namespace is %q (%v)", namespace, ok)
	}
}

// What Chaos Mesh ended has exited as expected, and another process is waited for.
func TestChaosMesh_StrikeThatHits(t *testing.T) {
	p := leaving(t)
	c := p.up()
	// A process that is replaced between two looks is noticed after nameAgain.
	c.(*external).bounds.effect = 10 * nameAgain
	hit, err := c.(cluster.ChaosMeshed).Strike(t.Context(), "cp1", cluster.APIServer, func(context.Context) error {
		p.put("cp1.start", "1800000000")
		return nil
	})
	if err != nil || !hit {
		t.Fatalf("hit: %v, error %v", hit, err)
	}
	if err := c.StartComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1", "cp1 exited 1 expected", "cp1 started 2"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

// Chaos Mesh that spoke to the API server that it ended does not know that it has, and would end
// the next process: what it was given to do ends as soon as the strike shows.
func TestChaosMesh_StrikeEndsWhenItShows(t *testing.T) {
	p := leaving(t)
	c := p.up()
	hit, err := c.(cluster.ChaosMeshed).Strike(t.Context(), "cp1", cluster.APIServer, func(ctx context.Context) error {
		p.put("cp1.start", "1800000000")
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil || !hit {
		t.Fatalf("hit: %v, error %v", hit, err)
	}
	// An error of its own is told.
	_, err = c.(cluster.ChaosMeshed).Strike(t.Context(), "cp2", cluster.APIServer, func(ctx context.Context) error {
		p.put("cp2.start", "1800000000")
		<-ctx.Done()
		return errors.New("no disk")
	})
	if err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("error %v", err)
	}
}

// Where the same process answers, nothing was hit: an exit later is a surprise again.
func TestChaosMesh_StrikeThatMisses(t *testing.T) {
	p := leaving(t)
	c := p.up()
	hit, err := c.(cluster.ChaosMeshed).Strike(t.Context(), "cp1", cluster.APIServer, func(context.Context) error { return nil })
	if err != nil || hit {
		t.Fatalf("hit: %v, error %v", hit, err)
	}
	p.put("cp1.start", "1800000000")
	wait(t, func() bool {
		process, _ := c.Process("cp1", cluster.APIServer)
		return process.StartTime == 180000000000
	})
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1", "cp1 exited 1", "cp1 started 2"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

func TestChaosMesh_StrikeNeedsLeaveAndAnAPIServer(t *testing.T) {
	p := leaving(t)
	c, err := p.made(true)
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	struck := false
	strike := func(context.Context) error { struck = true; return nil }
	if _, err := c.(cluster.ChaosMeshed).Strike(t.Context(), "cp1", cluster.APIServer, strike); err == nil || !strings.Contains(err.Error(), "--allow-disruption") {
		t.Errorf("error %v", err)
	}
	if _, err := c.(cluster.ChaosMeshed).Strike(t.Context(), "cp1", cluster.Etcd, strike); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	if struck {
		t.Error("it was struck")
	}
}

// With an agent on the node it is the agent that tells which process runs: one that does not end
// was not hit, and one that ends was to.
func TestChaosMesh_StrikeThatAnAgentSees(t *testing.T) {
	p := leaving(t)
	p.members = p.members[:1]
	n := p.withAgent(cluster.RungDisrupt)
	c := n.up()
	n.seenBy(cluster.APIServer, history.ProcessStarted, false)
	before, _ := c.Process("cp1", cluster.APIServer)
	hit, err := c.(cluster.ChaosMeshed).Strike(t.Context(), "cp1", cluster.APIServer, func(context.Context) error { return nil })
	if err != nil || hit {
		t.Fatalf("hit: %v, error %v", hit, err)
	}
	// An exit of what was spared is a surprise.
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	n.seenBy(cluster.APIServer, history.ProcessExited, false)
	wait(t, func() bool {
		now, runs := c.Process("cp1", cluster.APIServer)
		before, runs = now, runs && now != before
		return runs
	})
	hit, err = c.(cluster.ChaosMeshed).Strike(t.Context(), "cp1", cluster.APIServer, func(context.Context) error {
		return syscall.Kill(before.PID, syscall.SIGKILL)
	})
	if err != nil || !hit {
		t.Fatalf("hit: %v, error %v", hit, err)
	}
	n.seenBy(cluster.APIServer, history.ProcessExited, true)
}
