package election

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

var usual = Timing{LeaseDuration: LeaseDuration, RenewDeadline: RenewDeadline, RetryPeriod: RetryPeriod, FallbackDelay: FallbackDelay}

func TestNext(t *testing.T) {
	mine, others := lease("me", 15), lease("other", 15)
	told := lease("me", 15)
	told.Spec.PreferredHolder = ptr.To("better")
	leads := func(ago time.Duration) Standing {
		return Standing{Leading: true, Renewed: noon.Add(-ago), Answered: noon.Add(-ago)}
	}
	slow := Standing{Leading: true, Renewed: noon.Add(-RetryPeriod), Answered: noon.Add(time.Second - RetryPeriod)}
	late := Standing{Leading: true, Renewed: noon.Add(time.Second - RenewDeadline), Answered: noon}
	hanging := Standing{Leading: true, Renewed: noon.Add(-RenewDeadline), Answered: noon}
	for _, test := range []struct {
		what     string
		lease    *coordinationv1.Lease
		since    time.Duration
		standing Standing
		want     Move
		wait     time.Duration
	}{
		{"elected", mine, 0, Standing{}, Take, 0},
		{"elected too long ago", mine, 15 * time.Second, Standing{}, Wait, FallbackDelay},
		{"elected and told", told, 0, Standing{}, Wait, 15*time.Second + FallbackDelay},
		{"another instance leads", others, 0, Standing{}, Wait, 15*time.Second + FallbackDelay},
		{"no coordinator elects", others, 15*time.Second + FallbackDelay, Standing{}, Claim, 0},
		{"no coordinator elects, and another candidate is better", others, 15*time.Second + FallbackDelay, Standing{Place: 2}, Wait, 2 * FallbackStep},
		{"no Lease", nil, 0, Standing{}, Wait, FallbackDelay},
		{"no Lease for long", nil, FallbackDelay, Standing{}, Claim, 0},
		{"given up", lease("", 1), FallbackDelay - time.Second, Standing{}, Wait, time.Second},
		{"leads", mine, 0, leads(time.Second), Wait, time.Second},
		{"has to renew", mine, 0, leads(RetryPeriod), Renew, 0},
		{"was answered late", mine, 0, slow, Wait, time.Second},
		{"was answered just in time", mine, 0, late, Renew, 0},
		{"was answered too late", mine, 0, hanging, Stop, 0},
		{"cannot renew", mine, 0, leads(RenewDeadline), Stop, 0},
		{"has lost it", others, 0, leads(0), Stop, 0},
		{"its Lease is gone", nil, 0, leads(0), Stop, 0},
		{"told to give way", told, 0, leads(0), Yield, 0},
	} {
		t.Run(test.what, func(t *testing.T) {
			step := Next(Situation{Me: "me", Lease: test.lease, Since: noon.Add(-test.since), Standing: test.standing, Timing: usual}, noon)
			if step.Move != test.want || step.Within != test.wait || step.On != test.lease {
				t.Errorf("%+v, want %s %s", step, test.want, test.wait)
			}
		})
	}
}

func TestLeasesOfInstances(t *testing.T) {
	claimed := Claimed(nil, "ns", "l", "me", Oldest, usual, noon)
	if *claimed.Spec.HolderIdentity != "me" || *claimed.Spec.Strategy != Oldest || *claimed.Spec.LeaseDurationSeconds != 15 || *claimed.Spec.LeaseTransitions != 0 {
		t.Errorf("%+v", claimed.Spec)
	}
	renewed := Renewed(claimed, usual, noon.Add(time.Second))
	if !renewed.Spec.RenewTime.Equal(micro(noon.Add(time.Second))) || !renewed.Spec.AcquireTime.Equal(micro(noon)) {
		t.Errorf("%+v", renewed.Spec)
	}
	elected := Apply(Write{On: claimed, Holder: "other", Strategy: Oldest}, author, noon)
	if again := Claimed(elected, "ns", "l", "me", Oldest, usual, noon); *again.Spec.LeaseTransitions != 2 || again.Annotations[ElectedBy] != "" || again.Annotations[Coordinator] != "" {
		t.Errorf("%+v", again)
	}
	if open, _ := Vacant(Released(renewed, noon), noon, noon); !open {
		t.Error("who gives it up lets others have it")
	}
}
