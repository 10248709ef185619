package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/leak"
	"github.com/evenkeel/evenkeel/pkg/verify"
)

// What a component tells in its log is masked there, and the bundle holds.
func TestRunMasksWhatLogsTell(t *testing.T) {
	o, shown := fakeRun(t, fakeplane.Leaky)
	spying := &spy{Provider: local.Provider{}}
	o.Providers = cluster.Registry{spying}
	outcome, err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "the flag of the year is missing") || strings.Contains(err.Error(), "held credentials") {
		t.Errorf("error %v", err)
	}
	if outcome == nil {
		t.Fatal("no bundle is told of")
	}
	if !strings.Contains(shown.String(), "Credentials were found in logs and are masked there: the private key cp") ||
		!strings.Contains(shown.String(), "-apiserver.log, line ") {
		t.Errorf("the console says\n%s", shown)
	}
	logs, err := filepath.Glob(filepath.Join(outcome.Bundle, "logs", "*-apiserver.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs %v, %v", logs, err)
	}
	masked := 0
	for _, log := range logs {
		raw, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "PRIVATE KEY") || !strings.Contains(string(raw), "nothing else to tell, 4") {
			t.Errorf("%s is\n%s", log, raw)
		}
		masked += strings.Count(string(raw), leak.Mask)
	}
	if masked == 0 {
		t.Error("nothing is masked")
	}
	spying.mustBeAbsent(t, outcome.Bundle)
	readable(t, outcome)
}

// A masked event is no evidence any more, so the report must not pass.
func TestRunWhoseHistoryHeldACredential(t *testing.T) {
	o, shown := fakeRun(t, fakeplane.Blurter)
	spying := &spy{Provider: local.Provider{}}
	o.Providers = cluster.Registry{spying}
	outcome, err := Run(t.Context(), o)
	if leaked := (*LeakError)(nil); !errors.As(err, &leaked) {
		t.Fatalf("error %v\n%s", err, shown)
	}
	for _, want := range []string{"there is no verdict, since the bundle", "the private key cp", "in history.jsonl, line ", "report it"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if outcome == nil || outcome.Report.Verdict != check.Inconclusive {
		t.Fatalf("%+v", outcome)
	}
	raw, err := os.ReadFile(filepath.Join(outcome.Bundle, "history.jsonl"))
	if err != nil || !strings.Contains(string(raw), "\n"+leak.Mask+"\n") {
		t.Errorf("the history is\n%s (%v)", raw, err)
	}
	spying.mustBeAbsent(t, outcome.Bundle)
	readable(t, outcome)
}

// What was not searched for is not said to be absent.
func TestRunThatCannotLearnTheCredentials(t *testing.T) {
	o, shown := fakeRun(t, fakeplane.Broken)
	o.Providers = cluster.Registry{&spy{Provider: local.Provider{}, more: []credential.Credential{credential.Token("the password of x", "short")},
		failing: errors.New("the folder of keys is gone")}}
	outcome, err := Run(t.Context(), o)
	if outcome == nil || !errors.As(err, new(*LeakError)) || !strings.Contains(err.Error(), "not all of them could be learned: the folder of keys is gone") {
		t.Errorf("%+v, %v", outcome, err)
	}
	if !strings.Contains(shown.String(), "was not searched for the password of x, which is too short") {
		t.Errorf("the console says\n%s", shown)
	}
}

// A scenario, topology or environment that is masked is not what the history says was
// played.
func TestMaskedTopologyDoesNotHold(t *testing.T) {
	o, _ := fakeRun(t, fakeplane.Broken)
	o.Providers = cluster.Registry{&spy{Provider: local.Provider{}, more: []credential.Credential{credential.Token("the token of x", "Production waits an hour")}}}
	outcome, err := Run(t.Context(), o)
	if outcome == nil || !errors.As(err, new(*LeakError)) || !strings.Contains(err.Error(), "the token of x in topology.yaml, line ") {
		t.Fatalf("%+v, %v", outcome, err)
	}
	held, err := verify.Bundle(t.Context(), outcome.Bundle, verify.Options{})
	if err != nil || held.Matches() {
		t.Errorf("it holds: %+v, %v", held, err)
	}
}

// spy is a provider that remembers what its clusters tell, and may tell more or fail to.
type spy struct {
	cluster.Provider
	more    []credential.Credential
	failing error
	told    []credential.Credential
}

func (s *spy) New(ctx context.Context, topology *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	made, err := s.Provider.New(ctx, topology, options)
	if err != nil {
		return nil, err
	}
	return spied{made, s}, nil
}

type spied struct {
	cluster.Cluster
	by *spy
}

func (s spied) Credentials(ctx context.Context) ([]credential.Credential, error) {
	found, err := s.Cluster.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	s.by.told = append(found, s.by.more...)
	return s.by.told, s.by.failing
}

// mustBeAbsent demands that no credential is left in the bundle, and that there were
// some for each member.
func (s *spy) mustBeAbsent(t *testing.T, dir string) {
	t.Helper()
	for _, member := range []string{"cp1", "cp2", "cp3"} {
		count := 0
		for _, one := range s.told {
			if strings.Contains(one.What(), member) {
				count++
			}
		}
		if count == 0 {
			t.Errorf("no credential of %s is known", member)
		}
	}
	if left, err := leak.Sweep(t.Context(), dir, s.told); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
