package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// comments are those of the types and fields of a package.
type comments struct {
	types  map[string]string
	fields map[string]map[string]string // by type and field
}

func read(folder string) (*comments, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	c := &comments{types: map[string]string{}, fields: map[string]map[string]string{}}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.TYPE {
				continue
			}
			for _, spec := range general.Specs {
				c.add(spec.(*ast.TypeSpec), general.Doc)
			}
		}
	}
	return c, nil
}

func (c *comments) add(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	c.types[spec.Name.Name] = words(doc)
	body, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	fields := map[string]string{}
	last := ""
	for _, field := range body.Fields.List {
		if field.Doc != nil {
			last = words(field.Doc)
		}
		for _, name := range field.Names {
			fields[name.Name] = last
			if field.Doc == nil && !strings.Contains(last, name.Name) {
				fields[name.Name] = ""
			}
		}
	}
	c.fields[spec.Name.Name] = fields
}

func words(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }

// step describes a step by the comments of its type and what its entry declares.
func (c *comments) step(entry registry.Entry, t reflect.Type) (string, error) {
	section, err := c.section(entry.Name, t, entry.Parameters)
	if err != nil {
		return "", err
	}
	return section + entry.NeedsMarkdown() + "\n", nil
}

// section describes what has a key of its own in a step.
func (c *comments) section(name string, t reflect.Type, parameters []registry.Parameter) (string, error) {
	doc := named(c.types[t.Name()])
	if doc == "" {
		return "", fmt.Errorf("the type %s of the step %s has no comment", t.Name(), name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s`\n\n%s\n\n", registry.Heading, name, strings.Replace(doc, t.Name(), "`"+name+"`", 1))
	if err := c.list(&b, t, parameters, ""); err != nil {
		return "", fmt.Errorf("step %s: %w", name, err)
	}
	return b.String(), nil
}

// named has a comment name other steps as files do.
func named(doc string) string {
	for _, name := range scenario.StepNames() {
		t, _ := scenario.StepType(name)
		for _, article := range []string{" a ", " an ", " the "} {
			doc = strings.ReplaceAll(doc, article+t.Name(), article+"`"+name+"`")
		}
	}
	return doc
}

// list describes the fields of a type, and below each the fields of its elements.
func (c *comments) list(b *strings.Builder, t reflect.Type, parameters []registry.Parameter, indent string) error {
	renamed := keys(t)
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if options == "inline" {
			if err := c.list(b, field.Type, parameters, indent); err != nil {
				return err
			}
			continue
		}
		shown, nested := fmt.Sprintf("`%s` (%s)", name, kindOf(field.Type, options)), []registry.Parameter(nil)
		if at := slices.IndexFunc(parameters, func(p registry.Parameter) bool { return p.Name == name }); at >= 0 {
			shown, nested = parameters[at].Markdown(parameters), parameters[at].Domain.Fields
		}
		doc := c.fields[t.Name()][field.Name]
		for from, to := range renamed {
			doc = strings.ReplaceAll(" "+doc, " "+from+" ", " `"+to+"` ")
			doc = strings.TrimPrefix(doc, " ")
		}
		if doc != "" {
			doc = ": " + named(doc)
		}
		fmt.Fprintf(b, "%s- %s%s\n", indent, shown, doc)
		if of := field.Type.Kind(); (of == reflect.Slice || of == reflect.Pointer) && field.Type.Elem().Kind() == reflect.Struct {
			if err := c.list(b, field.Type.Elem(), nested, indent+"  "); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindOf is what a field holds that no domain describes.
func kindOf(t reflect.Type, options string) string {
	kind := t.String()
	switch {
	case t == reflect.TypeFor[time.Duration]():
		kind = "duration"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		kind = "list"
	case t.Kind() == reflect.Pointer:
		kind = "group"
	case t.Kind() == reflect.Slice:
		kind = "list of texts"
	case t.Kind() == reflect.Float64, t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		kind = "number"
	case t.Kind() == reflect.Bool:
		kind = "true or false"
	case t.Kind() == reflect.String:
		kind = "text"
	}
	if options == "omitempty" {
		kind += ", optional"
	}
	return kind
}

// keys are the names of a type's fields in files, by those in Go.
func keys(t reflect.Type) map[string]string {
	out := map[string]string{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name != "" {
			out[t.Field(i).Name] = name
		}
	}
	return out
}
