package local

import (
	"context"
	"errors"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func (p *played) pausesAComponent(t *testing.T) {
	c, seen := p.c, p.seen
	if err := c.Pause(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if paused, err := c.Paused("cp1", cluster.APIServer); err != nil || !paused {
		t.Errorf("Paused = %v, %v", paused, err)
	}
	if last := seen.last("cp1", cluster.APIServer); last.What != history.ProcessPaused {
		t.Errorf("told %+v", last)
	}
	if err := c.Resume(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if paused, err := c.Paused("cp1", cluster.APIServer); err != nil || paused {
		t.Errorf("Paused = %v, %v", paused, err)
	}
	if last := seen.last("cp1", cluster.APIServer); last.What != history.ProcessResumed {
		t.Errorf("told %+v", last)
	}
}

func (p *played) pausesAMember(t *testing.T) {
	c, seen := p.c, p.seen
	before := map[cluster.Component]cluster.Process{}
	for _, component := range c.upwards() {
		before[component], _ = c.Process("cp1", component)
	}
	for _, tc := range []struct {
		does   func(context.Context, string, cluster.Component) error
		paused bool
		told   string
	}{{c.Pause, true, history.ProcessPaused}, {c.Resume, false, history.ProcessResumed}} {
		if err := tc.does(t.Context(), "cp1", cluster.Whole); err != nil {
			t.Fatal(err)
		}
		for _, component := range append(c.upwards(), cluster.Whole) {
			if paused, err := c.Paused("cp1", component); err != nil || paused != tc.paused {
				t.Errorf("Paused %s = %v, %v", component, paused, err)
			}
		}
		for _, component := range c.upwards() {
			if last := seen.last("cp1", component); last.What != tc.told || last.Process != before[component] {
				t.Errorf("told %+v", last)
			}
		}
	}
	if paused, err := c.Paused("cp2", cluster.Whole); err != nil || paused {
		t.Errorf("Paused = %v, %v", paused, err)
	}
}

func (p *played) pausesAPart(t *testing.T) {
	c := p.c
	if err := c.Pause(t.Context(), "cp1", cluster.Etcd); err != nil {
		t.Fatal(err)
	}
	if paused, err := c.Paused("cp1", cluster.Whole); err != nil || paused {
		t.Errorf("Paused = %v, %v", paused, err)
	}
	if err := c.Resume(t.Context(), "cp1", cluster.Whole); err != nil {
		t.Fatal(err)
	}
	if paused, err := c.Paused("cp1", cluster.Etcd); err != nil || paused {
		t.Errorf("Paused = %v, %v", paused, err)
	}
}

func (p *played) givesUpAPause(t *testing.T) {
	c := p.c
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	m, err := c.look("cp1")
	if err != nil {
		t.Fatal(err)
	}
	// The context ends while the second process is being paused.
	told := 0
	for _, u := range m.units {
		u.mu.Lock()
		observe := u.observe
		u.observe = func(change cluster.Change) {
			observe(change)
			if told++; told == 2 {
				cancel(errors.New("enough"))
			}
		}
		u.mu.Unlock()
		defer func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.observe = observe
		}()
	}
	expectError(t, c.Pause(ctx, "cp1", cluster.Whole), "cannot pause member cp1: enough")
	for _, component := range c.upwards() {
		if paused, err := c.Paused("cp1", component); err != nil || paused {
			t.Errorf("Paused %s = %v, %v", component, paused, err)
		}
	}
}

func (p *played) cutsThePower(t *testing.T) {
	c, seen := p.c, p.seen
	faulty, _ := c.ClientConfig("cp2", true)
	before := map[cluster.Component]cluster.Process{}
	for _, component := range c.upwards() {
		before[component], _ = c.Process("cp2", component)
	}
	if err := c.PowerOff(t.Context(), "cp2"); err != nil {
		t.Fatal(err)
	}
	for _, component := range c.upwards() {
		if process, ok := c.Process("cp2", component); ok {
			t.Errorf("%s runs as %v", component, process)
		}
		if last := seen.last("cp2", component); last.What != history.ProcessExited || last.Exit != "signal: killed" || !last.Expected || last.Process != before[component] {
			t.Errorf("told %+v", last)
		}
	}
	if _, err := call(t.Context(), faulty, "/readyz", ""); err == nil {
		t.Error("a member without power answers")
	}
	expectError(t, c.Pause(t.Context(), "cp2", cluster.Whole), "cannot pause member cp2: nothing of it runs")
	expectError(t, c.Resume(t.Context(), "cp2", cluster.Whole), "cannot resume member cp2: nothing of it runs")
	_, err := c.Paused("cp2", cluster.Whole)
	expectError(t, err, "cannot tell whether member cp2 is paused: nothing of it runs")
	expectError(t, c.PowerOff(t.Context(), "cp2"), "cannot take the power of member cp2 away: nothing of it runs")
	if err := c.PowerOn(t.Context(), "cp2"); err != nil {
		t.Fatal(err)
	}
	for _, component := range c.upwards() {
		if now, ok := c.Process("cp2", component); !ok || now == before[component] || seen.last("cp2", component).Release != fakeplane.Good {
			t.Errorf("%s runs as %v (%v): %+v", component, now, ok, seen.last("cp2", component))
		}
	}
	if _, err := call(t.Context(), faulty, "/readyz", ""); err != nil {
		t.Error(err)
	}
	expectError(t, c.PowerOn(t.Context(), "cp2"), "runs already; stop the member first")
}
