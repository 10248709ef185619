package command

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

func TestFaults_DescribesEveryKindActionAndShippedFault(t *testing.T) {
	shipped, err := fault.AllShipped(fixtures.Files)
	if err != nil || len(shipped) == 0 {
		t.Fatal(shipped, err)
	}
	var names []string
	for _, one := range shipped {
		names = append(names, one.File)
	}
	for _, kind := range fault.Kinds() {
		names = append(names, kind.Type)
	}
	for _, entry := range fault.Entries() {
		names = append(names, entry.Name)
	}
	describesAll(t, "faults", names)
}

func TestWorkloads_DescribesEveryWorkload(t *testing.T) {
	entries, err := workload.Entries(fixtures.Files)
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name)
		if entry.Kind != registry.Workload || entry.Doc == "" || entry.Resource.Resource == "" || len(entry.Resource.Versions) == 0 {
			t.Errorf("%s is declared as %+v", entry.Name, entry)
		}
	}
	describesAll(t, "workloads", names)
}

// describesAll has a command describe each name, in words that the whole has too.
func describesAll(t *testing.T, command string, names []string) {
	t.Helper()
	all, status := output(t, command)
	if status != exit.Pass {
		t.Fatalf("status %d: %s", status, all)
	}
	for _, name := range names {
		one, status := output(t, command, name)
		if status != exit.Pass || !strings.Contains(one, "`"+name+"`") || !strings.Contains(all, strings.TrimSpace(one)) {
			t.Errorf("%s %s (status %d) gives %q", command, name, status, one)
		}
	}
	if told, status := output(t, command, "explode"); status != exit.CouldNotRun || !strings.Contains(told, `"explode"; `) {
		t.Errorf("status %d: %s", status, told)
	}
}
