package play

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// evenkeel is a program that only prints the output of evenkeel.
func evenkeel(t *testing.T, text string) (program, dir string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "evenkeel")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, filepath.Join(t.TempDir(), "out", "bundle")
}

func TestAReportIsReadWhateverTheStatus(t *testing.T) {
	program, dir := evenkeel(t, `[ "$1 $2 $4 $5" = "run --out --seed 7" ] || exit 9
mkdir -p "$3" && echo 'verdict: fail' >"$3/report.yaml"; echo first; echo last; exit 1`)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "earlier"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Run(t.Context(), program, dir, "--seed", "7")
	if err != nil || o.Status != 1 || o.Said != "last" || o.Report.Verdict != check.Fail {
		t.Errorf("got %+v, %v", o, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "earlier")); err == nil {
		t.Error("an earlier bundle was left where the new one is")
	}
	if log, err := os.ReadFile(dir + ".log"); err != nil || string(log) != "first\nlast\n" {
		t.Errorf("the log is %q, %v", log, err)
	}
}

func TestRun_MissingReportIsAnError(t *testing.T) {
	program, dir := evenkeel(t, "echo cannot; exit 3")
	if o, err := Run(t.Context(), program, dir); !errors.Is(err, ErrNoReport) || o.Status != 3 || o.Said != "cannot" {
		t.Errorf("got %+v, %v", o, err)
	}
	program, dir = evenkeel(t, `mkdir -p "$3" && echo '- x' >"$3/report.yaml"`)
	if _, err := Run(t.Context(), program, dir); err == nil || !strings.Contains(err.Error(), "read the report") {
		t.Errorf("an unreadable report: %v", err)
	}
	if _, err := Run(t.Context(), program+"-that-is-not-there", dir); err == nil || !strings.Contains(err.Error(), "start ") {
		t.Errorf("a program that does not exist: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, program, dir); err == nil {
		t.Error("an interrupted run has no error")
	}
}

func TestABundleIsJudgedAgain(t *testing.T) {
	program, dir := evenkeel(t, `[ "$1 $2" = "judge --update" ] && echo 'verdict: fail' >"$3/report.yaml"; echo judged; exit 1`)
	if _, err := Judge(t.Context(), program, dir); !errors.Is(err, ErrNoReport) {
		t.Errorf("of a bundle without a report: %v", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{filepath.Join(dir, "report.yaml"): "verdict: pass\n", dir + ".log": "played\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := Judge(t.Context(), program, dir); err != nil || o.Report.Verdict != check.Fail {
		t.Errorf("got %+v, %v", o, err)
	}
	if log, err := os.ReadFile(dir + ".log"); err != nil || string(log) != "played\n" {
		t.Errorf("the output of the run is %q, %v", log, err)
	}
	refuses, _ := evenkeel(t, "echo the digests do not hold; exit 3")
	if _, err := Judge(t.Context(), refuses, dir); err == nil || !strings.Contains(err.Error(), "the digests do not hold") {
		t.Errorf("a bundle that does not match: %v", err)
	}
}
