package fault

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Folder holds the faults that ship, in the fixtures.
const Folder = "faults"

// Shipped is a fault that ships with Evenkeel.
type Shipped struct {
	*Fault
	// File is its name in Folder.
	File string
	// Doc is the comment at its beginning.
	Doc string
}

// AllShipped are the faults of the fixtures, by name.
func AllShipped(fixtures fs.FS) ([]Shipped, error) {
	files, err := fs.Glob(fixtures, Folder+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []Shipped
	for _, file := range files {
		raw, err := fs.ReadFile(fixtures, file)
		if err != nil {
			return nil, err
		}
		fault, err := Parse(file, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, Shipped{fault, path.Base(file), registry.HeadComment(raw)})
	}
	return out, nil
}

// Reference describes the kinds of faults with their actions, and the faults of the fixtures, in
// Markdown.
func Reference(fixtures fs.FS) (string, error) {
	shipped, err := AllShipped(fixtures)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, kind := range Kinds() {
		b.WriteString(kind.reference(shipped))
	}
	return b.String(), nil
}

// ReferenceOf describes a kind, one of its actions as <kind>/<action>, or a fault that ships; ok is
// false where there is none of the name.
func ReferenceOf(fixtures fs.FS, name string) (text string, ok bool, err error) {
	shipped, err := AllShipped(fixtures)
	if err != nil {
		return "", false, err
	}
	if kind, known := kinds[name]; known {
		return kind.reference(shipped), true, nil
	}
	for _, entry := range Entries() {
		if entry.Name == name {
			return entry.Markdown(), true, nil
		}
	}
	for _, one := range shipped {
		if one.File == name || one.Name == name {
			return one.line(), true, nil
		}
	}
	return "", false, nil
}

// reference describes a kind, its actions and what ships of it.
func (k Kind) reference(shipped []Shipped) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s`\n\n%s\n\n", registry.Heading, k.Type, k.Doc)
	for _, action := range k.Actions {
		entry := k.entry(action)
		b.WriteString("#" + entry.Markdown())
	}
	var lines []string
	for _, one := range shipped {
		if one.Type == k.Type {
			lines = append(lines, one.line())
		}
	}
	if len(lines) > 0 {
		b.WriteString("Evenkeel ships these:\n\n" + strings.Join(lines, "") + "\n")
	}
	return b.String()
}

// line describes a fault that ships.
func (s Shipped) line() string {
	return fmt.Sprintf("- `%s` (`%s`): %s\n", s.File, s.Type+"/"+s.Action, s.Doc)
}
