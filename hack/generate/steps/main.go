// Command steps writes the reference of the steps of scenarios from the comments of their
// types: into pkg/scenario, which embeds it, and between two marks of fixtures/README.md.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/scenario"
)

const (
	embedded = "pkg/scenario/reference.md"
	readme   = "fixtures/README.md"

	begin = "<!-- steps:begin -->\n"
	end   = "<!-- steps:end -->"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// generate gives the files as they are to be, by their names below the root.
func generate(root string) (map[string]string, error) {
	comments, err := read(filepath.Join(root, "pkg", "scenario"))
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, name := range scenario.StepNames() {
		t, _ := scenario.StepType(name)
		section, err := comments.step(name, t)
		if err != nil {
			return nil, err
		}
		b.WriteString(section)
	}
	section, err := comments.step(scenario.WhenKey, scenario.WhenType())
	if err != nil {
		return nil, err
	}
	b.WriteString(section)
	reference := strings.TrimSuffix(b.String(), "\n")
	raw, err := os.ReadFile(filepath.Join(root, readme))
	if err != nil {
		return nil, err
	}
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return nil, fmt.Errorf("%s has no line %s with a line %s after it", readme, strings.TrimSpace(begin), end)
	}
	return map[string]string{embedded: reference, readme: before + begin + "\n" + reference + "\n" + end + after}, nil
}
