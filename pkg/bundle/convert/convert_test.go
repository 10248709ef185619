package convert

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// oldBundle is a copy of the kept bundle of format version 1.
func oldBundle(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "version1"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func nothing(context.Context, string) error { return nil }

func read(t *testing.T, dir, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestBundle_ConvertsEveryFileAndKeepsTheOldDigests(t *testing.T) {
	dir := oldBundle(t)
	old := map[string]string{}
	for _, name := range []string{bundle.ScenarioFile, bundle.TopologyFile, bundle.HistoryFile, bundle.EnvironmentFile} {
		old[name] = bundle.ContentDigest([]byte(read(t, dir, name)))
	}
	if err := Bundle(t.Context(), dir, nothing); err != nil {
		t.Fatal(err)
	}
	if problems, _, err := bundle.Audit(t.Context(), dir); err != nil || len(problems) > 0 {
		t.Errorf("the converted bundle is not whole: %v, %v", problems, err)
	}
	notes, err := bundle.ReadMigrations(dir)
	if err != nil || len(notes) != 1 || notes[0].From != 1 || notes[0].To != 2 || notes[0].History != old[bundle.HistoryFile] {
		t.Fatalf("the note is %+v (%v)", notes, err)
	}
	for name, digest := range old {
		if notes[0].Files[name] != digest {
			t.Errorf("the note says that %s had the digest %s, and it had %s", name, notes[0].Files[name], digest)
		}
	}
	reader, err := history.Open(t.Context(), filepath.Join(dir, bundle.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	checkHeader(t, dir, reader.Header)
	checkEvents(t, reader)
	if err := Bundle(t.Context(), dir, nothing); !errors.Is(err, ErrCurrent) {
		t.Errorf("converting it again gives %v, want %v", err, ErrCurrent)
	}
}

// checkHeader holds the header of the converted history against the converted files.
func checkHeader(t *testing.T, dir string, header history.Header) {
	t.Helper()
	for _, name := range []string{bundle.ScenarioFile, bundle.TopologyFile, bundle.EnvironmentFile} {
		if got, want := header.Files[name], bundle.ContentDigest([]byte(read(t, dir, name))); got != want {
			t.Errorf("the header says that %s has the digest %s, and it has %s", name, got, want)
		}
	}
	if header.FeatureGates["1.1"]["apiserver"] != "A=true" || header.Topology.Settings["extraElections"] != "2" {
		t.Errorf("the header has lost something: %+v", header)
	}
}

// checkEvents looks at the renamed fields and values of each event of the converted history.
func checkEvents(t *testing.T, reader *history.Reader) {
	t.Helper()
	var events []*history.Event
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if len(reader.Damage) > 0 || len(events) != 21 {
		t.Fatalf("%d events, and the damage %q", len(events), reader.Damage)
	}
	for i, wrong := range []bool{
		1: len(events[1].Process.DisabledFeatures) != 1 || !events[1].Process.SelfReported,
		2: events[2].RecorderMissed.Source != history.SourceHostedResources || events[2].RecorderMissed.Message != "a <gap> & …",
		3: events[3].RecorderDelayed == nil, 4: events[4].EtcdHealth.Members[0].Error != "gap", 5: events[5].LoadBalancer == nil,
		6: !events[6].DiscoveryDocument.LocalOnly, 7: events[7].HostedResources == nil, 8: events[8].ThirdPartyObject.Change != history.ThirdPartyDeleted,
		9: events[9].EtcdHash.Members[0].Hash != "ff", 10: events[10].CustomResourceAnswer == nil, 11: events[11].InterceptedRequest == nil,
		12: !events[12].Request.WithoutDryRun, 13: events[13].Request.Election != history.ElectionAbsentHolder,
		14: events[14].Stored.LeaderAction == nil, 15: !events[15].Read.NotServed || events[15].Read.NotCompared != "why",
		16: events[16].Fault.Type != history.FaultConflictStorm, 17: events[17].Fault.Action != history.BackendSlowBody,
		18: events[18].Step.Action != "randomFaults" || events[18].Step.Phase != history.PhaseSkipped || events[18].Step.Message != "turmoil is left out", // quoted
		19: events[19].NotReached.Action != "deleteNamespace",
	} {
		if wrong {
			t.Errorf("event %d is %+v", i+1, events[i])
		}
	}
}

func TestScenario_RenamesStepsAndKeepsComments(t *testing.T) {
	dir := oldBundle(t)
	got, err := Scenario([]byte(read(t, dir, bundle.ScenarioFile)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Played with seed 7.\n", "extraElections: 2, leaderActivityProbe: true}",
		`- conflictStorm: {members: ["@cp1"], objects: 3, interval: 100ms, withFaults: [slow-etcd.yaml]} # conflicts`,
		"- setBackendBehavior: {name: tides, behavior: slowBody, for: 8s}", `- "disruptLease": {`, "action: absent-holder, count: 3}",
		"- {name: oldest, binary: 1.1.0, joinsLast: true}", "legacyHolderFor: 20s", "malformedLease: true", "minDuration: 1s, maxDuration: 2s",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	for _, old := range []string{"turmoil", "raze", "meddle", "meet", "guest", "disturb", "seize", " with:", " does:"} { // quoted
		if strings.Contains(string(got), old) {
			t.Errorf("there is still %q in\n%s", old, got)
		}
	}
}

func TestHistory_KeepsDamage(t *testing.T) {
	const header = `{"format":"evenkeel-history","version":1}` + "\n"
	for name, line := range map[string]string{
		"no object":         `[1]`,
		"cut off":           `{"seq":1,"kind":"gap","gap":{"source"`,
		"bytes after it":    `{"seq":1,"kind":"gap"} x`,
		"bytes not in UTF8": "{\"seq\":1,\"kind\":\"gap\",\"gap\":{\"source\":\"\xff\"}}",
	} {
		var out bytes.Buffer
		if err := History(strings.NewReader(header+line), &out, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, after, _ := strings.Cut(out.String(), "\n"); after != line {
			t.Errorf("%s: %q became %q", name, line, after)
		}
	}
}

// An old reader did not know the new names. Were they kept, a converted history would say
// more than the recorded one.
func TestHistory_RefusesNamesOfTheNewFormat(t *testing.T) {
	const header = `{"format":"evenkeel-history","version":1}` + "\n"
	for _, line := range []string{
		`{"seq":1,"kind":"recorderMissed","recorderMissed":{"source":"etcd"}}`,
		`{"seq":1,"kind":"process","process":{"SelfReported":true}}`,
		`{"seq":1,"kind":"step","step":{"action":"mutate"}}`,
	} {
		if err := History(strings.NewReader(header+line), io.Discard, nil); err == nil || !strings.Contains(err.Error(), "line 2 of the history uses the name") {
			t.Errorf("%s: the error is %v", line, err)
		}
	}
}

func TestBundle_LeavesTheOldOneWhenItFails(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string) func(context.Context, string) error{
		"a digest that does not hold": func(t *testing.T, dir string) func(context.Context, string) error {
			overwrite(t, dir, bundle.EnvironmentFile, "other: 1\n")
			return nothing
		},
		"a signature": func(t *testing.T, dir string) func(context.Context, string) error {
			overwrite(t, dir, bundle.SignatureFile, "{}")
			return nothing
		},
		"no report that follows from it": func(*testing.T, string) func(context.Context, string) error {
			return func(context.Context, string) error { return errors.New("no report") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := oldBundle(t)
			render := prepare(t, dir)
			before := read(t, dir, bundle.HistoryFile)
			if err := Bundle(t.Context(), dir, render); err == nil {
				t.Error("there is no error")
			}
			if read(t, dir, bundle.HistoryFile) != before {
				t.Error("the history has changed")
			}
			if _, err := os.Stat(dir + temporary); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the unfinished folder stays (%v)", err)
			}
		})
	}
}

func overwrite(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzHistory(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata", "version1", bundle.HistoryFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var out bytes.Buffer
		if History(bytes.NewReader(raw), &out, nil) == nil && bytes.Count(out.Bytes(), []byte("\n")) < bytes.Count(raw, []byte("\n")) {
			t.Errorf("lines are lost: %q became %q", raw, out.Bytes())
		}
	})
}

func FuzzScenario(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata", "version1", bundle.ScenarioFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(_ *testing.T, raw []byte) { _, _ = Scenario(raw) })
}
