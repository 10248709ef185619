package cluster

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	clusters "github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

// TestMain lets the test binary be all three programs that take part: the
// tests, the evenkeel that up starts as keep, and the control plane.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "cluster" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		command := NewCommand(Streams{os.Stdout, os.Stderr}, registry)
		command.SilenceUsage, command.SilenceErrors = true, true
		command.SetArgs(os.Args[2:])
		err := command.ExecuteContext(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(exit.Code(err))
	}
	fakeplane.Main()
	os.Exit(m.Run())
}

// registry has none of the providers that keep things outside a folder of ours:
// what some killed run has left at the machine's Docker is no business of a
// test, neither to see nor to remove.
var registry = clusters.Registry{local.Provider{}}

func TestUpListDown(t *testing.T) {
	root := useFake(t)
	expect(t, "list", "no clusters")
	expect(t, "clean", "nothing to clean")
	expectError(t, "down", "no cluster is up")

	out := run(t, "up", "--topology", topology, "--name", "mine", "--release", fakeplane.Next)
	for _, want := range []string{"cp3     apiserver-cp3  " + fakeplane.Next, "--context cp1 get storageversions", "evenkeel cluster down mine"} {
		if !strings.Contains(out, want) {
			t.Errorf("up printed no %q but:\n%s", want, out)
		}
	}
	entries, err := state.List(root)
	if err != nil || len(entries) != 1 {
		t.Fatalf("List = %v, %v", entries, err)
	}
	record := entries[0].Record()
	expect(t, "list", "mine", "3/3", fmt.Sprintf("up (process %d)", record.Owner.PID))
	expect(t, "clean", "nothing to clean", "left alone because they are in use (see `evenkeel cluster list`): 1")
	expectError(t, "up --topology "+topology+" --name mine", "a cluster mine is up already")

	expect(t, "down", "removed cluster "+record.ID)
	nothingLeft(t, root, record.ID)
}

func TestUpFails(t *testing.T) {
	root := useFake(t)
	for _, tc := range []struct{ args, want string }{
		{"up --topology missing.yaml", "cannot read the topology"},
		{"up x", "unknown command"},
		{"up --topology " + topology + " --release 9", `has no release "9"`},
		{"up --topology " + topology + " --defect SV-99", `has no defect "SV-99"`},
		{"up --topology " + topology + " --name A/B", `the cluster's name "A/B" is no DNS label`},
		{"up --topology " + topology + " --release " + fakeplane.Broken, "fake: the flag of the year is missing"},
		{"down mine", "there is no cluster mine"},
		{"clean mine", "there is no cluster mine"},
		{"clean --all mine", "exclude each other"},
		{"moon", "there is no `cluster moon`"},
	} {
		t.Run(tc.args, func(t *testing.T) { expectError(t, tc.args, tc.want) })
	}
	// The logs of the one that got as far as starting are there to be read.
	entries, err := state.List(root)
	if err != nil || len(entries) != 1 {
		t.Fatalf("List = %v, %v", entries, err)
	}
	expect(t, "list", "dead, see `evenkeel cluster clean`")
	expect(t, "clean", "removed cluster local-3-")
	nothingLeft(t, root, entries[0].Record().ID)
}

func TestCleanAfterTheOwnerWasKilled(t *testing.T) {
	root := useFake(t)
	run(t, "up", "--topology", topology)
	entries, err := state.List(root)
	if err != nil || len(entries) != 1 {
		t.Fatalf("List = %v, %v", entries, err)
	}
	record := entries[0].Record()
	owner, err := os.FindProcess(record.Owner.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Kill(); err != nil {
		t.Fatal(err)
	}
	// The owner is a child of this process, since up runs in it.
	if _, err := owner.Wait(); err != nil {
		t.Fatal(err)
	}
	expect(t, "clean", "killed 9 processes that were left")
	nothingLeft(t, root, record.ID)
}

func TestUpIsInterrupted(t *testing.T) {
	root := useFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	command := NewCommand(Streams{&out, &out}, registry)
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetArgs([]string{"up", "--topology", topology, "--release", fakeplane.Unready})
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	var id string
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		entries, err := state.List(root)
		if err != nil || len(entries) == 0 {
			return false, err
		}
		id = entries[0].Record().ID
		processes, err := procfs.WithVariable(state.Marker, id)
		return len(processes) > 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "bringing the cluster up was interrupted") {
		t.Errorf("error = %v", err)
	}
	nothingLeft(t, root, id)
}

func TestDownSparesARunsCluster(t *testing.T) {
	root := useFake(t)
	owner, err := state.Self("run")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := state.Register(root, state.Record{ID: "theirs-1", Name: "theirs", Owner: owner}); err != nil {
		t.Fatal(err)
	}
	expectError(t, "down theirs", "belongs to a live `evenkeel run`")
	expectError(t, "down", "no cluster is up")
}

func TestCleanWhatIsNotOnRecord(t *testing.T) {
	useFake(t)
	engine := &engine{left: map[string]int{"lost-1": 5}}
	registry = append(registry, engine)
	t.Cleanup(func() { registry = registry[:1] })
	expect(t, "clean", "removed cluster lost-1, of which nothing was on record: 5 things at the provider engine")
	expect(t, "clean", "nothing to clean")
}

// --- Helpers ---

// engine is a provider of which only what another run left there is of interest.
type engine struct {
	local.Provider
	left map[string]int
}

func (*engine) Name() string { return "engine" }

func (e *engine) Leftovers(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(e.left)), nil
}

func (e *engine) Clean(_ context.Context, id string) (int, error) {
	count := e.left[id]
	delete(e.left, id)
	return count, nil
}

var topology = filepath.Join("..", "..", "..", "clusters", "local-3.yaml")

func useFake(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The topology's release is none of the fake's, so a copy has to serve.
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "clusters", "local-3.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	topology = filepath.Join(t.TempDir(), "local-3.yaml")
	raw = bytes.Replace(raw, []byte(`release: "1.2"`), []byte(`release: "`+fakeplane.Good+`"`), 1)
	if err := os.WriteFile(topology, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	t.Setenv(fakeplane.Variable, "1")
	t.Setenv(reference.Variable, self)
	t.Setenv(state.RootVariable, root)
	t.Cleanup(func() {
		if _, err := state.CleanAll(context.Background(), root, nil); err != nil && !strings.Contains(err.Error(), "this very process owns it") {
			t.Error(err)
		}
	})
	return root
}

func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := NewCommand(Streams{&out, &out}, registry)
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetArgs(args)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := execute(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

func expect(t *testing.T, args string, wants ...string) {
	t.Helper()
	out := run(t, strings.Fields(args)...)
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("%s printed no %q but:\n%s", args, want, out)
		}
	}
}

func expectError(t *testing.T, args, want string) {
	t.Helper()
	out, err := execute(t, strings.Fields(args)...)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error = %v, want one with %q\n%s", args, err, want, out)
	} else if exit.Code(err) != exit.CouldNotRun {
		t.Errorf("%s: status %d", args, exit.Code(err))
	}
}

func nothingLeft(t *testing.T, root, id string) {
	t.Helper()
	if left, err := procfs.WithVariable(state.Marker, id); err != nil || len(left) != 0 {
		t.Errorf("processes left: %v, %v", left, err)
	}
	if left, _ := os.ReadDir(root); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}
