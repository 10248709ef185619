package main

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

func TestReport(t *testing.T) {
	o := options{crds: []int{0, 3000}, duration: 10 * time.Second, release: "v1.36.3"}
	planes := []bench.Plane{{Title: "reference 1.4"}, {Title: "kube-apiserver v1.36.3"}}
	one := func(seconds float64, rate float64) result {
		r := result{
			colds: map[way]cold{}, loads: map[answer]load{}, changes: map[change][]float64{}, resting: 1 << 30, highest: 2 << 30,
			clients: []clientRun{{"a client", []string{"/api 200", "/apis 200"}}},
		}
		for _, w := range ways {
			r.colds[w] = cold{requests: 2, received: 1000, times: []float64{seconds}}
		}
		for _, a := range answers {
			s := sample{p50: seconds, p99: seconds, rate: rate}
			r.loads[a] = load{paced: s, alone: s, fastest: s}
		}
		for _, c := range changes {
			r.changes[c] = []float64{seconds}
		}
		return r
	}
	fast, slow := one(0.001, 1000), one(0.004, 50)
	text := markdown(o, planes, []round{{0, []result{slow, fast}}, {3000, []result{fast, slow}}})
	for _, want := range []string{
		`make bench-discovery CRDS="0 3000" DURATION=10s KUBERNETES=v1.36.3`,
		"| gzip, 200 a second: p99 | 1.00 ms | 4.00 ms | 0.25 | ≤ 0.1: **missed** |",
		"| gzip: highest rate | 1000/s | 50/s | 20.0 | ≥ 10: met |",
		"| gzip: highest rate | 50/s | 1000/s | 0.050 |\n",
		"| a client | 2: /api 200, /apis 200 | 2: /api 200, /apis 200 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %s:\n%s", want, text)
		}
	}
	alone := markdown(o, planes[:1], []round{{3000, []result{fast}}})
	if strings.Contains(alone, "met") || strings.Contains(alone, "ratio") {
		t.Errorf("goals are judged with nothing to compare with:\n%s", alone)
	}
}
