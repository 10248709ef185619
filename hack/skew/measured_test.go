package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	suite "github.com/evenkeel/evenkeel/pkg/scenario"
)

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
