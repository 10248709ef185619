package report

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report/schemagen"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// schemaFile is what is committed, and what the package has inside.
const schemaFile = "runreport-v1alpha1.json"

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
	out, err := schemagen.Untyped(document)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	out, err := schemagen.Resolve(Schema())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// generateSchema makes the schema of the types.
func generateSchema(t *testing.T) []byte {
	t.Helper()
	form := schemagen.Form{
		Type: reflect.TypeFor[ConformanceReport](), File: schemaFile, APIVersion: APIVersion, Kind: Kind,
		Sources: map[string]string{},
		Words: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[check.Verdict]():     {Type: "string", Enum: schemagen.Texts(check.Verdicts)},
			reflect.TypeFor[Outcome]():           {Type: "string", Enum: schemagen.Texts(Outcomes)},
			reflect.TypeFor[requirement.Level](): {Type: "string", Enum: schemagen.Texts([]requirement.Level{requirement.Must, requirement.Should})},
			reflect.TypeFor[requirement.ID]():    {Type: "string", Pattern: `^(SV|AD|CLE|SVM|EV|RO)-[0-9]{2}$`},
		},
	}
	for _, of := range []reflect.Type{reflect.TypeFor[ConformanceReport](), reflect.TypeFor[check.Judgement](), reflect.TypeFor[check.Result](), reflect.TypeFor[requirement.Bound](), reflect.TypeFor[history.Header]()} {
		form.Sources[of.PkgPath()] = filepath.Join("..", filepath.Base(of.PkgPath()))
	}
	s, silent, err := form.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range silent {
		t.Errorf("%s has no comment, and so no description", field)
	}
	s.Properties["date"].Format = "date-time"
	harness, digests, topology := s.Properties["harness"], s.Properties["digests"], s.Properties["target"].Properties["topology"]
	for _, digest := range []*jsonschema.Schema{harness.Properties["digest"], harness.Properties["suite"], harness.Properties["schema"], topology.Properties["digest"]} {
		digest.Pattern = schemagen.SHA256
	}
	for _, digest := range digests.Properties {
		digest.Pattern = schemagen.SHA256
	}
	raw, err := schemagen.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
