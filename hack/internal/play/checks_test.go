package play

import (
	"os"
	"path/filepath"
	"testing"
)

func TestChecks_AreNamedAfterTheirSources(t *testing.T) {
	t.Chdir(t.TempDir())
	roots := []string{"c", "d/*.yaml"}
	name := func() string {
		t.Helper()
		name, err := Checks(roots)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fails := func(why string) {
		t.Helper()
		if name, err := Checks(roots); err == nil {
			t.Errorf("%s, and the name is %s", why, name)
		}
	}
	write("d/bounds.yaml", "a: 1\n")
	fails("a folder is not there")
	write("c/a_test.go", "x")
	fails("a folder has no source")
	write("c/a.go", "hello\n")
	write("c/d/b.go", "b")
	if err := os.Remove("d/bounds.yaml"); err != nil {
		t.Fatal(err)
	}
	fails("no file fits a pattern")
	write("d/bounds.yaml", "a: 1\n")
	first := name()
	// As `git ls-tree -r HEAD c d/bounds.yaml | grep -v _test.go | sha256sum` names them.
	if want := "b9163dedb14f6966a2eb1ff6cc86fd9f289ffa46"; first != want {
		t.Errorf("the name is %s, want %s", first, want)
	}
	for _, file := range []string{"c/a_test.go", "c/stories/a.go", "c/judgetest/a.go", "d/a.go", "e/a.go"} {
		write(file, "y")
		if name() != first {
			t.Errorf("%s judges no history, and has changed the name", file)
		}
	}
	for _, file := range []string{"c/d/b.go", "c/new.go", "d/bounds.yaml"} {
		before := name()
		write(file, "c")
		if name() == before {
			t.Errorf("%s has changed, and the name has not", file)
		}
	}
}

func TestChecks_NameTheSourcesOfThisRepository(t *testing.T) {
	t.Chdir("../../..")
	if _, err := Checks(Judges); err != nil {
		t.Error(err)
	}
}
