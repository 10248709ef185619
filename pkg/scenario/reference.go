package scenario

import (
	_ "embed"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/registry"
)

// reference describes every step, as `make generate` writes it from the comments of the
// types.
//
//go:embed reference.md
var reference string

// Reference describes every step and its fields, in Markdown.
func Reference() string { return reference }

// StepReference describes one step; ok is false where there is none of that name.
func StepReference(name string) (section string, ok bool) {
	begin := registry.Heading + name + "`\n"
	_, after, ok := strings.Cut(reference, begin)
	if !ok {
		return "", false
	}
	body, _, _ := strings.Cut(after, registry.Heading)
	return begin + strings.TrimRight(body, "\n") + "\n", true
}
