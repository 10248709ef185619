package secrets

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/leak"
	"github.com/evenkeel/evenkeel/pkg/run"
	"github.com/evenkeel/evenkeel/pkg/verify"
)

const scenario = "fixtures/scenarios/quick.yaml"

// fewest is the least number of private keys that a member has.
const fewest = 5

func TestNoCredentialIsInTheBundle(t *testing.T) {
	watched := &watcher{Provider: local.Provider{}}
	outcome, err := watched.play(t)
	if err != nil {
		t.Fatal(err)
	}
	if !outcome.Report.Complete {
		t.Errorf("the scenario did not run to its end: %s", outcome.Report.Message)
	}

	t.Run("all that opens the cluster is told of", func(t *testing.T) { reportsAll(t, watched) })
	t.Run("none is in the bundle", func(t *testing.T) { holdsNone(t, outcome.Bundle, watched.told) })
	t.Run("each would be found", func(t *testing.T) { findsEach(t, outcome.Bundle, watched.members[0], watched.told) })
}

// reportsAll holds the credentials that the cluster reports against those in the run's state.
func reportsAll(t *testing.T, watched *watcher) {
	t.Helper()
	lying := 0
	for file, raw := range watched.files {
		held, err := credential.File(file, raw)
		if err != nil {
			t.Fatal(err)
		}
		if (strings.HasSuffix(file, ".key") || strings.HasSuffix(file, "kubeconfig")) && len(held) == 0 {
			t.Errorf("%s was in the run's state and holds no credential", file)
		}
		for _, one := range held {
			lying++
			if !slices.ContainsFunc(watched.told, one.Same) {
				t.Errorf("the cluster does not report %s", one)
			}
		}
	}
	if least := fewest * len(watched.members); lying < least || len(watched.told) < least {
		t.Errorf("the run's state has %d credentials and the cluster reports %d, but %d members have at least %d", lying, len(watched.told), len(watched.members), least)
	}
	for _, member := range watched.members {
		own := slices.DeleteFunc(slices.Clone(watched.told), func(one credential.Credential) bool { return !strings.Contains(one.What(), member+"-") })
		if len(own) < fewest {
			t.Errorf("of %s the cluster reports only %v", member, own)
		}
	}
}

// holdsNone searches the bundle for each credential, and has the bundle verified.
func holdsNone(t *testing.T, dir string, told []credential.Credential) {
	t.Helper()
	needles := map[string]string{}
	for _, one := range told {
		for _, text := range forms(t, one) {
			needles[text] = one.What()
		}
	}
	files := 0
	for file, raw := range contents(t, dir) {
		files++
		for text, what := range needles {
			if bytes.Contains(raw, []byte(text)) {
				t.Errorf("%s is in %s", what, file)
			}
		}
	}
	if files < 9 {
		t.Errorf("only %d files were searched", files)
	}
	if found, err := leak.Sweep(t.Context(), dir, told); err != nil || len(found) > 0 {
		t.Errorf("found were %v, %v", found, err)
	}
	if held, err := verify.Bundle(t.Context(), dir, verify.Options{}); err != nil || !held.Matches() {
		t.Errorf("the bundle does not hold: %+v, %v", held, err)
	}
}

// findsEach writes each credential into a log of the bundle: the search must find and mask it.
func findsEach(t *testing.T, dir, member string, told []credential.Credential) {
	t.Helper()
	log := filepath.Join(dir, bundle.LogDir, member+"-apiserver.log")
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range told {
		text := strings.Join(forms(t, one), "\n")
		if err := os.WriteFile(log, append(slices.Clone(before), text...), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := leak.Sweep(t.Context(), filepath.Dir(log), []credential.Credential{one})
		if err != nil || len(found) != 1 || found[0].What != one.What() {
			t.Fatalf("%s is not found: %v, %v", one, found, err)
		}
		after, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range forms(t, one) {
			if bytes.Contains(after, []byte(text)) {
				t.Errorf("%s is still there after it was masked", one)
			}
		}
	}
}

// A run whose bundle contains a secret fails, whatever its verdicts are.
func TestCredentialInTheHistory(t *testing.T) {
	// Every history contains this text, and no step depends on it.
	planted := credential.Token("a planted token", `"kind":"end"`)
	watched := &watcher{Provider: local.Provider{}, planted: []credential.Credential{planted}}
	outcome, err := watched.play(t)
	if exit.Code(err) != exit.CouldNotRun || !strings.Contains(err.Error(), "a planted token in history.jsonl, line ") {
		t.Fatalf("error %v", err)
	}
	if outcome == nil || outcome.Report.Verdict == check.Pass || outcome.Report.Verdict == check.Fail {
		t.Fatalf("%+v", outcome)
	}
	for file, raw := range contents(t, outcome.Bundle) {
		if bytes.Contains(raw, []byte(`"kind":"end"`)) {
			t.Errorf("it is still in %s", file)
		}
	}
}

// watcher is a provider that records which credentials its cluster reports, and which
// the run's state contains.
type watcher struct {
	cluster.Provider
	// planted are credentials that it reports in addition.
	planted []credential.Credential

	root    string
	members []string
	told    []credential.Credential
	files   map[string][]byte
}

func (w *watcher) play(t *testing.T) (*run.Outcome, error) {
	t.Helper()
	w.root, w.files = t.TempDir(), map[string][]byte{}
	t.Setenv(state.RootVariable, w.root)
	return run.Run(t.Context(), run.Options{
		Scenario: scenario, Out: filepath.Join(t.TempDir(), "bundle"), Harness: "suites", Console: t.Output(), Providers: cluster.Registry{w},
	})
}

// New implements cluster.Provider.
func (w *watcher) New(ctx context.Context, topology *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	made, err := w.Provider.New(ctx, topology, options)
	if err != nil {
		return nil, err
	}
	for _, m := range made.Members() {
		w.members = append(w.members, m.Name)
	}
	return watched{made, w}, nil
}

type watched struct {
	cluster.Cluster
	by *watcher
}

// Credentials implements cluster.Cluster.
func (w watched) Credentials(ctx context.Context) ([]credential.Credential, error) {
	found, err := w.Cluster.Credentials(ctx)
	w.by.told = found
	return append(slices.Clone(found), w.by.planted...), err
}

// Stop implements cluster.Cluster. It reads the run's state, which Stop removes.
func (w watched) Stop(ctx context.Context) error {
	reading := filepath.WalkDir(w.by.root, func(path string, entry fs.DirEntry, err error) error {
		const largest = 1 << 20 // the data of etcd is larger
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Size() > largest {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		w.by.files[path] = raw
		return nil
	})
	return errors.Join(reading, w.Cluster.Stop(ctx))
}

// forms returns the texts as which a file may contain a credential.
func forms(t *testing.T, one credential.Credential) []string {
	t.Helper()
	written, der, from, to, ok := one.Key()
	if !ok {
		t.Fatalf("%s is no private key, and clusters of this provider have no others", one)
	}
	lines := strings.Split(strings.TrimSpace(string(written)), "\n")
	body := strings.Join(lines[1:len(lines)-1], "")
	return []string{
		string(der[from:to]), hex.EncodeToString(der[from:to]), body,
		lines[2], // the secret part begins at the end of the first line and goes on here
		strings.Join(lines[1:len(lines)-1], `\n`),
		base64.StdEncoding.EncodeToString(written),
		base64.StdEncoding.EncodeToString(der[from:to])[4:40],
	}
}

// contents are the files of a bundle as they were before they were compressed.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, bundle.Compressed) {
			zipped, err := gzip.NewReader(bytes.NewReader(raw))
			if err != nil {
				return err
			}
			if raw, err = io.ReadAll(zipped); err != nil {
				return err
			}
		}
		name, err := filepath.Rel(dir, path)
		all[name] = raw
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
