package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

func TestReport(t *testing.T) {
	o := options{n: 50, real: 10, atOnce: 10, rest: 5 * time.Minute, release: "v1.36.3"}
	one := func(seconds float64) result {
		some := figures{started: []float64{seconds}, first: []float64{seconds}, preempted: []float64{seconds}, crashed: []float64{15 + seconds}, expired: []float64{seconds}}
		return result{managers: some, instances: some, losses: losses{[]float64{seconds}, []float64{seconds}}, writes: writes{leaders: 90 * seconds, quiet: true}}
	}
	titled := func(name string) column { return column{Plane: bench.Plane{Title: name + "!"}, name: name} }
	columns := []column{titled(ours), titled(oursPlain), titled(theirs)}
	plain := one(3)
	plain.managers.first, plain.managers.preempted = nil, nil
	slow := one(4)
	slow.managers.preempted = []float64{never}
	text := markdown(o, columns, []result{one(0.5), plain, slow})
	for _, want := range []string{
		"make bench-election N=50 REAL=10 REST=5m0s KUBERNETES=v1.36.3",
		"| first leader, from the first candidate: p99 | 0.50 s | – s | 4.00 s | 0.12 | ≤ 0.5: met |",
		"| the same, from the end of the Lease: p50 | 0.50 s | 3.00 s | 4.00 s | 0.12 | < 1 s: met |",
		"| preferred candidate leads, from when it is seen: p50 | 0.50 s | – s | ∞ s | 0.000 | ≤ 0.5: met |",
		"| all | 45.00/min | 270.0/min | 360.0/min | 0.12 | ≤ 1: met |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %s:\n%s", want, text)
		}
	}
	worse := markdown(o, columns, []result{one(5), plain, slow})
	if !strings.Contains(worse, "| < 1 s: **missed** |") || !strings.Contains(worse, "≤ 1: **missed**") {
		t.Errorf("what misses its goal is called met:\n%s", worse)
	}
	if alone := markdown(o, columns[:1], []result{one(1)}); strings.Contains(alone, ": met") || strings.Contains(alone, "missed") {
		t.Errorf("goals are judged with nothing to compare with:\n%s", alone)
	}
}

func TestWhatIsLate(t *testing.T) {
	if !isLate(fmt.Errorf("x: %w", late{"it", time.Minute})) || isLate(errors.New("another")) || isLate(nil) {
		t.Error("what takes too long is a figure, and nothing else is")
	}
	if !math.IsInf(never, 1) {
		t.Error("what never came is shorter than something")
	}
}

func TestWhatIsWrittenTo(t *testing.T) {
	servers := []string{"apiserver-a"}
	for key, want := range map[string]int{
		"/registry/leases/kube-system/kube-controller-manager":    toLeader,
		"/registry/leases/kube-system/bench-rest-1":               toLeader,
		"/registry/leases/kube-system/leader-election-controller": toCoordinator,
		"/registry/leases/kube-system/apiserver-a":                toOther,
		"/registry/leases/kube-node-lease/node":                   toOther,
		"/registry/leasecandidates/kube-system/cp1_x":             toCandidate,
	} {
		if got := writeTo(key, servers); got != want {
			t.Errorf("%s is taken for %d, want %d", key, got, want)
		}
	}
}
