package judge

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/story"
)

func TestBundle(t *testing.T) {
	const started = `"started":"2026-11-20T10:00:00Z"`
	header := func(more string) string {
		return fmt.Sprintf(`{"format":"evenkeel-history","version":%d,"run":"r",%s,"harness":"v9","scenario":"s","provider":"local","distribution":"reference",`+
			`"members":[{"name":"cp1","serverID":"a","release":"1.2"}]%s}`+"\n", history.Version, started, more)
	}
	const end = `{"seq":1,"at":1,"kind":"end","end":{"complete":true}}` + "\n"
	for _, tc := range []struct {
		name, history string
		verdict       check.Verdict
		results       int
		expectError   string
	}{
		{name: "empty", expectError: "the file is empty"},
		{name: "foreign", history: `{"format":"tune"}` + "\n", expectError: `names the format "tune"`},
		{name: "no JSON", history: "hello\n", expectError: "is not the header of a history"},
		{name: "newer", history: strings.Replace(header(""), fmt.Sprintf(`"version":%d`, history.Version), fmt.Sprintf(`"version":%d`, history.Version+1), 1),
			expectError: "judge it with the evenkeel that recorded it (v9)"},
		{name: "unknown requirement", history: header(`,"judges":["SV-99"]`), expectError: "is to judge SV-99, which this evenkeel does not know"},
		{name: "no scenario", history: strings.Replace(header(""), `"scenario":"s",`, "", 1) + end, expectError: "is no valid report: scenario is missing"},
		{name: "judged twice", history: header(`,"judges":["SV-06","SV-06"]`) + end, expectError: "its list judges has \"SV-06\" twice"},
		{name: "unknown profile", history: header(`,"judges":["SV-06"],"profiles":["moon"]`), expectError: `there is no profile "moon"`},
		{name: "nothing to judge", history: header("") + end, verdict: check.Inconclusive},
		{name: "no events", history: header(`,"judges":["SV-06"],"asked":["SV-06"]`), verdict: check.Inconclusive, results: 1},
		{name: "nothing seen", history: header(`,"judges":["SV-06"],"asked":["SV-06"]`) + end, verdict: check.Inconclusive, results: 1},
		{name: "a requirement without a check", history: header(`,"judges":["SV-08"],"asked":["SV-08"]`) + end, verdict: check.Inconclusive, results: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), []byte(tc.history), 0o600); err != nil {
				t.Fatal(err)
			}
			rep, err := Bundle(t.Context(), dir)
			if tc.expectError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.expectError) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want one sentence with %q", err, tc.expectError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if rep.Verdict != tc.verdict || len(rep.Results) != tc.results {
				t.Errorf("%s over %d results, want %s over %d", rep.Verdict, len(rep.Results), tc.verdict, tc.results)
			}
		})
	}
	if _, err := Bundle(t.Context(), filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "x cannot be judged") {
		t.Errorf("error %v", err)
	}
}

func TestBundleIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	raw := story.Named(stories.All(), "SV-06/pass").File()
	if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rep, err := Bundle(ctx, dir); rep != nil || err == nil || !strings.Contains(err.Error(), "it was interrupted") {
		t.Errorf("%v, %v", rep, err)
	}
}

// A green history, judged by a run that was asked for more, is not green.
func TestBundleRemembersWhatWasAsked(t *testing.T) {
	for _, tc := range []struct {
		name    string
		asked   []string
		verdict check.Verdict
	}{
		{"what was judged", []string{"SV-06"}, check.Pass},
		{"more", []string{"SV-06", "SV-22"}, check.Inconclusive},
		{"the whole profile", nil, check.Inconclusive},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			listing(t, dir, "pass", []string{"SV-06"}, tc.asked)
			rep, err := Bundle(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Results[0].Verdict != check.Pass || rep.Verdict != tc.verdict {
				t.Errorf("SV-06 is %s, the whole %s, want %s", rep.Results[0].Verdict, rep.Verdict, tc.verdict)
			}
			if core := rep.Profiles[0].Core.Outcome; core != report.Partial {
				t.Errorf("a profile of which one row was judged is a %s", core)
			}
		})
	}
}

// Only what the scenario lists can pass, and anything can fail: the history of SV-06/fail
// keeps SV-07 and SV-11, and breaks SV-06.
func TestBundleIsJudgedByEveryRequirement(t *testing.T) {
	for _, tc := range []struct {
		name, history string
		judges        []string
		verdict       check.Verdict
		core          report.Outcome
		results       []string
	}{
		{"an unlisted requirement that holds is not reported", "pass", []string{"SV-07", "SV-11"}, check.Pass, report.Partial,
			[]string{"SV-07 pass", "SV-11 pass"}},
		{"an unlisted requirement that is broken fails the run", "fail", []string{"SV-07", "SV-11"}, check.Fail, report.Failure,
			[]string{"SV-06 fail unlisted", "SV-07 pass", "SV-11 pass"}},
		{"a listed requirement that is broken", "fail", []string{"SV-06", "SV-11"}, check.Fail, report.Failure,
			[]string{"SV-06 fail", "SV-11 pass"}},
		{"a breach outweighs what stayed open", "fail", []string{"SV-22"}, check.Fail, report.Failure,
			[]string{"SV-06 fail unlisted", "SV-22 inconclusive"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			listing(t, dir, tc.history, tc.judges, tc.judges)
			rep, err := Bundle(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, res := range rep.Results {
				told := fmt.Sprintf("%s %s", res.ID, res.Verdict)
				if res.Unlisted {
					told += " unlisted"
				}
				if res.Verdict == check.Fail && len(res.Violations[0].Evidence) == 0 {
					t.Errorf("%s has no evidence", res.ID)
				}
				got = append(got, told)
			}
			if !slices.Equal(got, tc.results) || rep.Verdict != tc.verdict || rep.Profiles[0].Core.Outcome != tc.core {
				t.Errorf("%v: %s, core %s; want %v: %s, core %s", got, rep.Verdict, rep.Profiles[0].Core.Outcome, tc.results, tc.verdict, tc.core)
			}
		})
	}
}

// listing puts a history of SV-06 into a folder, with what its run was to judge.
func listing(t *testing.T, dir, name string, judges, asked []string) {
	t.Helper()
	told := story.Named(stories.All(), "SV-06/"+name)
	h := told.Header()
	h.Judges, h.Asked, h.Profiles = judges, asked, []string{"storage-version-rollout"}
	var data bytes.Buffer
	if err := story.Write(&data, h, told.Events()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A published bundle may have its history compressed.
func TestBundleReadsACompressedHistory(t *testing.T) {
	raw := story.Named(stories.All(), "SV-06/pass").File()
	plain, zipped := t.TempDir(), t.TempDir()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{
		filepath.Join(plain, bundle.HistoryFile):                      raw,
		filepath.Join(zipped, bundle.HistoryFile) + bundle.Compressed: packed.Bytes(),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := Bundle(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Bundle(t.Context(), zipped)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// The report has the digests of the files that it follows from, so that a reader can
// compute them again.
func TestBundleHasDigests(t *testing.T) {
	dir := t.TempDir()
	raw := story.Named(stories.All(), "SV-06/pass").File()
	for name, content := range map[string][]byte{bundle.HistoryFile: raw, bundle.ScenarioFile: []byte("s"), bundle.EnvironmentFile: nil} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := Bundle(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := report.Digests{History: bundle.ContentDigest(raw), Scenario: bundle.ContentDigest([]byte("s")), Environment: bundle.ContentDigest(nil)}
	if rep.Digests != want {
		t.Errorf("digests %+v, want %+v", rep.Digests, want)
	}
}
