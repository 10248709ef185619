package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// edits is how many changes of each third are tried, and seedVariable names the
// seed of them, which is else another one each time.
const (
	edits        = 350
	seedVariable = "EVENKEEL_TAMPER_SEED"
)

// care is what a forger who changes a bundle does so that the change is not noticed.
type care int

const (
	// careless leaves all else as it was.
	careless care = iota
	// resealed computes the digests anew, so that only judging again, or a signature,
	// reveals the change.
	resealed
	// rejudged makes report, JUnit file and digests anew, which takes only evenkeel.
	rejudged
)

// The test changes a thousand bundles, each in one place. A user who has the key must
// notice every change, and so must a user without a key: the report has to follow from the
// history, and it has the digests of all other files. Only one change cannot be noticed
// without a signature: a forger changes the history itself, and makes anew what follows
// from it.
func TestVerify_EveryChangeIsNoticed(t *testing.T) {
	random := seeded(t)
	keyFile := filepath.Join(t.TempDir(), "key")
	if _, err := attest.GenerateKey(keyFile); err != nil {
		t.Fatal(err)
	}
	key, err := attest.LoadPublicKey(keyFile + attest.PublicKeySuffix)
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{build(t, "pass"), build(t, "fail")}
	for _, dir := range dirs {
		sign(t, dir, keyFile)
		if problems := noticed(t, dir, Options{Key: key, Harness: fixtureHarness}); problems != "" {
			t.Fatalf("an unchanged bundle does not match: %s", problems)
		}
	}

	counts := map[string]int{}
	for n := range 3 * edits {
		original := dirs[random.IntN(len(dirs))]
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
			t.Fatal(err)
		}
		by := care(n / edits)
		e := edit(t, random, dir, by)
		if noticed(t, dir, Options{Key: key, Harness: fixtureHarness}) == "" {
			t.Errorf("edit %d, %s: not noticed with the key", n, e.what)
		}
		if e.file == bundle.SignatureFile {
			counts["in the signature"]++ // without the key its signer is unknown
			continue
		}
		// A forger who changes a bundle and computes its digests anew removes the signature.
		if err := os.Remove(filepath.Join(dir, bundle.SignatureFile)); err != nil {
			t.Fatal(err)
		}
		keyless := noticed(t, dir, Options{Harness: fixtureHarness})
		switch {
		case keyless != "" && by == careless:
			counts["by the digests"]++
		case keyless != "" && by == resealed:
			counts["by judging again"]++
		case keyless != "":
			counts["though all was made anew"]++
		case by != rejudged || e.file != bundle.HistoryFile:
			t.Errorf("edit %d, %s: not noticed without a key", n, e.what)
		default:
			counts["by the signature alone"]++
		}
	}
	t.Logf("noticed: %v", counts)
	for how, least := range map[string]int{
		"by the digests": edits * 3 / 4, "by judging again": edits, "though all was made anew": edits / 4, "by the signature alone": edits / 10,
	} {
		if counts[how] < least {
			t.Errorf("%d changes were noticed %s, and less than %d say little", counts[how], how, least)
		}
	}
}

// seeded is randomness from a new seed, or from the one that the environment has.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if set := os.Getenv(seedVariable); set != "" {
		var err error
		if seed, err = strconv.ParseUint(set, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d; %s=%d repeats it", seed, seedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A user who has the key notices that the signature was removed, and that another key has
// made it.
func TestVerify_SignatureOfAnotherKeyIsRefused(t *testing.T) {
	dir := build(t, "pass")
	var keys [2]*attest.PublicKey
	var files [2]string
	for i := range keys {
		files[i] = filepath.Join(t.TempDir(), "key")
		if _, err := attest.GenerateKey(files[i]); err != nil {
			t.Fatal(err)
		}
		var err error
		if keys[i], err = attest.LoadPublicKey(files[i] + attest.PublicKeySuffix); err != nil {
			t.Fatal(err)
		}
	}
	if got := noticed(t, dir, Options{Key: keys[0], Harness: fixtureHarness}); !strings.Contains(got, "it is not signed") {
		t.Errorf("unsigned: %q", got)
	}
	sign(t, dir, files[0])
	if got := noticed(t, dir, Options{Key: keys[1], Harness: fixtureHarness}); !strings.Contains(got, "and not by "+keys[1].ID()) {
		t.Errorf("by another key: %q", got)
	}
	// Another key's signature under the name of this one.
	forged := filepath.Join(dir, bundle.SignatureFile)
	if err := os.Remove(forged); err != nil {
		t.Fatal(err)
	}
	sign(t, dir, files[1])
	raw := read(t, forged)
	write(t, forged, bytes.ReplaceAll(raw, []byte(keys[1].ID()), []byte(keys[0].ID())))
	if got := noticed(t, dir, Options{Key: keys[0], Harness: fixtureHarness}); !strings.Contains(got, "the signature is not that of the key") {
		t.Errorf("forged: %q", got)
	}
}

// --- Edits ---

type edited struct{ file, what string }

// edit changes one thing in a bundle, at random.
func edit(t *testing.T, random *rand.Rand, dir string, by care) edited {
	t.Helper()
	beside := []string{bundle.ScenarioFile, bundle.TopologyFile, bundle.EnvironmentFile}
	var files []string
	switch by {
	case careless:
		files = append(beside, bundle.HistoryFile, bundle.ReportFile, bundle.JUnitFile, bundle.DigestFile, bundle.SignatureFile)
	case resealed:
		// Mostly what only judging again can tell.
		files = append(beside, bundle.HistoryFile, bundle.HistoryFile, bundle.ReportFile, bundle.ReportFile, bundle.ReportFile, bundle.JUnitFile)
	case rejudged:
		files = append(beside, bundle.HistoryFile, bundle.HistoryFile, bundle.HistoryFile)
	}
	for {
		file := files[random.IntN(len(files))]
		path := filepath.Join(dir, file)
		before := read(t, path)
		after, what := change(t, random, file, before)
		if bytes.Equal(before, after) {
			continue // the two lines that were swapped were alike, say
		}
		write(t, path, after)
		if by == rejudged {
			follow(t, dir)
		}
		if by != careless {
			if err := bundle.Seal(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
		}
		return edited{file, fmt.Sprintf("%s of %s (made anew: %s)", what, file, [...]string{"nothing", "the digests", "report and digests"}[by])}
	}
}

func change(t *testing.T, random *rand.Rand, file string, raw []byte) (after []byte, what string) {
	t.Helper()
	after = slices.Clone(raw)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines = slices.DeleteFunc(lines, func(l []byte) bool { return len(l) == 0 })
	kind := random.IntN(4)
	if kind == 2 && file == bundle.DigestFile {
		kind = 0 // the order of the digests says nothing
	}
	switch kind {
	case 0:
		at, bit := random.IntN(len(raw)), byte(1)<<random.IntN(8)
		after[at] ^= bit
		return after, fmt.Sprintf("flip %#x at byte %d", bit, at)
	case 1:
		at := random.IntN(len(lines))
		return bytes.Join(slices.Delete(slices.Clone(lines), at, at+1), nil), fmt.Sprintf("delete line %d", at+1)
	case 2:
		a, b := random.IntN(len(lines)), random.IntN(len(lines))
		lines[a], lines[b] = lines[b], lines[a]
		return bytes.Join(lines, nil), fmt.Sprintf("swap lines %d and %d", a+1, b+1)
	default:
		switch file {
		case bundle.ReportFile:
			return changeReport(t, random, raw)
		case bundle.HistoryFile:
			at := random.IntN(len(lines))
			var fields any
			decode(t, lines[at], &fields)
			path := alter(random, &fields)
			out, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			lines[at] = append(out, '\n')
			return bytes.Join(lines, nil), fmt.Sprintf("edit of %s in line %d", path, at+1)
		}
		at := random.IntN(len(lines))
		return bytes.Join(slices.Insert(slices.Clone(lines), at, lines[at]), nil), fmt.Sprintf("double line %d", at+1)
	}
}

func changeReport(t *testing.T, random *rand.Rand, raw []byte) ([]byte, string) {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	var fields any
	decode(t, asJSON, &fields)
	path := alter(random, &fields)
	if asJSON, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.JSONToYAML(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	return out, "edit of " + path
}

func decode(t *testing.T, raw []byte, into *any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// alter changes, removes or adds one value somewhere below.
func alter(random *rand.Rand, value *any) string {
	switch v := (*value).(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		if len(names) == 0 || random.IntN(20) == 0 {
			v["planted"] = "field"
			return ".planted"
		}
		name := names[random.IntN(len(names))]
		if random.IntN(10) == 0 {
			delete(v, name)
			return "." + name + " (removed)"
		}
		below := v[name]
		path := alter(random, &below)
		v[name] = below
		return "." + name + path
	case []any:
		if len(v) == 0 {
			*value = []any{"planted"}
			return "[0]"
		}
		at := random.IntN(len(v))
		if random.IntN(5) == 0 {
			*value = slices.Delete(slices.Clone(v), at, at+1)
			return fmt.Sprintf("[%d] (removed)", at)
		}
		return fmt.Sprintf("[%d]", at) + alter(random, &v[at])
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			*value = json.Number("7")
			return ""
		}
		*value = json.Number(strconv.FormatInt(n+1+random.Int64N(3), 10))
	case string:
		*value = map[string]string{"pass": "fail", "fail": "pass", "success": "failure", "failure": "success", "partial": "success"}[v]
		if *value == "" {
			*value = v + "x"
		}
	case bool:
		*value = !v
	default:
		*value = "planted"
	}
	return ""
}

// --- Helpers ---

// fixtureHarness is the version in the headers of the fixtures.
const fixtureHarness = "pkg/story"

// build makes the bundle of one of the histories of SV-06.
func build(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	raw := story.Named(stories.All(), "SV-06/"+name).File()
	header, events, _ := bytes.Cut(raw, []byte("\n"))
	const ids = `["SV-01","SV-03","SV-04","SV-06","SV-15","SV-22"]`
	files := map[string]string{}
	for file, content := range map[string]string{
		bundle.ScenarioFile:    "# Played with seed 1.\nmetadata:\n  name: story\n",
		bundle.TopologyFile:    "spec:\n  provider: local\n  distribution: reference\n  members:\n  - name: cp1\n  - name: cp2\n  - name: cp3\n",
		bundle.EnvironmentFile: "go: go1.26\nharness: " + fixtureHarness + "\nseed: 1\n",
	} {
		write(t, filepath.Join(dir, file), []byte(content))
		files[file] = bundle.ContentDigest([]byte(content))
	}
	more, err := json.Marshal(history.Header{
		HarnessDigest:  strings.Repeat("5", 64),
		Implementation: &history.Implementation{Organization: "Example, Inc.", Project: "exampleplane", URL: "https://example.org", Version: "1.2", Contact: []string{"me@example.org"}},
		Topology:       &history.Topology{Name: "three", ReplaceWith: "static-pods", Settings: map[string]string{"migrationRate": "25"}},
		FeatureGates:   map[string]map[string]string{"1.2": {"apiserver": "A=true"}},
		Files:          files,
	})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(more, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"harnessDigest", "implementation", "topology", "featureGates", "files"} {
		header = fmt.Appendf(nil, `%s,%q:%s}`, bytes.TrimSuffix(header, []byte("}")), name, fields[name])
	}
	header = fmt.Appendf(nil, `%s,"profiles":["storage-version-rollout"],"judges":%s,"asked":%s}`, bytes.TrimSuffix(header, []byte("}")), ids, ids)
	write(t, filepath.Join(dir, bundle.HistoryFile), fmt.Appendf(nil, "%s\n%s", header, events))
	if !follow(t, dir) {
		t.Fatal("an unchanged bundle cannot be judged")
	}
	if err := bundle.Seal(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// follow writes what follows from the history of a bundle, where it can be judged.
func follow(t testing.TB, dir string) bool {
	t.Helper()
	rep, err := judge.Bundle(t.Context(), dir)
	if err != nil {
		return false
	}
	report, err := rep.YAML()
	if err != nil {
		t.Fatal(err)
	}
	junit, err := rep.JUnit()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, bundle.ReportFile), report)
	write(t, filepath.Join(dir, bundle.JUnitFile), junit)
	return true
}

func sign(t *testing.T, dir, keyFile string) {
	t.Helper()
	outcome, err := Bundle(t.Context(), dir, Options{Harness: fixtureHarness})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := attest.Sign(t.Context(), dir, keyFile, attest.NewStatement(outcome.Digests, outcome.Report)); err != nil {
		t.Fatal(err)
	}
}

// noticed is what does not match, in words; empty if all does.
func noticed(t *testing.T, dir string, options Options) string {
	t.Helper()
	outcome, err := Bundle(t.Context(), dir, options)
	if err != nil {
		return err.Error()
	}
	return strings.Join(outcome.Problems, "\n")
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func write(t testing.TB, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, fs.FileMode(0o644)); err != nil {
		t.Fatal(err)
	}
}
