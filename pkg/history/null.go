package history

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// nullField finds a field of a header or an event that is null where the format has a value, by its
// path; empty if there is none. A decoder leaves such a field at zero, which often means
// something: a status of 0 is that of a request without an answer. A list or a map may be
// null, as encoding/json writes an empty one.
func nullField(of reflect.Type, line []byte) string {
	var value any
	if json.Unmarshal(line, &value) != nil {
		return "" // the decoder of events says so
	}
	return nullIn(of, value, "")
}

func nullIn(t reflect.Type, value any, path string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := value.(type) {
	case nil:
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			return ""
		}
		return strings.TrimPrefix(path, ".")
	case []any:
		below := reflect.TypeFor[[]any]()
		if t.Kind() == reflect.Slice {
			below = t.Elem()
		}
		for _, element := range v {
			if found := nullIn(below, element, path); found != "" {
				return found
			}
		}
	case map[string]any:
		// In one order, so that the same file gives the same sentence.
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if found := nullIn(typeOf(t, name), v[name], path+"."+name); found != "" {
				return found
			}
		}
	}
	return ""
}

// typeOf is the type of a field, by its name in the file. What the format does not have may
// hold anything, as a list may.
func typeOf(t reflect.Type, name string) reflect.Type {
	switch {
	case t.Kind() == reflect.Map:
		return t.Elem()
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		for i := range t.NumField() {
			if field := t.Field(i); strings.EqualFold(jsonName(field), name) {
				return field.Type
			}
		}
	}
	return reflect.TypeFor[[]any]()
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
