package play

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// A focused run plays the cheapest scenario that can judge a requirement. If no
// suite has that scenario, the run plays nothing and is green.
func TestEveryScenarioIsInASuite(t *testing.T) {
	var specs strings.Builder
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		specs.Write(raw)
	}
	scenarios, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, scenario := range scenarios {
		if !strings.Contains(specs.String(), `play.Scenario("`+path.Base(scenario)+`")`) {
			t.Errorf("%s is in no suite: a focused run that chooses it would play nothing", scenario)
		}
	}
}

func TestFocus(t *testing.T) {
	cheapest, ok := run.Cheapest([]string{"SV-06"})
	if !ok {
		t.Fatal("no scenario can judge SV-06")
	}
	cheap, dear := strings.TrimSuffix(path.Base(cheapest), ".yaml"), "upgrade-rollback-crash"
	for _, c := range []struct {
		scenario, focus string
		alone, others   bool
	}{
		{cheap, "SV-06", true, false},
		{dear, "SV-06", false, false},
		{dear, dear, true, true},
		{dear, dear + " SV-06", true, false},
		{dear, "(^| )(" + dear + ")( [A-Z]+-[0-9]+:|$)", true, true},
		{dear, cheap + " SV-06", false, false},
		{dear, "", true, true},
	} {
		loaded, _, err := run.LoadScenario("fixtures/scenarios/" + c.scenario + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var focus []*regexp.Regexp
		if c.focus != "" {
			focus = append(focus, regexp.MustCompile(c.focus))
		}
		var alone, others bool
		for _, r := range focused(c.scenario, loaded, focus) {
			alone, others = alone || r.ID == "SV-06", others || r.ID != "SV-06"
		}
		if alone != c.alone || others != c.others {
			t.Errorf("%s with --focus %q has SV-06: %t, others: %t; want %t and %t", c.scenario, c.focus, alone, others, c.alone, c.others)
		}
	}
}
