package external

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
)

// The word of a hook is not taken for what it says, whatever the hook is.
func TestHooks_ThatDoNothingAreErrors(t *testing.T) {
	cut := func(ctx context.Context, c cluster.Cluster) error {
		return c.SetLink(ctx, "cp1", cluster.LinkNode, cluster.Shape{Cut: true})
	}
	for _, tc := range []struct {
		name          string
		before, after func(context.Context, cluster.Cluster) error
		hooks         map[string]string
		expectError   string
	}{
		{"pause", nil, func(ctx context.Context, c cluster.Cluster) error { return c.Pause(ctx, "cp1", cluster.Whole) },
			map[string]string{"pause": "true", "resume": "true"}, "the hook pause has ended, and the API server still answers 2s later"},
		{"resume", func(ctx context.Context, c cluster.Cluster) error { return c.Pause(ctx, "cp1", cluster.Whole) },
			func(ctx context.Context, c cluster.Cluster) error { return c.Resume(ctx, "cp1", cluster.Whole) },
			map[string]string{"pause": "touch cp1.frozen", "resume": "true"}, "the hook resume has ended, and 2s later the API server shows nothing of it"},
		{"reconnect", cut,
			func(ctx context.Context, c cluster.Cluster) error {
				return c.SetLink(ctx, "cp1", cluster.LinkNode, cluster.Shape{})
			},
			map[string]string{"cutOff": "touch cp1.frozen", "reconnect": "true"}, "the hook reconnect has ended, and 2s later the API server shows nothing of it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlane(t, "cp1")
			for name, script := range tc.hooks {
				p.hook(name, script)
			}
			c := p.up()
			if tc.before != nil {
				if err := tc.before(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			err := tc.after(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), tc.expectError) {
				t.Errorf("error %v, want %q", err, tc.expectError)
			}
			if unready := (*cluster.Unready)(nil); errors.As(err, &unready) {
				t.Errorf("what a hook has not done is laid on the control plane: %v", err)
			}
		})
	}
}

// A member that stays frozen is tried again at the end, and named if that is in vain.
func TestStop_NamesWhatAHookHasNotTakenBack(t *testing.T) {
	p := newPlane(t, "cp1", "cp2")
	c := p.hook("pause", "touch $EVENKEEL_MEMBER.frozen").hook("resume", "echo $EVENKEEL_MEMBER >> tried").up()
	if err := c.Pause(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := c.Resume(t.Context(), "cp1", cluster.APIServer); err == nil {
		t.Error("a frozen member counts as resumed")
	}
	err := c.Stop(t.Context())
	for _, want := range []string{"member cp1 was not left as it was found", "run the hook resume of spec.external.hooks by hand, with EVENKEEL_MEMBER=cp1 and EVENKEEL_COMPONENT=apiserver"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "cp2") {
		t.Errorf("cp2 was not touched: %v", err)
	}
	if tried := p.read("tried"); tried != "cp1\ncp1" {
		t.Errorf("resume was tried for %q", tried)
	}
}

// hangs is a hook that ends only by SIGKILL, and tells when it has begun to.
const hangs = `trap '' TERM INT; touch hanging; while :; do sleep 0.05; done`

func TestCutOff_EndsWithTheRun(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.hook("cutOff", hangs).hook("reconnect", "true").up()
	ctx, interrupted := context.WithCancel(t.Context())
	go func() {
		for !p.there("hanging") {
			<-time.After(frozenLook)
		}
		interrupted()
	}()
	began := time.Now()
	err := c.SetLink(ctx, "cp1", cluster.LinkNode, cluster.Shape{Cut: true})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > hookGrace+10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A hook that hangs must not hold a run that two signals have asked to end.
func TestStop_EndsWithTheSecondSignal(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.hook("pause", "touch cp1.frozen").hook("resume", hangs).up()
	if err := c.Pause(t.Context(), "cp1", cluster.Whole); err != nil {
		t.Fatal(err)
	}
	ctx, stop := interrupt.Notify(t.Context(), nil, syscall.SIGUSR1)
	defer stop()
	kill := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Error(err)
		}
	}
	kill()
	<-ctx.Done()
	go func() {
		for !p.there("hanging") {
			<-time.After(frozenLook)
		}
		kill()
	}()
	began := time.Now()
	err := c.Stop(ctx)
	if err == nil || !strings.Contains(err.Error(), interrupt.ErrInsisted.Error()) || !strings.Contains(err.Error(), "run the hook resume of spec.external.hooks by hand, with EVENKEEL_MEMBER=cp1") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > hookGrace+10*time.Second {
		t.Errorf("it took %s", took)
	}
}
