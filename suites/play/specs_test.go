package play

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// bundleVariable names, for a process of this test binary, the bundle whose report its
// specs read.
const bundleVariable = "EVENKEEL_PLAY_TEST_BUNDLE"

// TestMain runs the specs of a bundle if the variable names one: a ginkgo suite needs a
// process of its own.
func TestMain(m *testing.M) {
	dir := os.Getenv(bundleVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	flag.Parse()
	rep, err := judge.Bundle(context.Background(), dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exit.CouldNotRun)
	}
	p := &player{}
	for _, id := range []requirement.ID{"SV-07", "SV-11"} {
		req, _ := requirement.Lookup(id)
		p.requirements = append(p.requirements, req)
	}
	ginkgo.Describe("story", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		ginkgo.BeforeAll(func() { p.remember(rep) })
		p.specs()
	})
	gomega.RegisterFailHandler(ginkgo.Fail)
	status := &suiteStatus{}
	ginkgo.RunSpecs(status, "story")
	os.Exit(status.code)
}

// suiteStatus is the exit status of a suite.
type suiteStatus struct{ code int }

// Fail is called by ginkgo if a spec fails.
func (s *suiteStatus) Fail() { s.code = exit.Fail }

// The history of SV-06/fail satisfies SV-07 and SV-11, and breaks SV-06.
func TestUnlistedFailureFailsTheSuite(t *testing.T) {
	for _, tc := range []struct {
		name, history string
		args          []string
		fails         bool
	}{
		{"nothing is broken", "pass", nil, false},
		{"an unlisted requirement is broken", "fail", nil, true},
		{"nothing is broken, and one spec is in focus", "pass", []string{"--ginkgo.focus=SV-07"}, false},
		{"an unlisted requirement is broken, and one spec is in focus", "fail", []string{"--ginkgo.focus=SV-07"}, true},
		{"an unlisted requirement is broken, and its spec is left out", "fail", []string{"--ginkgo.skip=" + nothingElse}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], tc.args...)
			cmd.Env = append(os.Environ(), bundleVariable+"="+listing(t, tc.history))
			out, err := cmd.CombinedOutput()
			var ended *exec.ExitError
			if err != nil && !errors.As(err, &ended) {
				t.Fatal(err)
			}
			if failed := cmd.ProcessState.ExitCode() == exit.Fail; failed != tc.fails {
				t.Errorf("the suite failed: %t, want %t:\n%s", failed, tc.fails, out)
			}
			if told := strings.Contains(string(out), "SV-06: ") && strings.Contains(string(out), "of the history"); told != tc.fails {
				t.Errorf("the suite shows the breach of SV-06: %t, want %t:\n%s", told, tc.fails, out)
			}
		})
	}
}

// listing makes a bundle of a history of SV-06 whose scenario lists SV-07 and SV-11.
func listing(t *testing.T, name string) string {
	t.Helper()
	told := story.Named(stories.All(), "SV-06/"+name)
	h := told.Header()
	h.Judges = []string{"SV-07", "SV-11"}
	h.Asked = h.Judges
	var data bytes.Buffer
	if err := story.Write(&data, h, told.Events()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
