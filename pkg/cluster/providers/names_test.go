package providers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What needs something of a provider asks for the ability (cluster.Ability, or an interface of
// pkg/cluster). A provider that is added then touches its own folder and its line in All.
func TestNoCodeAsksForAProviderByName(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	var own []string
	for _, provider := range All() {
		own = append(own, filepath.Join("pkg", "cluster", provider.Name()))
	}
	looked := 0
	for _, folder := range []string{"pkg", "suites"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			below, err := filepath.Rel(root, path)
			if err != nil || below == filepath.Join("pkg", "cluster", "providers", "providers.go") {
				return err
			}
			for _, folder := range own {
				if strings.HasPrefix(below, folder+string(filepath.Separator)) {
					return nil
				}
			}
			looked++
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			for _, at := range asks(parsed, own) {
				t.Errorf("%s:%d asks for a provider; ask for what it can do", below, files.Position(at).Line)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 100 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// asks are the places where a file imports a provider, compares the field Provider of anything
// with something else than an empty text or another one, or looks a provider up by a name of its own.
func asks(file *ast.File, own []string) (found []token.Pos) {
	for _, imported := range file.Imports {
		for _, folder := range own {
			if path, err := strconv.Unquote(imported.Path.Value); err == nil && strings.HasSuffix(path, "/"+filepath.ToSlash(folder)) {
				found = append(found, imported.Pos())
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if node != nil && asksInPlace(node) {
			found = append(found, node.Pos())
		}
		return true
	})
	return found
}

// asksInPlace is whether a node, without those below it, asks for a provider.
func asksInPlace(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		if n.Op != token.EQL && n.Op != token.NEQ || isProvider(n.X) == isProvider(n.Y) {
			return false
		}
		return !isEmpty(n.X) && !isEmpty(n.Y)
	case *ast.SwitchStmt:
		return isProvider(n.Tag)
	case *ast.CallExpr:
		called, ok := n.Fun.(*ast.SelectorExpr)
		return ok && called.Sel.Name == "Lookup" && len(n.Args) == 1 && isText(n.Args[0])
	}
	return false
}

func isProvider(e ast.Expr) bool {
	selected, ok := e.(*ast.SelectorExpr)
	return ok && selected.Sel.Name == "Provider"
}

func isText(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

func isEmpty(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Value == `""`
}

// The test above must be able to fail.
func TestAsks_FindsWhatAsksForAProvider(t *testing.T) {
	for code, want := range map[string]int{
		`import "github.com/evenkeel/evenkeel/pkg/cluster/local"`:     1,
		`import "github.com/evenkeel/evenkeel/pkg/cluster/link"`:      0,
		`func f() bool { return topology.Spec.Provider == "kind" }`:   1,
		`func f() bool { return "kind" != header.Provider }`:          1,
		`func f() bool { return topology.Spec.Provider == "" }`:       0,
		`func f() bool { return report.Provider == header.Provider }`: 0,
		`func f() { switch header.Provider { case "external": } }`:    1,
		`func f() { all.Lookup("local") }`:                            1,
		`func f() { all.Lookup(topology.Spec.Provider) }`:             0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "f.go", "package f\n"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(asks(file, []string{filepath.Join("pkg", "cluster", "local")})); got != want {
			t.Errorf("%s: found %d, want %d", code, got, want)
		}
	}
}
