package report

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// schemaFile is what is committed, and what the package has inside.
const schemaFile = "runreport-v1alpha1.json"

const (
	draft     = "https://json-schema.org/draft/2020-12/schema"
	schemaID  = "https://evenkeel.dev/schemas/" + schemaFile
	sha256Hex = "^[0-9a-f]{64}$"
)

// The schema that is committed is the one that follows from the types, and each of
// its fields has a description: that of the field's comment.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	want := generateSchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return // what is compiled in is the one from before
	}
	if !bytes.Equal(Schema(), want) {
		t.Errorf("%s is not the schema of the types: `make generate` writes it anew", schemaFile)
	}
}

// What is published in the tree has the form that the schema describes.
func TestPublishedReportsConform(t *testing.T) {
	form := resolved(t)
	found := 0
	published := os.DirFS(filepath.Join("..", "..", "reports"))
	err := fs.WalkDir(published, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != bundle.ReportFile {
			return err
		}
		found++
		raw, err := fs.ReadFile(published, path)
		if err != nil {
			return err
		}
		if err := form.Validate(untyped(t, raw)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		r := &ConformanceReport{}
		if err := yaml.UnmarshalStrict(raw, r); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 2 {
		t.Errorf("found %d reports", found)
	}
}

// What New makes has the form, also where next to nothing was seen, and what has
// another form is told from it.
func TestSchemaTellsFormsApart(t *testing.T) {
	form := resolved(t)
	for name, r := range map[string]*ConformanceReport{
		"mixed": New(mixed(), []requirement.Profile{profile}), "doubtful": New(doubtful(), nil), "whole": valid(), "empty": New(&check.Judgement{Header: header()}, nil),
	} {
		r.Digests.History = strings.Repeat("a", 64)
		raw, err := r.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := form.Validate(untyped(t, raw)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
	for name, change := range map[string]func(map[string]any){
		"another version":      func(f map[string]any) { f["apiVersion"] = "evenkeel.dev/v1" },
		"another kind":         func(f map[string]any) { f["kind"] = "Scenario" },
		"a field more":         func(f map[string]any) { f["more"] = 1 },
		"a field less":         func(f map[string]any) { delete(f, "verdict") },
		"an unknown verdict":   func(f map[string]any) { f["verdict"] = "splendid" },
		"another unknown one":  func(f map[string]any) { first(f["results"])["verdict"] = "splendid" },
		"one among the counts": func(f map[string]any) { f["statistics"].(map[string]any)["counts"] = map[string]any{"splendid": 1} },
		"an unknown outcome":   func(f map[string]any) { first(f["profiles"])["core"].(map[string]any)["outcome"] = "splendid" },
		"no requirement":       func(f map[string]any) { first(f["results"])["id"] = "SV-6" },
		"no level":             func(f map[string]any) { first(f["results"])["level"] = "MAY" },
		"no digest":            func(f map[string]any) { f["digests"].(map[string]any)["history"] = "abc" },
		"a fraction":           func(f map[string]any) { f["events"] = 1.5 },
		"a field below":        func(f map[string]any) { first(f["results"])["more"] = 1 },
		"nothing for a list":   func(f map[string]any) { f["results"] = nil },
		"harness in one word":  func(f map[string]any) { f["harness"] = "v1" },
	} {
		raw, err := valid().YAML()
		if err != nil {
			t.Fatal(err)
		}
		fields := untyped(t, raw).(map[string]any)
		change(fields)
		if form.Validate(fields) == nil {
			t.Errorf("%s: it has the form", name)
		}
	}
}

// Words do not make another form, and all else does.
func TestDigestOfForm(t *testing.T) {
	of := func(schema string) string {
		digest, err := digestOfForm([]byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	const one = `{"title":"a","properties":{"x":{"type":"string","description":"b"}}}`
	if of(one) != of(`{"properties": {"x": {"description": "c", "type": "string"}}}`) {
		t.Error("other words make another form")
	}
	for _, other := range []string{
		`{"properties":{"x":{"type":"integer"}}}`, `{"properties":{"y":{"type":"string"}}}`, `{"properties":{"x":{"type":"string"},"description":{"type":"string"}}}`,
		`{"properties":{"x":{"type":"string"}},"required":["x"]}`,
	} {
		if of(one) == of(other) {
			t.Errorf("%s is the same form", other)
		}
	}
	if _, err := digestOfForm([]byte("{")); err == nil {
		t.Error("what is no JSON has a digest")
	}
}

// --- Helpers ---

func first(list any) map[string]any { return list.([]any)[0].(map[string]any) }

func untyped(t *testing.T, document []byte) any {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	form := &jsonschema.Schema{}
	if err := json.Unmarshal(Schema(), form); err != nil {
		t.Fatal(err)
	}
	out, err := form.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// generateSchema makes the schema of the types.
func generateSchema(t *testing.T) []byte {
	t.Helper()
	g := &generator{docs: comments(t), words: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[check.Verdict]():     {Type: "string", Enum: texts(check.Verdicts)},
		reflect.TypeFor[Outcome]():           {Type: "string", Enum: texts(Outcomes)},
		reflect.TypeFor[requirement.Level](): {Type: "string", Enum: texts([]requirement.Level{requirement.Must, requirement.Should})},
		reflect.TypeFor[requirement.ID]():    {Type: "string", Pattern: `^(SV|AD|CLE|SVM|EV|RO)-[0-9]{2}$`},
	}}
	top := reflect.TypeFor[ConformanceReport]()
	s, err := jsonschema.ForType(top, &jsonschema.ForOptions{TypeSchemas: g.words})
	if err != nil {
		t.Fatal(err)
	}
	g.describe(s, top)
	for _, field := range g.silent {
		t.Errorf("%s has no comment, and so no description", field)
	}
	s.Schema, s.ID, s.Title, s.Description = draft, schemaID, Kind, g.docs[nameOf(top)]
	s.Properties["apiVersion"].Const, s.Properties["kind"].Const = jsonschema.Ptr[any](APIVersion), jsonschema.Ptr[any](Kind)
	s.Properties["date"].Format = "date-time"
	harness, digests, topology := s.Properties["harness"], s.Properties["digests"], s.Properties["target"].Properties["topology"]
	for _, digest := range []*jsonschema.Schema{harness.Properties["digest"], harness.Properties["suite"], harness.Properties["schema"], topology.Properties["digest"]} {
		digest.Pattern = sha256Hex
	}
	for _, digest := range digests.Properties {
		digest.Pattern = sha256Hex
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

func texts[T ~string](values []T) []any {
	var out []any
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// generator completes what the library makes of Go types.
type generator struct {
	// docs are the comments on types and fields, by nameOf and what field adds.
	docs map[string]string
	// words are the schemas of types that have values of their own.
	words map[reflect.Type]*jsonschema.Schema
	// silent are fields without a comment.
	silent []string
}

func nameOf(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// describe gives the fields below a type their descriptions, and says of maps what
// their keys are. Pointers are what may be absent, never null.
func (g *generator) describe(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(slices.Clone(s.Types), func(name string) bool { return name == "null" })
		s.Type, s.Types = s.Types[0], nil
	}
	if g.words[t] != nil {
		return
	}
	switch t.Kind() {
	case reflect.Slice:
		g.describe(s.Items, t.Elem())
	case reflect.Map:
		if keys := g.words[t.Key()]; keys != nil {
			s.PropertyNames = &jsonschema.Schema{Enum: keys.Enum}
		}
		g.describe(s.AdditionalProperties, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			g.field(s, t, t.Field(i))
		}
	}
}

func (g *generator) field(s *jsonschema.Schema, of reflect.Type, field reflect.StructField) {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case field.Anonymous:
		for i := range field.Type.NumField() {
			g.field(s, field.Type, field.Type.Field(i))
		}
		return
	case !field.IsExported() || name == "-":
		return
	}
	below := s.Properties[name]
	g.describe(below, field.Type)
	if below.Description = g.docs[nameOf(of)+"."+field.Name]; below.Description == "" {
		g.silent = append(g.silent, nameOf(of)+"."+field.Name)
	}
}

// comments reads what is written above the types that a report is made of, and above
// their fields.
func comments(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, of := range []reflect.Type{reflect.TypeFor[ConformanceReport](), reflect.TypeFor[check.Judgement](), reflect.TypeFor[check.Result](), reflect.TypeFor[requirement.Bound](), reflect.TypeFor[history.Header]()} {
		folder := filepath.Join("..", filepath.Base(of.PkgPath()))
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("there is no source in %s: %v", folder, err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, declared := range parsed.Decls {
				if types, ok := declared.(*ast.GenDecl); ok && types.Tok == token.TYPE {
					note(out, of.PkgPath(), types)
				}
			}
		}
	}
	return out
}

func note(out map[string]string, in string, types *ast.GenDecl) {
	words := func(comment *ast.CommentGroup) string { return strings.Join(strings.Fields(comment.Text()), " ") }
	for _, spec := range types.Specs {
		declared := spec.(*ast.TypeSpec)
		name := in + "." + declared.Name.Name
		out[name] = words(types.Doc)
		fields, ok := declared.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range fields.Fields.List {
			for _, one := range field.Names {
				out[name+"."+one.Name] = words(field.Doc)
			}
		}
	}
}
