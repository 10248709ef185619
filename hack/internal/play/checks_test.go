package play

import (
	"os"
	"path/filepath"
	"testing"
)

func TestChecksAreNamedAfterTheirSources(t *testing.T) {
	t.Chdir(t.TempDir())
	name := func() string {
		t.Helper()
		name, err := Checks("c")
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
	if _, err := Checks("c"); err == nil {
		t.Error("a folder that is not there has a name")
	}
	write("c/a_test.go", "x")
	if _, err := Checks("c"); err == nil {
		t.Error("no check at all has a name")
	}
	write("c/a.go", "hello\n")
	write("c/d/b.go", "b")
	first := name()
	// As `git ls-tree -r HEAD c | grep -v _test.go | sha256sum` names them.
	if want := "9768bf6b01193e4973de6b234dfed96c8bfb27f3"; first != want {
		t.Errorf("the name is %s, want %s", first, want)
	}
	write("c/a_test.go", "y")
	if name() != first {
		t.Error("a test has changed the name")
	}
	write("c/d/b.go", "c")
	if name() == first {
		t.Error("a check has changed, and the name has not")
	}
}
