package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// maxDifferences is how many differences the outcome lists; otherwise a report of
	// another run would fill the screen.
	maxDifferences = 100
	// maxShownValue is how many bytes of a value a line shows.
	maxShownValue = 160
)

// differences compares two reports field by field, and gives a line for each
// field that has another value in them. Neither lists nor numbers are rounded:
// a seed that differs in its last digit differs.
func differences(reported, judged []byte) ([]string, error) {
	told, err := values(reported)
	if err != nil {
		return nil, err
	}
	found, err := values(judged)
	if err != nil {
		return nil, err
	}
	c := &comparison{}
	c.compare("", told, found)
	if c.dropped > 0 {
		c.lines = append(c.lines, fmt.Sprintf("%d more fields differ", c.dropped))
	}
	return c.lines, nil
}

// Differences compares two documents as reports are compared, field by field: told is what
// is in the file, and found what follows from the evidence.
func Differences(told, found []byte) ([]string, error) { return differences(told, found) }

// values of a YAML document, with numbers as they are written.
func values(document []byte) (any, error) {
	raw, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out any
	err = decoder.Decode(&out)
	return out, err
}

type comparison struct {
	lines   []string
	dropped int
}

func (c *comparison) differ(path string, told, found any) {
	if len(c.lines) >= maxDifferences {
		c.dropped++
		return
	}
	if path == "" {
		path = "the whole"
	}
	source := "the history says"
	if strings.HasPrefix(path, "digests.") {
		source = "the file beside it has"
	}
	c.lines = append(c.lines, fmt.Sprintf("%s: the report says %s, %s %s", path, shown(told), source, shown(found)))
}

// absent is the value of a field that one of the two does not have.
type absent struct{}

func shown(value any) string {
	if value == (absent{}) {
		return "nothing"
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("what cannot be shown (%v)", err)
	}
	if len(raw) > maxShownValue {
		return string(bytes.ToValidUTF8(raw[:maxShownValue], nil)) + "…"
	}
	return string(raw)
}

func (c *comparison) compare(path string, told, found any) {
	switch t := told.(type) {
	case map[string]any:
		if f, ok := found.(map[string]any); ok {
			c.compareFields(path, t, f)
			return
		}
	case []any:
		if f, ok := found.([]any); ok {
			c.compareLists(path, t, f)
			return
		}
	default:
		// What remains are strings, numbers, booleans, nothing and absent, all of
		// which can be compared; a map or a list is equal to none of them.
		switch found.(type) {
		case map[string]any, []any:
		default:
			if told == found {
				return
			}
		}
	}
	c.differ(path, told, found)
}

func (c *comparison) compareFields(path string, told, found map[string]any) {
	names := slices.Collect(maps.Keys(told))
	for name := range found {
		if _, both := told[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		below := name
		if path != "" {
			below = path + "." + name
		}
		c.compare(below, valueOf(told, name), valueOf(found, name))
	}
}

func valueOf(fields map[string]any, name string) any {
	if value, ok := fields[name]; ok {
		return value
	}
	return absent{}
}

// compareLists matches elements by what names them, where something does, so that
// one that is missing does not make all after it differ.
func (c *comparison) compareLists(path string, told, found []any) {
	for _, key := range []string{"id", "name", "member"} {
		toldNames, ok := named(told, key)
		foundNames, alsoOK := named(found, key)
		if !ok || !alsoOK {
			continue
		}
		toldAt, foundAt := places(toldNames), places(foundNames)
		order := slices.Clone(foundNames)
		for _, name := range toldNames {
			if _, both := foundAt[name]; !both {
				order = append(order, name)
			}
		}
		for _, name := range order {
			c.compare(fmt.Sprintf("%s[%s]", path, name), element(told, toldAt, name), element(found, foundAt, name))
		}
		if len(order) == len(toldNames) && len(order) == len(foundNames) && !slices.Equal(toldNames, foundNames) {
			c.differ(path+" (their order)", toldNames, foundNames)
		}
		return
	}
	for i := range max(len(told), len(found)) {
		var t, f any = absent{}, absent{}
		if i < len(told) {
			t = told[i]
		}
		if i < len(found) {
			f = found[i]
		}
		c.compare(fmt.Sprintf("%s[%d]", path, i), t, f)
	}
}

// named gives what the field of that name says in each element; ok is false
// unless all have it and no two say the same.
func named(list []any, key string) (names []string, ok bool) {
	seen := map[string]bool{}
	for _, e := range list {
		fields, isMap := e.(map[string]any)
		name, isString := fields[key].(string)
		if !isMap || !isString || seen[name] {
			return nil, false
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, true
}

// places are those of the names in their list.
func places(names []string) map[string]int {
	out := map[string]int{}
	for i, name := range names {
		out[name] = i
	}
	return out
}

func element(list []any, places map[string]int, name string) any {
	if i, ok := places[name]; ok {
		return list[i]
	}
	return absent{}
}
