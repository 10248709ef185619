package play

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/fixtures"
)

// A focused run plays the cheapest scenario that can judge a requirement. If no
// suite had that scenario, nothing would be played and the run be green.
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
