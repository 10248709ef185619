package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const (
	stable   = "Others may build on it"
	internal = "It is internal to Evenkeel: nothing outside of it should build on it."
)

// Each package of pkg/ says whether others may build on it. Those on which they may are
// in the table of pkg/README.md, and have examples.
func TestPackages_SayWhetherOthersMayBuildOnThem(t *testing.T) {
	root, _ := repository(t)
	table := document(t, "pkg/README.md").Text
	_, table, _ = strings.Cut(table, "These packages are meant to be used from other modules.")
	table, _, _ = strings.Cut(table, "Everything else")
	seen := 0
	err := filepath.WalkDir(filepath.Join(root, "pkg"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		text, examples, err := describes(path)
		if err != nil || text == "" {
			return err
		}
		seen++
		name, err := filepath.Rel(filepath.Join(root, "pkg"), path)
		if err != nil {
			return err
		}
		text = strings.Join(strings.Fields(text), " ")
		forOthers := strings.Contains(text, stable)
		if forOthers == strings.Contains(text, internal) {
			t.Errorf("the doc of pkg/%s must say either %q or %q", name, stable, internal)
		}
		if listed := strings.Contains(table, "`"+name+"`"); listed != forOthers {
			t.Errorf("pkg/%s is for others: %v, and is in the table of pkg/README.md: %v", name, forOthers, listed)
		}
		if forOthers && examples == 0 {
			t.Errorf("pkg/%s is for others, and has no example", name)
		}
		return nil
	})
	if err != nil || seen < 50 {
		t.Errorf("%d packages were read (%v)", seen, err)
	}
}

// describes gives the doc of the package in a folder, and how many examples it has; the doc is
// empty where there is no package.
func describes(folder string) (text string, examples int, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return "", 0, err
	}
	var tests []*ast.File
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return "", 0, err
		}
		if strings.HasSuffix(file, "_test.go") {
			tests = append(tests, parsed)
		} else {
			text += " " + parsed.Doc.Text()
		}
	}
	return text, len(doc.Examples(tests...)), nil
}
