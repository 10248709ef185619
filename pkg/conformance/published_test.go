package conformance

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// campaigns are the folders of campaigns below a folder.
func campaigns(t *testing.T, root string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == PlanFile {
			found = append(found, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every campaign that is published in the tree matches.
func TestPublishedCampaignsHold(t *testing.T) {
	for _, dir := range campaigns(t, filepath.Join("..", "..", "reports")) {
		for _, p := range problemsOf(t, dir, VerifyOptions{}) {
			t.Errorf("%s: %s", dir, p)
		}
	}
}

// What hack/publish.sh makes of a campaign verifies, has no logs, and is looked at where it lies.
func TestPublishedCampaignsHold_AsTheyArePublished(t *testing.T) {
	publish := func(from, to string) error {
		return exec.CommandContext(t.Context(), filepath.Join("..", "..", "hack", "publish.sh"), from, to).Run()
	}
	played, root := mixed(t), t.TempDir()
	to := filepath.Join(root, "vendor", "plane")
	if err := publish(played, to); err != nil {
		t.Fatal(err)
	}
	found := campaigns(t, root)
	if len(found) != 1 || found[0] != to {
		t.Fatalf("found %v", found)
	}
	if problems := problemsOf(t, to, VerifyOptions{}); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
	if logs, err := filepath.Glob(filepath.Join(to, RunsDir, "*"+LogSuffix)); err != nil || len(logs) > 0 {
		t.Errorf("%v %v", logs, err)
	}
	if publish(played, to) == nil {
		t.Error("a folder with something in it was written to")
	}
	rewrite(t, filepath.Join(to, JournalFile), func(b []byte) []byte { return b[:len(b)/2] })
	if len(problemsOf(t, to, VerifyOptions{})) == 0 {
		t.Error("half a journal matches")
	}
	if err := os.Remove(filepath.Join(played, ReportFile)); err != nil {
		t.Fatal(err)
	}
	if publish(played, filepath.Join(root, "other")) == nil {
		t.Error("a campaign that has not ended was published")
	}
}
