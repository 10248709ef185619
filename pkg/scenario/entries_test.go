package scenario

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// What ships must lie in the domains, and be written again as it was read.
func TestEntries_ComposeEveryShippedStepFromItsValues(t *testing.T) {
	entries := map[string]registry.Entry{}
	for _, entry := range Entries() {
		entries[entry.Name] = entry
	}
	files, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		s, err := LoadFS(fixtures.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range s.Steps {
			entry := entries[step.Name()]
			raw, err := entry.Compose("", ValuesOf(step.Action))
			if err != nil {
				t.Errorf("%s: step %d: %v", file, i+1, err)
				continue
			}
			var again Step
			if err := yaml.Unmarshal(raw, &again); err != nil || !reflect.DeepEqual(again.Action, step.Action) {
				t.Errorf("%s: step %d is\n%s\nwhich reads as %+v, and was %+v (%v)", file, i+1, raw, again.Action, step.Action, err)
			}
			if cost := entry.Cost(ValuesOf(step.Action)); cost <= 0 {
				t.Errorf("%s: step %d (%s) costs %s", file, i+1, step.Name(), cost)
			}
		}
	}
}

// Each value that a domain has swept must be one of the domain, and steps must be made of them.
func TestEntries_SweptValuesAreInTheirDomains(t *testing.T) {
	var check func(step string, parameters []registry.Parameter)
	check = func(step string, parameters []registry.Parameter) {
		for _, p := range parameters {
			if p.Domain.Type == registry.Group {
				check(step+"."+p.Name, p.Domain.Fields)
			}
			single := p.Domain
			single.Many = false
			for _, value := range p.Domain.Values {
				if err := single.Check(value); err != nil {
					t.Errorf("%s.%s: %v", step, p.Name, err)
				}
			}
		}
	}
	for _, entry := range Entries() {
		check(entry.Name, entry.Parameters)
	}
}

func TestNewStep_RefusesWhatIsNotInItsDomain(t *testing.T) {
	for want, values := range map[string]registry.Values{
		"name is missing":                       {"for": time.Second},
		"there is no parameter until":           {"name": "a", "for": time.Second, "until": "50%"},
		"for: 1h0m0s is no duration from 100ms": {"name": "a", "for": time.Hour},
	} {
		if _, err := NewStep("hold", values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := NewStep("populate", registry.Values{"name": "a", "workloads": []string{"crates.yaml"}, "count": 1, "migrationDuration": time.Second}); err == nil || !strings.Contains(err.Error(), "[count migrationDuration]") {
		t.Errorf("two variants: error %v", err)
	}
	step, err := NewStep("hold", registry.Values{"name": "a", "for": 1500 * time.Millisecond})
	if err != nil || *step.Action.(*Hold) != (Hold{Name: "a", For: 1500 * time.Millisecond}) {
		t.Errorf("the step is %+v (%v)", step.Action, err)
	}
}
