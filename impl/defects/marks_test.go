package defects

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mark is what stands behind a line that switches defects on.
var mark = regexp.MustCompile(`// defect: ([A-Z0-9][A-Za-z0-9-]*(?:, [A-Z0-9][A-Za-z0-9-]*)*)$`)

// Defects are planted from outside of decisions, which read as the KEPs do: in files whose name, or
// whose folder's, begins with "planted". Each defect is marked where it is planted.
func TestMarks_StandInPlantedFilesOnly(t *testing.T) {
	marked := map[ID]bool{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == "defects" {
			return err
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			return err
		}
		planted := strings.HasPrefix(entry.Name(), "planted") || strings.HasPrefix(filepath.Base(filepath.Dir(path)), "planted")
		for i, line := range strings.Split(string(text), "\n") {
			match := mark.FindStringSubmatch(line)
			switch {
			case match == nil:
				if !planted && (strings.Contains(line, ".Has(defects.") || strings.Contains(line, ".Delay(defects.")) {
					t.Errorf("impl/%s:%d asks for a defect; plant it from a file whose name begins with planted", path, i+1)
				}
				continue
			case !planted:
				t.Errorf("impl/%s:%d plants %s; plant it from a file whose name begins with planted", path, i+1, match[1])
			}
			for _, id := range strings.Split(match[1], ", ") {
				marked[ID(id)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range All() {
		if !marked[d.ID] {
			t.Errorf("no line is marked with %s", d.ID)
		}
		delete(marked, d.ID)
	}
	for id := range marked {
		t.Errorf("a line is marked with %s, which is no defect", id)
	}
}
