package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/exit"
)

// A bundle of format version 1 is refused with the command that converts it, and holds once
// it is converted.
func TestBundleMigrate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "bundle", "convert", "testdata", "version1"))); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"judge", "verify"} {
		if told, status := output(t, command, dir); status != exit.CouldNotRun || !strings.Contains(told, "run `evenkeel bundle migrate`") {
			t.Errorf("%s: status %d: %s", command, status, told)
		}
	}
	if told, status := output(t, "bundle", "migrate", dir); status != exit.Pass || told != dir+": migrated\n" {
		t.Fatalf("status %d: %s", status, told)
	}
	told, status := output(t, "verify", dir)
	if status != exit.Pass || !strings.Contains(told, "note: it was recorded in version 1 of the history format") {
		t.Errorf("status %d: %s", status, told)
	}
	if told, status := output(t, "bundle", "migrate", dir); status != exit.Pass || !strings.Contains(told, "has the format of this evenkeel already") {
		t.Errorf("status %d: %s", status, told)
	}
	for _, args := range [][]string{{"bundle"}, {"bundle", "melt"}, {"bundle", "migrate"}, {"bundle", "migrate", dir + "-none"}} {
		if told, status := output(t, args...); status != exit.CouldNotRun {
			t.Errorf("%v: status %d: %s", args, status, told)
		}
	}
}
