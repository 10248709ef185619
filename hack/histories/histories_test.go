package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const fixtures = "../../fixtures/histories"

// collectionFamily are the requirements of KEP-2339's garbage collection.
const collectionFamily = "collection"

// family is the first part of an ID, or collectionFamily: requirements of one are
// judged by one story.
func family(id requirement.ID) string {
	if slices.Contains([]requirement.ID{"SV-16", "SV-17", "SV-18", "SV-19", "SV-20"}, id) {
		return collectionFamily
	}
	name, _, _ := strings.Cut(string(id), "-")
	return name
}

// judge gives the verdicts on one family.
func judge(t *testing.T, of string, events []history.Event) map[requirement.ID]check.Result {
	t.Helper()
	data, err := encode(events)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := history.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	j, err := check.Judge(check.Read(reader), requirement.All())
	if err != nil {
		t.Fatal(err)
	}
	results := map[requirement.ID]check.Result{}
	for _, r := range j.Results {
		if check.Built(r.ID) && family(r.ID) == of {
			results[r.ID] = r
		}
	}
	return results
}

func TestTheStoryKeepsEveryPromise(t *testing.T) {
	for of, events := range map[string][]history.Event{"SV": story(), "AD": discoveryStory(), collectionFamily: collectionStory(), "SVM": migrationStory()} {
		results := judge(t, of, events)
		if len(results) == 0 {
			t.Fatalf("no check of %s is built in", of)
		}
		for id, r := range results {
			if r.Verdict != check.Pass {
				t.Errorf("%s: %s: %q %v", id, r.Verdict, r.Reasons, r.Violations)
			}
		}
	}
}

// What one family of checks is shown breaks no promise of another.
func TestTheStoriesGoTogether(t *testing.T) {
	for _, pair := range []struct {
		of     string
		events []history.Event
	}{{collectionFamily, story()}, {"SV", collectionStory()}} {
		for id, r := range judge(t, pair.of, pair.events) {
			if r.Verdict == check.Fail {
				t.Errorf("%s: %v", id, r.Violations)
			}
		}
	}
}

func TestEveryCheckHasACase(t *testing.T) {
	for _, r := range requirement.All() {
		n := 0
		for _, c := range cases {
			if c.id == r.ID {
				n++
			}
		}
		if check.Built(r.ID) != (n == 1) {
			t.Errorf("%s: a check is built in: %v; cases: %d", r.ID, check.Built(r.ID), n)
		}
	}
}

// The change that breaks one promise breaks no other, unless it must.
func TestAFailureBreaksOnePromise(t *testing.T) {
	for _, c := range cases {
		t.Run(string(c.id), func(t *testing.T) {
			for id, r := range judge(t, family(c.id), c.make(c.fail).events) {
				want := check.Pass
				if _, also := c.also[id]; also || id == c.id {
					want = check.Fail
				}
				if r.Verdict != want {
					t.Errorf("%s is %s, not %s: %q %v", id, r.Verdict, want, r.Reasons, r.Violations)
				}
			}
		})
	}
}

func TestTrimmedHistories(t *testing.T) {
	for _, c := range cases {
		t.Run(string(c.id), func(t *testing.T) {
			files := c.files()
			if r := judge(t, family(c.id), files["pass.jsonl"])[c.id]; r.Verdict != check.Pass {
				t.Errorf("pass.jsonl: %s %q %v", r.Verdict, r.Reasons, r.Violations)
			}
			r := judge(t, family(c.id), files["fail.jsonl"])[c.id]
			if r.Verdict != check.Fail || !strings.Contains(fmt.Sprint(r.Violations), c.fails) {
				t.Errorf("fail.jsonl: %s %q %v", r.Verdict, r.Reasons, r.Violations)
			}
			r = judge(t, family(c.id), files["weak.jsonl"])[c.id]
			if r.Verdict != check.Inconclusive || !slices.Contains(r.Reasons, c.why) {
				t.Errorf("weak.jsonl: %s %q %v", r.Verdict, r.Reasons, r.Violations)
			}
		})
	}
}

func TestTheFilesAreUpToDate(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	if want, got := list(t, dir), list(t, fixtures); !slices.Equal(want, got) {
		t.Fatalf("fixtures/histories has %v, and not %v", got, want)
	}
	for _, name := range list(t, dir) {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(fixtures, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("fixtures/histories/%s is not what hack/histories makes; run `go run ./hack/histories`", name)
		}
		if n := bytes.Count(got, []byte("\n")); n >= 150 {
			t.Errorf("%s has %d lines, too many to read", name, n)
		}
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if files[i], err = filepath.Rel(dir, files[i]); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
