package bundle

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCreate(t *testing.T) {
	for _, tc := range []struct {
		name string
		// dir is made of a folder of the test's own.
		dir         func(t *testing.T, root string) string
		expectError string
	}{
		{name: "new", dir: func(_ *testing.T, root string) string { return filepath.Join(root, "a", "b") }},
		{name: "empty", dir: func(_ *testing.T, root string) string { return root }},
		{name: "not empty", dir: func(t *testing.T, root string) string {
			write(t, filepath.Join(root, ReportFile), "of another run")
			return root
		}, expectError: "is not empty: name another one with --out, or remove it"},
		{name: "a hidden file is content too", dir: func(t *testing.T, root string) string {
			write(t, filepath.Join(root, ".x"), "")
			return root
		}, expectError: "is not empty"},
		{name: "a file", dir: func(t *testing.T, root string) string {
			write(t, filepath.Join(root, "file"), "")
			return filepath.Join(root, "file")
		}, expectError: "cannot be read"},
		{name: "below a file", dir: func(t *testing.T, root string) string {
			write(t, filepath.Join(root, "file"), "")
			return filepath.Join(root, "file", "bundle")
		}, expectError: "cannot be read"},
		{name: "where no folder can be created", dir: func(*testing.T, string) string { return "/proc/self/bundle" }, expectError: "cannot be made"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := tc.dir(t, t.TempDir())
			err := Create(dir)
			if tc.expectError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.expectError) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want one sentence with %q and the folder", err, tc.expectError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(t, dir); got != "logs/" {
				t.Errorf("a new bundle holds %q, and no more than logs/ was expected", got)
			}
		})
	}
}

func TestProbeOfAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, ".probe")); err != nil {
		t.Fatal(err)
	}
	if err := probe(dir); err == nil || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if got := tree(t, dir); got != "" {
		t.Errorf("%s was left", got)
	}
}

func TestProbeOfAMissingFolder(t *testing.T) {
	if err := probe(filepath.Join(t.TempDir(), "x")); err == nil || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "remove") {
		t.Errorf("error %v does not tell of the one thing that went wrong", err)
	}
}

func TestDiscard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	for range 2 { // the name is free again
		if err := Create(dir); err != nil {
			t.Fatal(err)
		}
		Discard(dir)
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Fatalf("the folder is still there: %v", err)
		}
	}
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, LogDir, "cp1-etcd.log"), "precious")
	Discard(dir)
	if got := tree(t, dir); got != "logs/ logs/cp1-etcd.log" {
		t.Errorf("left is %q", got)
	}
}

func TestSeal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "b")
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		HistoryFile: "{}\n", ReportFile: "", LogDir + "/cp1-etcd.log": "line\n", LogDir + "/a b.log": "x", LogDir + "/" + DigestFile: "no digest of ours",
	}
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	for range 2 { // sealing again gives the same: the digests are none of their own
		if err := Seal(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, DigestFile))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
		if len(lines) != len(files) {
			t.Errorf("%d lines for %d files:\n%s", len(lines), len(files), raw)
		}
		for name, content := range files {
			if want := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(content)), name); !strings.Contains(string(raw), want) {
				t.Errorf("no line %q in\n%s", want, raw)
			}
		}
	}
	checkWith(t, dir, true)
	write(t, filepath.Join(dir, HistoryFile), "{ }\n")
	checkWith(t, dir, false)
}

func TestSealFails(t *testing.T) {
	dir := t.TempDir()
	if err := Seal(t.Context(), filepath.Join(dir, "x")); err == nil || !strings.Contains(err.Error(), "list the bundle") {
		t.Errorf("error %v", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := Seal(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "digest of dangling") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, DigestFile)); !os.IsNotExist(err) {
		t.Errorf("there are digests of a bundle that cannot be read: %v", err)
	}
}

// --- Helpers ---

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree lists what is in a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if d.IsDir() {
			rel += "/"
		}
		out = append(out, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// checkWith has the machine's own sha256sum check the bundle, if it has one.
func checkWith(t *testing.T, dir string, good bool) {
	t.Helper()
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Log("there is no sha256sum")
		return
	}
	check := exec.Command("sha256sum", "--check", "--strict", DigestFile)
	check.Dir = dir
	if out, err := check.CombinedOutput(); (err == nil) != good {
		t.Errorf("sha256sum --check: %v\n%s", err, out)
	}
}
