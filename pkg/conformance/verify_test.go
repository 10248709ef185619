package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
	"github.com/evenkeel/evenkeel/pkg/run"
)

const storyHarness = "pkg/story"

func problemsOf(t testing.TB, dir string, o VerifyOptions) []string {
	t.Helper()
	o.Harness = storyHarness
	v, err := Verify(context.Background(), dir, o)
	if err != nil {
		return []string{err.Error()}
	}
	return v.Problems
}

// mixed is a campaign with a red run, one that was tried twice and one that has crashed.
func mixed(t testing.TB) string {
	t.Helper()
	plan := planned(t, func(r *Request) { r.Scenarios, r.Repeat, r.Tries = []string{"restart-skew", "rolling-upgrade"}, 2, 2 })
	_, dir := playCampaign(t, plan, fakerun.Script{Runs: map[string]string{
		"restart-skew/1": fakerun.WeakOnce, "rolling-upgrade/1": fakerun.Fail, "restart-skew/2": fakerun.CrashOnce,
	}}, Options{Parallel: 2})
	return dir
}

func TestVerify_WhatEvenkeelWrotesHolds(t *testing.T) {
	dir := mixed(t)
	v, err := Verify(t.Context(), dir, VerifyOptions{Harness: storyHarness})
	if err != nil || !v.Matches() || v.Judged != 5 {
		t.Fatalf("%v, %+v", err, v)
	}
	if contains(v.Notes, "no part of the campaign") {
		t.Errorf("what evenkeel writes is no part of the campaign: %q", v.Notes)
	}
	if !contains(v.Notes, "line 4, try 1 has no bundle that could be verified: it left no bundle") {
		t.Errorf("%q", v.Notes)
	}
	if _, err := Verify(t.Context(), t.TempDir(), VerifyOptions{}); err == nil {
		t.Error("an empty folder is verified")
	}
}

// firstBundle is the first try of a campaign that has one.
func firstBundle(t *testing.T, dir string) Ended {
	t.Helper()
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := f.state.all()
	return all[slices.IndexFunc(all, func(e Ended) bool { return e.Digest != "" })]
}

// Of a bundle that is missing it is said once, by line and folder, and not also what the report would
// be without it.
func TestVerify_SaysOnceThatABundleIsMissing(t *testing.T) {
	dir := mixed(t)
	lost := firstBundle(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, lost.Bundle)); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(t.Context(), dir, VerifyOptions{Harness: storyHarness})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("line %d, try %d (%s): its bundle is missing; name with --bundles where bundles are", lost.Line, lost.Try, lost.Bundle)
	if len(v.Problems) != 1 || v.Problems[0] != want {
		t.Errorf("%q, want only %q", v.Problems, want)
	}
	if !contains(v.Notes, ReportFile+" was not compared with the bundles: 1 missing") {
		t.Errorf("%q", v.Notes)
	}
}

// A bundle that does not hold is the cause, and what the report would be without it is told of in a few
// lines after it.
func TestVerify_NamesTheCauseFirst(t *testing.T) {
	dir := mixed(t)
	changed := firstBundle(t, dir)
	if err := os.Remove(filepath.Join(dir, changed.Bundle, bundle.HistoryFile)); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(t.Context(), dir, VerifyOptions{Harness: storyHarness})
	if err != nil {
		t.Fatal(err)
	}
	follow := slices.DeleteFunc(slices.Clone(v.Problems), func(p string) bool { return !strings.HasPrefix(p, ReportFile+": ") })
	if !strings.HasPrefix(v.Problems[0], changed.place()+": ") || len(follow) != maxNamed+1 || !strings.HasSuffix(follow[maxNamed], " more fields of it") {
		t.Errorf("%s", strings.Join(v.Problems, "\n"))
	}
}

// What lies beside a campaign is no evidence, and readers are told so.
func TestVerify_NamesWhatIsNoPartOfTheCampaign(t *testing.T) {
	dir := mixed(t)
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", bundle.SignatureFile + "~"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Verify(t.Context(), dir, VerifyOptions{Harness: storyHarness})
	if err != nil || !v.Matches() {
		t.Fatalf("%v, %+v", err, v)
	}
	if !contains(v.Notes, "what else lies in the folder is no part of the campaign: a.txt, b.txt, c.txt, d.txt, e.txt, and 2 more files") {
		t.Errorf("%q", v.Notes)
	}
}

// The histories of a campaign may lie elsewhere: in a folder or on a server, by digest.
func TestVerify_FetchesBundlesByDigest(t *testing.T) {
	dir, elsewhere := mixed(t), t.TempDir()
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range f.state.all() {
		if e.Digest == "" {
			continue
		}
		if err := os.Rename(filepath.Join(dir, e.Bundle), filepath.Join(elsewhere, e.Digest)); err != nil {
			t.Fatal(err)
		}
	}
	if problems := problemsOf(t, dir, VerifyOptions{}); !contains(problems, "is missing; name with --bundles where bundles are") {
		t.Errorf("%q", problems)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(elsewhere)))
	defer server.Close()
	for _, where := range []string{elsewhere, server.URL} {
		source, err := NewSource(where)
		if err != nil {
			t.Fatal(err)
		}
		if problems := problemsOf(t, dir, VerifyOptions{Bundles: source}); len(problems) > 0 {
			t.Errorf("%s: %q", where, problems)
		}
		// A server that gives another bundle under the digest is found out.
		all := f.state.all()
		at := slices.IndexFunc(all, func(e Ended) bool { return e.Digest != "" })
		one, other := filepath.Join(elsewhere, all[at].Digest), filepath.Join(elsewhere, all[len(all)-1].Digest)
		swap(t, one, other)
		if problems := problemsOf(t, dir, VerifyOptions{Bundles: source}); !contains(problems, "is another bundle than the journal has") {
			t.Errorf("%s: %q", where, problems)
		}
		swap(t, one, other)
	}
	for _, bad := range []string{"/nowhere", "ftp://x"} {
		if _, err := NewSource(bad); err == nil {
			t.Errorf("%s is a source", bad)
		}
	}
}

func swap(t testing.TB, a, b string) {
	t.Helper()
	for _, step := range [][2]string{{a, a + ".tmp"}, {b, a}, {a + ".tmp", b}} {
		if err := os.Rename(step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVerify_SignatureIsOfTheWhole(t *testing.T) {
	dir := mixed(t)
	key := filepath.Join(t.TempDir(), "key")
	if _, err := attest.GenerateKey(key); err != nil {
		t.Fatal(err)
	}
	public, err := attest.LoadPublicKey(key + attest.PublicKeySuffix)
	if err != nil {
		t.Fatal(err)
	}
	if problems := problemsOf(t, dir, VerifyOptions{Key: public}); !contains(problems, "it is not signed") {
		t.Errorf("%q", problems)
	}
	if _, err := Sign(t.Context(), dir, key, storyHarness); err != nil {
		t.Fatal(err)
	}
	if problems := problemsOf(t, dir, VerifyOptions{Key: public}); len(problems) > 0 {
		t.Fatalf("%q", problems)
	}
	// A forger without the key who drops a red line has to make everything anew.
	raw, err := os.ReadFile(filepath.Join(dir, JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, JournalFile), []byte(strings.Replace(string(raw), `"seconds":0`, `"seconds":1`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	reseal(t, dir)
	if problems := problemsOf(t, dir, VerifyOptions{}); !contains(problems, bundle.SignatureFile) {
		t.Errorf("%q", problems)
	}
}

// edits is how many changes of a campaign are tried, and editSeed names their seed.
const (
	edits    = 1000
	editSeed = "EVENKEEL_CAMPAIGN_SEED"
)

// Of a thousand changed campaigns each is found out: single bytes, counts, verdicts and
// digests; and a red run that is dropped, a green one that is counted twice and changed lines
// of the plan also where the forger makes the rest anew that evenkeel makes.
func TestVerify_EveryEditIsFound(t *testing.T) {
	n, seed := edits, uint64(time.Now().UnixNano())
	if testing.Short() {
		n = edits / 10
	}
	if set, err := strconv.ParseUint(os.Getenv(editSeed), 10, 64); err == nil {
		seed = set
	}
	t.Logf("seed %d; %s=%d repeats it", seed, editSeed, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	original := mixed(t)
	kinds := []struct {
		name string
		edit func(*testing.T, *rand.Rand, string) bool
	}{
		{"a byte", changeByte}, {"a number", changeNumber}, {"a verdict", changeVerdict}, {"a digest", changeDigest},
		{"a line of a file", changeLine}, {"a red run dropped", dropRed}, {"a green run repeated", repeatGreen}, {"a line of the plan", changePlan},
	}
	counts := map[string]int{}
	for i := 0; i < n; {
		kind := kinds[random.IntN(len(kinds))]
		dir := filepath.Join(t.TempDir(), "campaign")
		if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
			t.Fatal(err)
		}
		if kind.edit(t, random, dir) {
			i++
			counts[kind.name]++
			if problems := problemsOf(t, dir, VerifyOptions{}); len(problems) == 0 {
				t.Errorf("edit %d, %s: not found", i, kind.name)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("found: %v", counts)
}

// evidence are the files of a campaign from which something follows.
func evidence(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) != LogSuffix {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rewrite(t *testing.T, path string, change func([]byte) []byte) bool {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := change(slices.Clone(before))
	if string(after) == string(before) {
		return false
	}
	if err := os.WriteFile(path, after, 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}

func pick[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

func changeByte(t *testing.T, random *rand.Rand, dir string) bool {
	return rewrite(t, pick(random, evidence(t, dir)), func(raw []byte) []byte {
		if len(raw) == 0 {
			return raw
		}
		raw[random.IntN(len(raw))] ^= byte(1 << random.IntN(7))
		return raw
	})
}

// changeMatch changes one match of the expression in report, plan or journal.
func changeMatch(t *testing.T, random *rand.Rand, dir string, re *regexp.Regexp, by func(string) string) bool {
	file := filepath.Join(dir, pick(random, []string{ReportFile, ReportFile, PlanFile, JournalFile}))
	return rewrite(t, file, func(raw []byte) []byte {
		at := re.FindAllIndex(raw, -1)
		if len(at) == 0 {
			return raw
		}
		m := pick(random, at)
		return slices.Concat(raw[:m[0]], []byte(by(string(raw[m[0]:m[1]]))), raw[m[1]:])
	})
}

var (
	numbers  = regexp.MustCompile(`\b[0-9]{1,4}\b`)
	verdicts = regexp.MustCompile(`\b(pass|fail|inconclusive|skipped|success|failure|partial)\b`)
	digests  = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
)

func changeNumber(t *testing.T, random *rand.Rand, dir string) bool {
	return changeMatch(t, random, dir, numbers, func(was string) string {
		n, err := strconv.Atoi(was)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(n + 1)
	})
}

func changeVerdict(t *testing.T, random *rand.Rand, dir string) bool {
	return changeMatch(t, random, dir, verdicts, func(string) string { return pick(random, []string{"pass", "fail", "success"}) })
}

func changeDigest(t *testing.T, random *rand.Rand, dir string) bool {
	return changeMatch(t, random, dir, digests, func(was string) string { return was[1:] + was[:1] })
}

// changeLine drops or repeats a line of report, plan or journal.
func changeLine(t *testing.T, random *rand.Rand, dir string) bool {
	file := filepath.Join(dir, pick(random, []string{ReportFile, PlanFile, JournalFile}))
	return rewrite(t, file, func(raw []byte) []byte {
		lines := strings.SplitAfter(string(raw), "\n")
		at := random.IntN(len(lines))
		if random.IntN(2) == 0 {
			return []byte(strings.Join(slices.Delete(lines, at, at+1), ""))
		}
		return []byte(strings.Join(slices.Insert(lines, at, lines[at]), ""))
	})
}

// dropRed takes a red run out of the journal, and its bundle with it; half of the time it
// also makes the report anew.
func dropRed(t *testing.T, random *rand.Rand, dir string) bool {
	keep := random.IntN(2) == 0
	changed := rewrite(t, filepath.Join(dir, JournalFile), func(raw []byte) []byte {
		var out []string
		for line := range strings.Lines(string(raw)) {
			if !strings.Contains(line, `"line":2,`) {
				out = append(out, line)
			}
		}
		return []byte(strings.Join(out, ""))
	})
	if !keep {
		if err := os.RemoveAll(filepath.Join(dir, RunsDir, "00002-rolling-upgrade-1")); err != nil {
			t.Fatal(err)
		}
	}
	if random.IntN(2) == 0 {
		reseal(t, dir)
	}
	return changed
}

// repeatGreen puts a green bundle in the place of the red one, or enters it as one more try.
func repeatGreen(t *testing.T, random *rand.Rand, dir string) bool {
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := f.state.all()
	green, red := all[len(all)-1], all[slices.IndexFunc(all, func(e Ended) bool { return e.Line == 2 })]
	if random.IntN(2) == 0 {
		to := filepath.Join(dir, red.Bundle)
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, green.Bundle))); err != nil {
			t.Fatal(err)
		}
		rewrite(t, filepath.Join(dir, JournalFile), func(raw []byte) []byte { return []byte(strings.ReplaceAll(string(raw), red.Digest, green.Digest)) })
	} else {
		rewrite(t, filepath.Join(dir, JournalFile), func(raw []byte) []byte {
			return fmt.Appendf(raw, `{"ended":{"line":%d,"try":%d,"bundle":%q,"digest":%q,"seconds":0}}`+"\n", green.Line, green.Try+1, green.Bundle, green.Digest)
		})
	}
	if random.IntN(2) == 0 {
		reseal(t, dir)
	}
	return true
}

// changePlan changes a line of the plan, and enters the new plan into the journal.
func changePlan(t *testing.T, random *rand.Rand, dir string) bool {
	f, err := openPlan(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := f.plan
	line := &p.Lines[random.IntN(len(p.Lines))]
	switch random.IntN(6) {
	case 0:
		line.Seed++
		if line.ScenarioDigest, err = run.PlayedDigest(line.Scenario, "", line.Seed); err != nil {
			t.Fatal(err)
		}
	case 1:
		line.Scenario = "quick"
	case 2:
		p.Lines = p.Lines[:len(p.Lines)-1]
	case 3:
		p.Lines = append(p.Lines, Line{len(p.Lines) + 1, line.Scenario, line.ScenarioDigest, line.Seed, line.Judges})
	case 4:
		p.Asked.Repeat++
	case 5:
		p.LeftOut = append(p.LeftOut, LeftOut{"rolling-upgrade", "it was not wanted"})
	}
	was := f.planDigest
	raw, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, PlanFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if random.IntN(3) > 0 {
		rewrite(t, filepath.Join(dir, JournalFile), func(journal []byte) []byte {
			return []byte(strings.ReplaceAll(string(journal), was, bundle.ContentDigest(raw)))
		})
		reseal(t, dir)
	}
	return true
}

// reseal makes the report anew as evenkeel makes it, where it can.
func reseal(t testing.TB, dir string) {
	t.Helper()
	f, err := openFolder(dir)
	if err != nil {
		return
	}
	rep, err := f.compute()
	if err != nil {
		return
	}
	if err := f.write(rep); err != nil {
		t.Fatal(err)
	}
}
