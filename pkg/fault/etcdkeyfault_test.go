package fault

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const keysYAML = `apiVersion: evenkeel.dev/v1alpha1
kind: EtcdKeyFault
metadata: {name: f}
spec:
  action: hold
  member: "@member"
  requests: [txn]
  prefixes: [/registry/storageversions/]
`

func TestFaultsOfKeys(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"hold", keysYAML, ""},
		{"fail", strings.Replace(keysYAML, "hold", "fail", 1), ""},
		{"other action", strings.Replace(keysYAML, "hold", "delay", 1), `spec.action "delay"`},
		{"other API", strings.Replace(keysYAML, "evenkeel.dev", "chaos-mesh.org", 1), "apiVersion"},
		{"no requests", strings.Replace(keysYAML, "[txn]", "[]", 1), "requests and prefixes must both"},
		{"nothing", strings.NewReplacer("[txn]", "[]", "[/registry/storageversions/]", "[]").Replace(keysYAML), "are missing"},
		{"unknown request", strings.Replace(keysYAML, "txn", "watch", 1), `no request "watch"`},
		{"no key", strings.Replace(keysYAML, "/registry", "registry", 1), "does not begin with a slash"},
		{"no member", strings.Replace(keysYAML, `"@member"`, `""`, 1), "spec.member"},
		{"unknown key", keysYAML + "  duration: 3s\n", `unknown key "spec.duration"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse("f.yaml", []byte(test.in))
			if test.want == "" && (err != nil || !got.One || got.Holds() == got.Effect.(KeyFault).Fail) {
				t.Errorf("%+v, %v", got, err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v\nwant one with %q", err, test.want)
			}
		})
	}
}

// keyedPlane is a plane that can hold requests by their keys.
type keyedPlane struct {
	*plane
	fault cluster.KeyFault
	stats cluster.KeyFaultStats
}

func (p *keyedPlane) SetKeyFault(_ string, fault cluster.KeyFault) error {
	p.fault = fault
	return nil
}

func (p *keyedPlane) KeyFaultStats(string) (cluster.KeyFaultStats, error) { return p.stats, nil }

func TestAFaultOfKeysIsWitnessedByWhatItMet(t *testing.T) {
	parsed, err := Parse("f.yaml", []byte(keysYAML))
	if err != nil {
		t.Fatal(err)
	}
	for _, met := range []int64{0, 3} {
		// What an earlier fault met proves nothing.
		p := &keyedPlane{plane: &plane{running: true}, stats: cluster.KeyFaultStats{Met: 7}}
		recorder := &events{}
		active, err := NewExecutor(p, nil, recorder, clock.RealClock{}).Inject(t.Context(), parsed, "cp1")
		if err != nil {
			t.Fatal(err)
		}
		if p.fault.None() {
			t.Error("nothing is held")
		}
		p.stats.Met += met
		bounded, cancel := context.WithTimeout(t.Context(), 2*LookInterval)
		if err := active.Met(bounded, 1, 0); (err == nil) != (met > 0) {
			t.Errorf("met %d: %v", met, err)
		}
		cancel()
		if err := active.Heal(t.Context()); err != nil || !p.fault.None() {
			t.Errorf("healed: %v, %+v", err, p.fault)
		}
		var witnessed int64
		for _, ev := range *recorder {
			if ev.Fault.Phase == history.PhaseWitness {
				witnessed = ev.Fault.Count
			}
		}
		if witnessed != met {
			t.Errorf("%d requests are the witness, want %d", witnessed, met)
		}
	}
	if _, err := NewExecutor(&plane{}, nil, &events{}, clock.RealClock{}).Inject(t.Context(), parsed, "cp1"); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("a cluster that cannot: %v", err)
	}
}
