package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// texts are the KEPs and the documents that hold their sentences.
var texts = []struct{ kep, file string }{
	{"KEP-2339", "impl/storageversion/SENTENCES.md"},
	{"KEP-3352", "impl/discovery/SENTENCES.md"},
	{"KEP-4355", "impl/election/SENTENCES.md"},
	{"KEP-25", "impl/migration/SENTENCES.md"},
}

// mostLacking is how many sentences may lack code or a requirement, of all KEPs together.
const mostLacking = 10

func sentences(t *testing.T, file string) []Sentence {
	t.Helper()
	all, err := document(t, file).Sentences()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var requirementID = regexp.MustCompile(`\b(?:SV|AD|CLE|SVM|RO)-\d{2}\b`)

// A sentence that names no requirement of the catalog is one that nothing judges.
func TestSentences_NameRequirementsOfTheCatalog(t *testing.T) {
	for _, text := range texts {
		for _, s := range sentences(t, text.file) {
			if s.Section == "" || s.Text == "" || s.Implemented == "" {
				t.Errorf("%s has an empty cell", s.Where)
			}
			ids := requirementID.FindAllString(s.Judged, -1)
			if len(ids) == 0 && !strings.HasPrefix(s.Judged, noRequirement) {
				t.Errorf("%s names no requirement, and does not begin with %q and the reason", s.Where, noRequirement)
			}
			for _, id := range ids {
				if _, known := requirement.Lookup(requirement.ID(id)); !known {
					t.Errorf("%s names %s, which is not in the catalog", s.Where, id)
				}
			}
		}
	}
}

var (
	flagName   = regexp.MustCompile(`^--([a-z-]+)$`)
	identifier = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Z]\w*)?$`)
	aCommand   = regexp.MustCompile(`^(make|install|refplane) `)
)

// A row names files that exist, and identifiers that are declared in those files.
func TestSentences_NameCodeThatExists(t *testing.T) {
	root, _ := repository(t)
	tests := declared(t, root, "impl", "_test.go")
	for _, text := range texts {
		for _, s := range sentences(t, text.file) {
			if err := namesCode(root, path.Dir(text.file), s.Implemented, tests); err != nil {
				t.Errorf("%s: %v", s.Where, err)
			}
		}
	}
}

// namesCode tells what of a cell is not there. Paths begin in the folder of the KEP or at the root.
func namesCode(root, folder, cell string, tests map[string]bool) error {
	names := map[string]bool{}
	source := ""
	var asked []string
	for _, match := range code.FindAllStringSubmatch(cell, -1) {
		span := match[1]
		switch {
		case strings.HasPrefix(span, "k8s.io/") || strings.HasSuffix(span, ".k8s.io") || aCommand.MatchString(span):
		case strings.Contains(span, "/") || path.Ext(span) == ".go":
			file := firstThere(root, path.Join(folder, span), span)
			if file == "" {
				return fmt.Errorf("%s is not there", span)
			}
			if path.Ext(file) == ".go" {
				add(names, declaredIn(root, file))
				text, err := os.ReadFile(filepath.Join(root, file))
				if err != nil {
					return err
				}
				source += string(text)
			}
		default:
			asked = append(asked, span)
		}
	}
	for _, span := range asked {
		if err := namesOne(root, span, source, names, tests); err != nil {
			return err
		}
	}
	return nil
}

// namesOne tells whether what a span names is not there: a flag, a test, or an identifier of the
// row's files, whose text and declared names are given.
func namesOne(root, span, source string, names, tests map[string]bool) error {
	switch flag := flagName.FindStringSubmatch(span); {
	case flag != nil:
		if !strings.Contains(source, `"`+flag[1]+`"`) && !flagThere(root, flag[1]) {
			return fmt.Errorf("no command has the flag %s", span)
		}
	case strings.HasPrefix(span, "Test") || strings.HasPrefix(span, "Example"):
		if !tests[span] {
			return fmt.Errorf("there is no test %s", span)
		}
	case identifier.MatchString(span) && len(names) > 0:
		if last := span[strings.LastIndex(span, ".")+1:]; !names[last] && !strings.Contains(source, `"`+span+`"`) {
			return fmt.Errorf("no file of the row declares %s", span)
		}
	}
	return nil
}

// firstThere gives the first of the paths that exists, from the root.
func firstThere(root string, paths ...string) string {
	for _, name := range paths {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			return name
		}
	}
	return ""
}

func flagThere(root, name string) bool {
	files, err := filepath.Glob(filepath.Join(root, "impl", "cmd", "refplane", "*.go"))
	if err != nil {
		return false
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"`+name+`"`) {
			return true
		}
	}
	return false
}

func add(to, from map[string]bool) {
	for name := range from {
		to[name] = true
	}
}

// declared gives what the files below a folder declare whose names end as told.
func declared(t *testing.T, root, folder, suffix string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(name, suffix) {
			add(names, declaredIn(root, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// declaredIn gives the functions, methods, types, constants, variables and fields of a Go file. A file
// that does not parse declares nothing; the compiler says why.
func declaredIn(root, name string) map[string]bool {
	names := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
	if err != nil {
		return names
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
			return false
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		case *ast.Field:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// Issue 34 allows at most ten sentences without code or without a requirement. impl/README.md lists
// them, and says how many sentences each KEP has.
func TestSentences_AreSummedUpInTheReadme(t *testing.T) {
	readme := document(t, "impl/README.md").Text
	lacking := 0
	for _, text := range texts {
		all, lacks := sentences(t, text.file), 0
		for _, s := range all {
			if !s.Lacks() {
				continue
			}
			lacks++
			if strings.HasPrefix(s.Section, "Story") || strings.HasPrefix(s.Section, "Graduation") {
				t.Errorf("%s: a user story or a graduation criterion needs both code and a requirement", s.Where)
			}
			if row := fmt.Sprintf("| %s, %s | %s |", text.kep, s.Section, s.Text); !strings.Contains(readme, row) {
				t.Errorf("impl/README.md lacks the row %s", row)
			}
		}
		lacking += lacks
		link := strings.TrimPrefix(text.file, "impl/")
		if row := fmt.Sprintf("| [%s](%s) | %d | %d |", text.kep, link, len(all), lacks); !strings.Contains(readme, row) {
			t.Errorf("impl/README.md lacks the row %s", row)
		}
	}
	_, list, _ := strings.Cut(readme, "| KEP and section | sentence without code or without a requirement | why |\n|---|---|---|\n")
	list, _, _ = strings.Cut(list, "\n\n")
	if rows := len(strings.Split(list, "\n")); lacking > mostLacking || rows != lacking {
		t.Errorf("%d sentences lack code or a requirement, impl/README.md lists %d, and %d are allowed", lacking, rows, mostLacking)
	}
}

// The tests of this file can fail: each kind of mistake in a cell is found.
func TestNamesCode_FindsWhatIsNotThere(t *testing.T) {
	root, _ := repository(t)
	tests := map[string]bool{"TestDiscover": true}
	for cell, wrong := range map[string]bool{
		"`agreement.go`": false, "`agrement.go`": true, "`impl/apiserver/codec.go`": false, "`impl/apiserver/kodec.go`": true,
		"`merge.go`, `sameStatus`": false, "`merge.go`, `otherStatus`": true,
		"`--storage-version-api`": false, "`--storage-version-ape`": true, "`TestDiscover`": false, "`TestDiscovers`": true,
	} {
		if err := namesCode(root, "impl/storageversion", cell, tests); (err != nil) != wrong {
			t.Errorf("%s: %v", cell, err)
		}
	}
}
