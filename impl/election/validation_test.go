package election

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/utils/ptr"
)

func TestValidateCandidate(t *testing.T) {
	for _, test := range []struct {
		lease, binary, emulation string
		strategy                 coordinationv1.CoordinatedLeaseStrategy
		ok                       bool
	}{
		{"pilot", "1.2.0", "1.2.0", Oldest, true},
		{"pilot", "1.2.0", "1.1.0", Oldest, true},
		{"pilot", "1.2.0", "", "example.com/draft", true},
		{"", "1.2.0", "1.2.0", Oldest, false},
		{"no/name", "1.2.0", "1.2.0", Oldest, false},
		{"pilot", "1.2", "1.2.0", Oldest, false},
		{"pilot", "1.2.0", "1.3.0", Oldest, false},
		{"pilot", "1.2.0", "", Oldest, false},
		{"pilot", "1.2.0", "nonsense", Oldest, false},
		{"pilot", "1.2.0", "1.2.0", "", false},
		{"pilot", "1.2.0", "1.2.0", "NewestOfAll", false},
	} {
		errs := ValidateCandidate(&coordinationv1beta1.LeaseCandidateSpec{LeaseName: test.lease, BinaryVersion: test.binary, EmulationVersion: test.emulation, Strategy: test.strategy})
		if (len(errs) == 0) != test.ok {
			t.Errorf("%+v: %v", test, errs)
		}
	}
	old := &coordinationv1beta1.LeaseCandidateSpec{LeaseName: "pilot"}
	if len(ValidateCandidateUpdate(&coordinationv1beta1.LeaseCandidateSpec{LeaseName: "mate"}, old)) == 0 || len(ValidateCandidateUpdate(old, old)) > 0 {
		t.Error("the Lease of a candidate never changes")
	}
}

func TestValidateLease(t *testing.T) {
	strategy := func(s string) *coordinationv1.CoordinatedLeaseStrategy {
		return ptr.To(coordinationv1.CoordinatedLeaseStrategy(s))
	}
	for _, test := range []struct {
		spec coordinationv1.LeaseSpec
		ok   bool
	}{
		{coordinationv1.LeaseSpec{}, true},
		{coordinationv1.LeaseSpec{Strategy: strategy("example.com/draft")}, true},
		{coordinationv1.LeaseSpec{Strategy: strategy(string(Oldest)), PreferredHolder: ptr.To("a")}, true},
		{coordinationv1.LeaseSpec{PreferredHolder: ptr.To("a")}, false},
		{coordinationv1.LeaseSpec{Strategy: strategy("nonsense")}, false},
	} {
		if errs := ValidateLease(&test.spec); (len(errs) == 0) != test.ok {
			t.Errorf("%+v: %v", test.spec, errs)
		}
	}
}
