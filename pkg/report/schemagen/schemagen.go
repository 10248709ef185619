// Package schemagen makes JSON schemas of the types of reports, with the comments of types and
// fields as descriptions. Tests hold the schemas that are committed against it.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package schemagen

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"sigs.k8s.io/yaml"
)

const (
	draft = "https://json-schema.org/draft/2020-12/schema"
	base  = "https://evenkeel.dev/schemas/"
)

// SHA256 is the pattern of a digest.
const SHA256 = "^[0-9a-f]{64}$"

// Form is a type of documents.
type Form struct {
	// Type of the document, and File that its schema is committed as.
	Type reflect.Type
	File string
	// APIVersion and Kind are what the document says of itself.
	APIVersion, Kind string
	// Sources are the folders of the packages that the types are of, by the paths of the
	// packages.
	Sources map[string]string
	// Words are the schemas of types that have values of their own.
	Words map[reflect.Type]*jsonschema.Schema
}

// Schema makes the schema. Silent are fields without a comment, which have no description.
func (f Form) Schema() (s *jsonschema.Schema, silent []string, err error) {
	g := &generator{docs: map[string]string{}, words: f.Words}
	for path, folder := range f.Sources {
		if err := g.read(path, folder); err != nil {
			return nil, nil, err
		}
	}
	if s, err = jsonschema.ForType(f.Type, &jsonschema.ForOptions{TypeSchemas: f.Words}); err != nil {
		return nil, nil, fmt.Errorf("make the schema of %s: %w", f.Kind, err)
	}
	g.describe(s, f.Type)
	s.Schema, s.ID, s.Title, s.Description = draft, base+f.File, f.Kind, g.docs[nameOf(f.Type)]
	s.Properties["apiVersion"].Const, s.Properties["kind"].Const = jsonschema.Ptr[any](f.APIVersion), jsonschema.Ptr[any](f.Kind)
	return s, g.silent, nil
}

// Encode gives the bytes that are committed.
func Encode(s *jsonschema.Schema) ([]byte, error) {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode a schema: %w", err)
	}
	return append(raw, '\n'), nil
}

// Resolve reads a schema that is committed, for documents to be held against it.
func Resolve(schema []byte) (*jsonschema.Resolved, error) {
	form := &jsonschema.Schema{}
	if err := json.Unmarshal(schema, form); err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	return form.Resolve(nil)
}

// Untyped reads a document as a validator of schemas takes it.
func Untyped(document []byte) (out any, err error) {
	raw, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	return out, nil
}

// Texts are the values that a type has, for an enumeration.
func Texts[T ~string](values []T) []any {
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

// read notes what is written above the types of a package, and above their fields.
func (g *generator) read(path, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there is no source in %s", folder)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("read the comments of %s: %w", file, err)
		}
		for _, declared := range parsed.Decls {
			if types, ok := declared.(*ast.GenDecl); ok && types.Tok == token.TYPE {
				note(g.docs, path, types)
			}
		}
	}
	return nil
}

func note(out map[string]string, in string, types *ast.GenDecl) {
	words := func(comment *ast.CommentGroup) string { return strings.Join(strings.Fields(comment.Text()), " ") }
	for _, spec := range types.Specs {
		declared, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
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
