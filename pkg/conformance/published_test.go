package conformance

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/attest"
)

// unsound is what does not match of the campaigns below a folder, and how many there are.
func unsound(t *testing.T, root string, o VerifyOptions) (problems []string, found int) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) != PlanFile {
			return err
		}
		found++
		for _, p := range problemsOf(t, filepath.Dir(path), o) {
			problems = append(problems, fmt.Sprintf("%s: %s", filepath.Dir(path), p))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return problems, found
}

// Every campaign that is published in the tree matches; the next test shows that one that does
// not is found.
func TestPublishedCampaignsHold(t *testing.T) {
	problems, _ := unsound(t, filepath.Join("..", "..", "reports"), VerifyOptions{})
	for _, p := range problems {
		t.Error(p)
	}
}

// What hack/publish.sh makes of a campaign verifies, with its signature, and has no logs.
func TestPublishedCampaignsHold_AsTheyArePublished(t *testing.T) {
	publish := func(from, to string) error {
		return exec.CommandContext(t.Context(), filepath.Join("..", "..", "hack", "publish.sh"), from, to).Run()
	}
	played, root, key := mixed(t), t.TempDir(), filepath.Join(t.TempDir(), "key")
	if _, err := attest.GenerateKey(key); err != nil {
		t.Fatal(err)
	}
	public, err := attest.LoadPublicKey(key + attest.PublicKeySuffix)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sign(t.Context(), played, key, storyHarness); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, "vendor", "plane")
	if err := publish(played, to); err != nil {
		t.Fatal(err)
	}
	if problems, found := unsound(t, root, VerifyOptions{Key: public}); found != 1 || len(problems) > 0 {
		t.Errorf("%d campaigns, %q", found, problems)
	}
	for _, left := range []string{"*" + LogSuffix, "*/logs", "*/timeline.html"} {
		if logs, err := filepath.Glob(filepath.Join(to, RunsDir, left)); err != nil || len(logs) > 0 {
			t.Errorf("%v %v", logs, err)
		}
	}
	if publish(played, to) == nil {
		t.Error("a folder with something in it was written to")
	}
	rewrite(t, filepath.Join(to, JournalFile), func(b []byte) []byte { return b[:len(b)/2] })
	if problems, _ := unsound(t, root, VerifyOptions{}); len(problems) == 0 {
		t.Error("half a journal matches")
	}
	if err := os.Remove(filepath.Join(played, ReportFile)); err != nil {
		t.Fatal(err)
	}
	if publish(played, filepath.Join(root, "other")) == nil {
		t.Error("a campaign that has not ended was published")
	}
}
