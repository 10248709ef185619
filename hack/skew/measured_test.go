package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	suite "github.com/evenkeel/evenkeel/pkg/scenario"
)

// Wilson's interval of 8 of 30, as its formula gives it.
func TestInterval(t *testing.T) {
	for _, tc := range []struct {
		hits, n   int
		low, high float64
	}{{8, 30, 0.1418, 0.4445}, {0, 30, 0, 0.1135}, {30, 30, 0.8865, 1}, {0, 0, 0, 1}} {
		low, high := interval(tc.hits, tc.n)
		if math.Abs(low-tc.low) > 0.0005 || math.Abs(high-tc.high) > 0.0005 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tc.hits, tc.n, low, high, tc.low, tc.high)
		}
	}
}

func TestMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skew.yaml")
	m, err := load(file)
	if err != nil || m.markdown() != "" {
		t.Fatalf("%v, %q of nothing", err, m.markdown())
	}
	c := m.of(true, true)
	c.add(seen{skewed: 200 * time.Millisecond})
	c.add(seen{skewed: 400 * time.Millisecond, lasting: true})
	c.add(seen{})
	if err := m.save(file); err != nil {
		t.Fatal(err)
	}
	again, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	text := again.markdown()
	for _, want := range []string{"| rollback | coordinated | 3 | 2, 67 %", "| 1, 33 %", "| 200ms, 400ms |", "| upgrade | plain | 0 | – | – | – |"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if err := os.WriteFile(file, []byte("cells: [{moon: 1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(file); err == nil || !strings.Contains(err.Error(), "remove it to begin anew") {
		t.Errorf("error %v", err)
	}
}

// What is played can be played.
func TestScenarioAndTopology(t *testing.T) {
	dir := t.TempDir()
	if _, err := cluster.ParseTopology("skew.yaml", []byte(topology)); err != nil {
		t.Error(err)
	}
	for _, c := range []*cell{{}, {Back: true}, {Coordinated: true}} {
		file := filepath.Join(dir, "s.yaml")
		if err := os.WriteFile(file, []byte(scenario(c, []int{1, 0, 2})), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := suite.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Steps) != 1+2*playedMembers || s.LeaderElection.Coordinated != c.Coordinated {
			t.Errorf("%+v", s)
		}
	}
}
