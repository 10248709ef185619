package fault

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/chaosmesh"
	"github.com/evenkeel/evenkeel/pkg/chaosmesh/chaosmeshtest"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// meshed is an external cluster of two members that leaves faults to Chaos Mesh.
type meshed struct {
	unseenPlane
	mesh    *chaosmeshtest.Mesh
	through []string // the members through whose API server Chaos Mesh was asked
	off     bool     // faults are not left to it
}

func (m *meshed) Members() []cluster.Member {
	servers := []cluster.Component{cluster.APIServer}
	return []cluster.Member{{Name: "cp1", Host: "node-1", Components: servers}, {Name: "cp2", Host: "node-2", Components: servers}}
}

func (m *meshed) ChaosMesh() (string, bool) { return chaosmeshtest.Namespace, !m.off }
func (m *meshed) Lacks(cluster.Means) string {
	return "the topology has no hook"
}

// Config is that by which objects of the run are made; the cluster gives no other here.
func (m *meshed) Config(member string) (*rest.Config, error) {
	m.through = append(m.through, member)
	return m.mesh.Config(), nil
}

func (m *meshed) Strike(ctx context.Context, _ string, _ cluster.Component, do func(context.Context) error) (bool, error) {
	before := m.process
	err := do(ctx)
	return m.process != before, err
}

func newMeshed(t *testing.T) *meshed {
	t.Helper()
	m := &meshed{unseenPlane: unseenPlane{&plane{process: cluster.Process{StartTime: 5}, running: true, sameProcess: true}}, mesh: chaosmeshtest.Start(t)}
	return m
}

// struck has the API server be another process, as after a crash.
func (m *meshed) struck(runtime.Object) error { m.process.StartTime++; return nil }

func (m *meshed) inject(t *testing.T, fault *Fault) *events {
	t.Helper()
	recorded := new(events)
	active, err := NewExecutor(m, m, recorded, clock.RealClock{}).Inject(t.Context(), fault, "cp1")
	if err != nil {
		t.Fatal(err)
	}
	if err := active.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.mesh.Left() != 0 {
		t.Errorf("%d objects are left", m.mesh.Left())
	}
	return recorded
}

// said are the proofs and notes of what was recorded.
func (e *events) said() (proofs, notes string) {
	for _, ev := range *e {
		if ev.Fault != nil {
			proofs, notes = proofs+ev.Fault.Proof, notes+ev.Fault.Note
		}
	}
	return proofs, notes
}

func shipped(t *testing.T, name string) *Fault {
	t.Helper()
	raw, err := fixtures.Files.ReadFile("faults/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	fault, err := Parse(name, raw)
	if err != nil {
		t.Fatal(err)
	}
	return fault
}

// The fault that ships kills an API server through Chaos Mesh: at the node of the member, asked
// through another member.
func TestMesh_KillsAnAPIServer(t *testing.T) {
	m := newMeshed(t)
	m.mesh.Inject = m.struck
	proofs, notes := m.inject(t, shipped(t, "apiserver-crash")).said()
	if !strings.Contains(proofs, "apiserver of cp1 is another process now") || notes != "" {
		t.Errorf("proofs %q, notes %q", proofs, notes)
	}
	given := m.mesh.Given()[0].(*chaos.PodChaos)
	selector := given.Spec.Selector
	if given.Name != "evenkeel-apiserver-crash-1" || len(selector.Nodes) != 1 || selector.Nodes[0] != "node-1" ||
		len(selector.LabelSelectors) != 1 || selector.LabelSelectors["component"] != "kube-apiserver" || given.Spec.ContainerNames[0] != "kube-apiserver" {
		t.Errorf("Chaos Mesh was given %+v", given)
	}
	if len(m.through) != 1 || m.through[0] != "cp2" {
		t.Errorf("it was asked through %v", m.through)
	}
}

// What has struck is taken away at once: Chaos Mesh that could not note it would strike again.
func TestMesh_WhatHasStruckIsTakenAway(t *testing.T) {
	m := newMeshed(t)
	m.mesh.Inject = m.struck
	m.process.PID = 7 // which an agent sees
	recorded := new(events)
	active, err := NewExecutor(m, m, recorded, clock.RealClock{}).Inject(t.Context(), shipped(t, "apiserver-crash"), "cp1")
	if err != nil {
		t.Fatal(err)
	}
	if left := m.mesh.Left(); left != 0 {
		t.Errorf("%d objects are left after the strike", left)
	}
	if proofs, _ := recorded.said(); !strings.Contains(proofs, "the process of apiserver at cp1 is gone") {
		t.Errorf("after the strike the proofs are %q", proofs)
	}
	if err := active.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
}

const podKill = `apiVersion: chaos-mesh.org/v1alpha1
kind: PodChaos
metadata: {name: f}
spec:
  action: pod-kill
  mode: one
  selector: {namespaces: [kube-system], labelSelectors: {component: kube-apiserver, evenkeel.dev/member: "@member"}}
`

// Chaos Mesh reports a static Pod as killed whose process goes on: no witness, and the reason.
func TestMesh_PodKillOfAStaticPodHasNoWitness(t *testing.T) {
	m := newMeshed(t)
	fault, err := Parse("f", []byte(podKill))
	if err != nil {
		t.Fatal(err)
	}
	proofs, notes := m.inject(t, fault).said()
	if proofs != "" || !strings.Contains(notes, "Chaos Mesh reports it as injected, and the same process of the API server answers") || !strings.Contains(notes, "mirror") {
		t.Errorf("proofs %q, notes %q", proofs, notes)
	}
	// Where the API server is in a Pod of its own, the same fault has one.
	m.mesh.Inject = m.struck
	if proofs, notes := m.inject(t, fault).said(); !strings.Contains(proofs, "another process now") || notes != "" {
		t.Errorf("proofs %q, notes %q", proofs, notes)
	}
}

// What Chaos Mesh says of a fault that it does not inject is the note, and the run goes on.
func TestMesh_RefusedFaultHasNoWitness(t *testing.T) {
	m := newMeshed(t)
	m.mesh.Inject = func(runtime.Object) error { return errors.New("dangerous: the Pod is on the host's network") }
	clk, recorded := clocktesting.NewFakeClock(time.Unix(0, 0)), new(events)
	// A hundred times as fast as time goes.
	ticker := time.NewTicker(chaosmesh.LookInterval / 100)
	defer ticker.Stop()
	go func() {
		for {
			select {
			case <-ticker.C:
				clk.Step(chaosmesh.LookInterval)
			case <-t.Context().Done():
				return
			}
		}
	}()
	active, err := NewExecutor(m, m, recorded, clk).Inject(t.Context(), shipped(t, "slow-etcd"), "cp1")
	if err != nil {
		t.Fatal(err)
	}
	if err := active.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if proofs, notes := recorded.said(); proofs != "" || !strings.Contains(notes, "dangerous: the Pod is on the host's network") {
		t.Errorf("proofs %q, notes %q", proofs, notes)
	}
}

// A delay is shown by reads that are fast before and afterwards, and slow between.
func TestMesh_DelayNeedsThreeMeasurements(t *testing.T) {
	fault := shipped(t, "slow-etcd")
	latency := fault.Effect.(LinkFault).Shape.Latency
	for _, tc := range []struct {
		name           string
		during, after  time.Duration
		proof, because string
	}{
		{"slow only during the fault", 2 * latency, 0, "a read of cp1 that needs its etcd took", ""},
		{"no slower", 0, 0, "", "over the loopback"},
		{"slow for another reason", 2 * latency, 2 * latency, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMeshed(t)
			m.mesh.Inject = func(runtime.Object) error { m.slowed = tc.during; return nil }
			m.mesh.Recover = func(runtime.Object) { m.slowed = tc.after }
			proofs, notes := m.inject(t, fault).said()
			if (proofs == "") != (tc.proof == "") || !strings.Contains(proofs, tc.proof) || (notes == "") != (tc.because == "") || !strings.Contains(notes, tc.because) {
				t.Errorf("proofs %q, notes %q", proofs, notes)
			}
			given := m.mesh.Given()[0].(*chaos.NetworkChaos)
			if given.Spec.Duration == nil || *given.Spec.Duration == "" || given.Spec.Target.Selector.Nodes[0] != "node-1" {
				t.Errorf("Chaos Mesh was given %+v", given.Spec)
			}
		})
	}
}

// The fault of a run that is given up is taken away.
func TestMesh_AbandonedFaultIsRemoved(t *testing.T) {
	m := newMeshed(t)
	m.mesh.Inject = m.struck
	m.process.PID = 7 // which an agent sees
	recorded := new(events)
	active, err := NewExecutor(m, m, recorded, clock.RealClock{}).Inject(t.Context(), shipped(t, "apiserver-crash"), "cp1")
	if err != nil {
		t.Fatal(err)
	}
	if err := active.Undo(t.Context()); err != nil || m.mesh.Left() != 0 {
		t.Errorf("error %v, and %d objects are left", err, m.mesh.Left())
	}
}

// What faults need depends on whether they are left to Chaos Mesh.
func TestMesh_NeedsAreThoseOfTheEngine(t *testing.T) {
	kill, err := Parse("f", []byte(podKill))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		fault         *Fault
		with, without string
	}{
		{shipped(t, "apiserver-crash"), "", "the topology has no hook"},
		{shipped(t, "controller-manager-crash"), "only of an API server it shows that Chaos Mesh has hit it", "the topology has no hook"},
		{kill, "", "only Chaos Mesh has such a fault"},
		{shipped(t, "apiserver-pause"), "pod-failure of Chaos Mesh changes the image of a Pod", "the topology has no hook"},
		{shipped(t, "node-cut-off"), "its daemon on the node would be cut off too", "the topology has no hook"},
		{shipped(t, "slow-etcd"), "", "no single link"},
	} {
		m := newMeshed(t)
		for off, want := range map[bool]string{false: tc.with, true: tc.without} {
			m.off = off
			if got := cluster.Lacking(m, tc.fault.Needs()...); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s, left to Chaos Mesh: %v: it lacks %q, want %q", tc.fault.Name, !off, got, want)
			}
		}
	}
}
