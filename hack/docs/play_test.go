package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/command"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

// withoutCluster are the commands of evenkeel that need no cluster and no bundle of the
// reader's own. Those of a browser, of a key and of publishing are in TestSubmission.
var withoutCluster = []string{"judge", "verify", "diff", "summary", "timeline", "metrics", "requirements", "schema", "doctor"}

// judgedElsewhere is tested by pkg/verify: all published bundles hold.
const judgedElsewhere = "reports/kubernetes/*"

// checkout is a folder with everything of the repository in it by links, in which commands
// can leave files.
func checkout(t *testing.T) string {
	t.Helper()
	root, _ := repository(t)
	folder := t.TempDir()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if slices.Contains(skipped, entry.Name()) || entry.Name() == "reports" {
			continue
		}
		if err := os.Symlink(filepath.Join(root, entry.Name()), filepath.Join(folder, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "reports"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubernetes", "reference"} {
		if err := os.Symlink(filepath.Join(root, "reports", name), filepath.Join(folder, "reports", name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	return folder
}

// play runs a command line of evenkeel as it stands, and fails where it could not run. That
// a verdict is no pass is no failure of the document, where worst says so.
func play(t *testing.T, c Command, worst int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := command.Main(c.Words[1:], &stdout, &stderr); code > worst {
		t.Errorf("%s: `%s` ends with exit status %d: %s", c.Where, strings.Join(c.Words, " "), code, stderr.String())
	}
}

// The commands of documents that need no cluster do what they are said to do.
func TestCommands_ThatNeedNoClusterRun(t *testing.T) {
	if testing.Short() {
		t.Log("bundles are judged in full mode only")
		return
	}
	_, all := commands(t)
	checkout(t)
	var played []string
	for _, c := range all {
		line := strings.Join(c.Words, " ")
		if c.of() != "evenkeel" || len(c.Words) < 2 || !slices.Contains(withoutCluster, c.Words[1]) {
			continue
		}
		if slices.Contains(played, line) || strings.Contains(line, judgedElsewhere) || placeholder(line) || strings.Contains(line, "_out/") {
			continue
		}
		played = append(played, line)
		// Published runs of Kubernetes fail. That all published bundles hold is tested by
		// pkg/verify, and that they were judged by the laws of now.
		play(t, c, exit.Fail)
	}
	if len(played) < 8 {
		t.Errorf("only these were run: %q", played)
	}
}

// A report is submitted by the commands in reports/README.md, in their order.
func TestSubmission_WorksAsDocumented(t *testing.T) {
	root, _ := repository(t)
	all, err := document(t, "reports/README.md").Commands()
	folder := checkout(t)
	if err != nil {
		t.Fatal(err)
	}
	// A published bundle stands for that of a run.
	if err := os.CopyFS(filepath.Join(folder, "_out", "mine"), os.DirFS(filepath.Join(root, "reports", "reference", "local"))); err != nil {
		t.Fatal(err)
	}
	// What was published before a law has changed does not match until `make reports`.
	play(t, Command{Where: "this test", Words: []string{"evenkeel", "judge", "--update", "_out/mine"}}, exit.Pass)
	var done []string
	for _, c := range all {
		line := strings.Join(c.Words, " ")
		if !regexp.MustCompile(`YOURS|vendor\.key`).MatchString(line) {
			continue
		}
		done = append(done, c.of())
		if c.of() == "evenkeel" {
			done[len(done)-1] = c.Words[1]
			play(t, c, exit.Pass)
			continue
		}
		if said, err := exec.CommandContext(t.Context(), filepath.Join(root, c.Words[0]), c.Words[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: `%s`: %v\n%s", c.Where, line, err, said)
		}
	}
	if want := []string{"hack/publish.sh", "keygen", "sign", "verify"}; !slices.Equal(done, want) {
		t.Errorf("the document submits by %q, not %q", done, want)
	}
}
