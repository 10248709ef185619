package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

func output(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	status := Main(args, &out, &errs)
	return out.String() + errs.String(), status
}

func TestSteps_DescribesEveryStep(t *testing.T) {
	all, status := output(t, "steps")
	if status != exit.Pass {
		t.Fatalf("status %d: %s", status, all)
	}
	for _, name := range scenario.StepNames() {
		one, status := output(t, "steps", name)
		if status != exit.Pass || !strings.HasPrefix(one, "### `"+name+"`\n") || !strings.Contains(all, one) || strings.Count(one, "### ") != 1 {
			t.Errorf("steps %s gives %q", name, one)
		}
	}
	if told, status := output(t, "steps", "explode"); status != exit.CouldNotRun || !strings.Contains(told, `there is no step "explode"`) {
		t.Errorf("status %d: %s", status, told)
	}
}

func TestScenarios_TellsWhatEachNeedsAndJudges(t *testing.T) {
	all, status := output(t, "scenarios")
	if status != exit.Pass {
		t.Fatalf("status %d: %s", status, all)
	}
	for _, want := range []string{"SCENARIO", "collector-blind.yaml", "faults of HTTP requests", "coordinated leader election", "power cycles", "several releases", "SV-06"} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %q in\n%s", want, all)
		}
	}
}
