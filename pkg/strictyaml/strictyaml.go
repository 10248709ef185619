// Package strictyaml reads files that people write, and refuses what it does
// not know: a misspelled key would otherwise be a setting that is silently left out.
// Errors name the file and the line.
//
// It stands on go.yaml.in/yaml/v3 rather than on goccy/go-yaml, which was tried (v1.19.2):
// that tells of the first mistake only, reads 3.7 and "3" into a whole number without a
// word, takes .nan, and quotes the lines around a mistake, which may hold what is secret.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package strictyaml

import (
	"bytes"
	"cmp"
	gojson "encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/json"
	kyaml "sigs.k8s.io/yaml"
)

// unknownField and wrongKind are how the YAML library words an unknown key and a value
// of the wrong kind, and lineStart how it begins any complaint.
var (
	unknownField = regexp.MustCompile(`^line (\d+): field (\S+) not found in type .*$`)
	wrongKind    = regexp.MustCompile("^(line \\d+: )cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.+)$")
	lineStart    = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
)

// Decode reads one document into a value with yaml tags. File is what messages
// call it.
func Decode(file string, raw []byte, into any) error {
	if err := finite(file, raw); err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return readable(file, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: holds more than one document", file)
	}
	return nil
}

// DecodeNode reads a part of a document, for a type that decodes itself, into a pointer to a
// struct with yaml tags. An unknown key is a *yaml.TypeError, as Decode makes of it.
func DecodeNode(node *yaml.Node, into any) error {
	unknown := unknownKeys(node, reflect.TypeOf(into).Elem())
	err := node.Decode(into)
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		unknown = append(unknown, typed.Errors...)
	} else if err != nil {
		return err
	}
	if len(unknown) > 0 {
		return &yaml.TypeError{Errors: unknown}
	}
	return nil
}

// unknownKeys finds the keys that a type does not have, in the words of the YAML library,
// whose decoder of single nodes does not.
func unknownKeys(node *yaml.Node, t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var out []string
	switch {
	case node.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, element := range node.Content {
			out = append(out, unknownKeys(element, t.Elem())...)
		}
	case node.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		fields := fieldTypes(t)
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if field, known := fields[key.Value]; known {
				out = append(out, unknownKeys(node.Content[i+1], field)...)
			} else {
				out = append(out, fmt.Sprintf("line %d: field %s not found in type %s", key.Line, key.Value, t))
			}
		}
	}
	return out
}

// fieldTypes are the types of a struct's fields, by their keys.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if options == "inline" {
			maps.Copy(out, fieldTypes(field.Type))
		} else if field.IsExported() && name != "-" {
			out[cmp.Or(name, strings.ToLower(field.Name))] = field.Type
		}
	}
	return out
}

// finite refuses the numbers of YAML that are none, .nan and .inf: they pass any bound that
// is asked for with a comparison. A document that cannot be read is Decode's to refuse.
func finite(file string, raw []byte) error {
	var document yaml.Node
	if yaml.Unmarshal(raw, &document) != nil {
		return nil
	}
	var errs []error
	var visit func(*yaml.Node)
	visit = func(node *yaml.Node) {
		var number float64
		if node.Kind == yaml.ScalarNode && node.Tag == "!!float" && node.Decode(&number) == nil &&
			(math.IsNaN(number) || math.IsInf(number, 0)) {
			errs = append(errs, fmt.Errorf("%s:%d: %s, where a finite number is needed", file, node.Line, node.Value))
		}
		for _, child := range node.Content {
			visit(child)
		}
	}
	visit(&document)
	return errors.Join(errs...)
}

// readable turns the library's complaints, which speak of Go types, into ones
// that speak of the file.
func readable(file string, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: is empty", file)
	}
	complaints := []string{err.Error()}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		complaints = typed.Errors
	}
	errs := make([]error, 0, len(complaints))
	for _, complaint := range complaints {
		complaint = unknownField.ReplaceAllString(complaint, `line $1: unknown key "$2"`)
		if at := wrongKind.FindStringSubmatch(complaint); at != nil {
			complaint = at[1] + mismatch(tagged(at[2], at[3]), at[4])
		}
		if at := lineStart.FindStringSubmatch(complaint); at != nil {
			errs = append(errs, fmt.Errorf("%s:%s: %s", file, at[1], lineStart.ReplaceAllString(complaint, "")))
		} else {
			errs = append(errs, fmt.Errorf("%s: %s", file, strings.TrimPrefix(complaint, "yaml: ")))
		}
	}
	return errors.Join(errs...)
}

// DecodeJSON is Decode for a value with json tags, such as a Kubernetes type.
func DecodeJSON(file string, raw []byte, into any) error {
	converted, err := kyaml.YAMLToJSONStrict(raw)
	if err != nil {
		return readable(file, err)
	}
	strict, err := json.UnmarshalStrict(converted, into)
	var typed *gojson.UnmarshalTypeError
	if errors.As(err, &typed) && typed.Field != "" {
		at := file
		if line := Line(raw, typed.Field); line > 0 {
			at = fmt.Sprintf("%s:%d", file, line)
		}
		return fmt.Errorf("%s: %s is %s", at, typed.Field, mismatch(valued(typed.Value), typed.Type.String()))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	errs := make([]error, 0, len(strict))
	for _, one := range strict {
		errs = append(errs, locate(file, raw, one))
	}
	return errors.Join(errs...)
}

// locate finds the line of a complaint that names a field by its path.
func locate(file string, raw []byte, complaint error) error {
	_, quoted, found := strings.Cut(complaint.Error(), "unknown field ")
	path, err := strconv.Unquote(quoted)
	if !found || err != nil {
		return fmt.Errorf("%s: %w", file, complaint)
	}
	if line := Line(raw, path); line > 0 {
		return fmt.Errorf("%s:%d: unknown key %q", file, line, path)
	}
	return fmt.Errorf("%s: unknown key %q", file, path)
}

// Line is where the document has the key that the path leads to, such as
// "spec.delay.latency" or "steps[2].hold"; 0 if it has none.
func Line(raw []byte, path string) int {
	var document yaml.Node
	if yaml.Unmarshal(raw, &document) != nil || len(document.Content) == 0 {
		return 0
	}
	node, line := document.Content[0], 0
	path = strings.ReplaceAll(path, "[", ".[")
	for part := range strings.SplitSeq(path, ".") {
		index, isIndex := strings.CutPrefix(part, "[")
		next := (*yaml.Node)(nil)
		if isIndex {
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err == nil && node.Kind == yaml.SequenceNode && i < len(node.Content) {
				next, line = node.Content[i], node.Content[i].Line
			}
		} else if node.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == part {
					next, line = node.Content[i+1], node.Content[i].Line
				}
			}
		}
		if next == nil {
			return 0
		}
		node = next
	}
	return line
}
