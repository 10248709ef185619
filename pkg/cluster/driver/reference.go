package driver

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Entries declare every driver.
func Entries() []registry.Entry {
	var out []registry.Entry
	for _, d := range All() {
		out = append(out, d.entry())
	}
	return out
}

func (d *Driver) entry() registry.Entry {
	return registry.Entry{Kind: registry.Driver, Name: d.Name, Doc: d.Doc, Parameters: d.Parameters}
}

// Reference describes all drivers, in Markdown.
func Reference() string {
	var b strings.Builder
	for _, d := range All() {
		b.WriteString(d.reference())
	}
	return b.String()
}

// ReferenceOf describes one driver; ok is false where there is none of the name.
func ReferenceOf(name string) (text string, ok bool) {
	d, ok := Lookup(name)
	if !ok {
		return "", false
	}
	return d.reference(), true
}

func (d *Driver) reference() string {
	var b strings.Builder
	entry := d.entry()
	b.WriteString("#" + entry.Markdown())
	b.WriteString("| in the place of the hook | it |\n|---|---|\n")
	for _, hook := range cluster.Hooks() {
		if one, ok := d.Operation(hook); ok {
			fmt.Fprintf(&b, "| `%s` | %s |\n", hook, one.Doc)
		}
	}
	b.WriteString("\nIt has no:\n\n")
	for _, hook := range cluster.Hooks() {
		if why, ok := d.Lacks[hook]; ok {
			fmt.Fprintf(&b, "- `%s`: %s.\n", hook, why)
		}
	}
	if d.OnlyWhole != "" {
		fmt.Fprintf(&b, "- `stop` of a single component: %s.\n", d.OnlyWhole)
	}
	b.WriteString("\nIt follows " + strings.Join(d.Sources, ", ") + ".\n\n")
	return b.String()
}
