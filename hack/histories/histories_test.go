package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// What people read has a dozen objects.
func init() { check.LargeMigration = dozen }

const fixtures = "../../fixtures/histories"

// neighbours are the requirements that are judged by the story of a case.
func neighbours(of *testCase) []requirement.Requirement {
	var all []requirement.Requirement
	for i := range cases {
		if r, ok := requirement.Lookup(cases[i].id); ok && sameStory(&cases[i], of) {
			all = append(all, r)
		}
	}
	return all
}

func sameStory(a, b *testCase) bool {
	return reflect.ValueOf(a.tells).Pointer() == reflect.ValueOf(b.tells).Pointer()
}

// judge gives the verdicts on all that the story of a case is about.
func judge(t *testing.T, of *testCase, events []history.Event) map[requirement.ID]check.Result {
	t.Helper()
	return judgeBy(t, neighbours(of), of.header(), events)
}

func judgeBy(t *testing.T, requirements []requirement.Requirement, header history.Header, events []history.Event) map[requirement.ID]check.Result {
	t.Helper()
	data, err := encode(header, events)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := history.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	j, err := check.Judge(check.Read(reader), requirements)
	if err != nil {
		t.Fatal(err)
	}
	results := map[requirement.ID]check.Result{}
	for _, r := range j.Results {
		results[r.ID] = r
	}
	return results
}

// stories are the cases of each story.
var stories = [][]testCase{storageVersionCases, registrationCases, gatesCases, collectionCases, discoveryCases, peersCases, electionCases, strandedCases, seizedCases, rowersCases, steadyCases, strangersCases, mixedCases, migrationCases, leftoverCases, resumeCases, largeCases}

func TestTheStoriesKeepEveryPromise(t *testing.T) {
	for _, told := range stories {
		of := &told[0]
		for id, r := range judge(t, of, of.make(nil).events) {
			if r.Verdict != check.Pass {
				t.Errorf("%s: %s: %q %v", id, r.Verdict, r.Reasons, r.Violations)
			}
		}
	}
}

// A story breaks no promise that another one is about. That of registrations is left
// out: in it an administrator changes StorageVersions all the time, which is told
// from what servers do only where that is judged.
func TestTheStoriesGoTogether(t *testing.T) {
	whole := [][]testCase{storageVersionCases, collectionCases}
	for _, told := range whole {
		for _, others := range append(whole, registrationCases) {
			of := &told[0]
			for id, r := range judgeBy(t, neighbours(&others[0]), of.header(), of.make(nil).events) {
				if r.Verdict == check.Fail {
					t.Errorf("the story of %s breaks %s: %v", of.id, id, r.Violations)
				}
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
			for id, r := range judge(t, &c, c.make(c.fail).events) {
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
			if r := judge(t, &c, files["pass.jsonl"])[c.id]; r.Verdict != check.Pass {
				t.Errorf("pass.jsonl: %s %q %v", r.Verdict, r.Reasons, r.Violations)
			}
			r := judge(t, &c, files["fail.jsonl"])[c.id]
			if r.Verdict != check.Fail || !strings.Contains(fmt.Sprint(r.Violations), c.fails) {
				t.Errorf("fail.jsonl: %s %q %v", r.Verdict, r.Reasons, r.Violations)
			}
			r = judge(t, &c, files["weak.jsonl"])[c.id]
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
