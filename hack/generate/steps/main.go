// Command steps writes the references of steps, faults, workloads, profiles and drivers: that of
// steps from the comments of their types into pkg/scenario, which embeds it, all of these between
// marks of fixtures/README.md, and that of drivers, and what can be judged of an external cluster,
// between marks of clusters/README.md.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster/driver"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/scenario"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

const (
	embedded = "pkg/scenario/reference.md"
	readme   = "fixtures/README.md"
	clusters = "clusters/README.md"
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
	steps, err := steps(root)
	if err != nil {
		return nil, err
	}
	fixtures := os.DirFS(filepath.Join(root, "fixtures"))
	faults, err := fault.Reference(fixtures)
	if err != nil {
		return nil, err
	}
	workloads, err := workload.Reference(fixtures)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(root, readme))
	if err != nil {
		return nil, err
	}
	text := string(raw)
	for _, part := range []struct{ name, reference string }{{"profiles", profiles()}, {"steps", steps}, {"faults", faults}, {"workloads", workloads}} {
		if text, err = between(readme, text, part.name, part.reference); err != nil {
			return nil, err
		}
	}
	topologies, err := os.ReadFile(filepath.Join(root, clusters))
	if err != nil {
		return nil, err
	}
	drivers, err := between(clusters, string(topologies), "drivers", driver.Reference())
	if err != nil {
		return nil, err
	}
	external, err := between(clusters, drivers, "judged", check.ExternalReference())
	if err != nil {
		return nil, err
	}
	return map[string]string{embedded: steps, readme: text, clusters: external}, nil
}

// steps is the reference of steps.
func steps(root string) (string, error) {
	comments, err := read(filepath.Join(root, "pkg", "scenario"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, entry := range scenario.Entries() {
		t, _ := scenario.StepType(entry.Name)
		section, err := comments.step(entry, t)
		if err != nil {
			return "", err
		}
		b.WriteString(section)
	}
	section, err := comments.section(scenario.WhenKey, scenario.WhenType(), nil)
	return b.String() + section, err
}

// profiles is the table of the profiles.
func profiles() string {
	var b strings.Builder
	b.WriteString("| profile | requirements | |\n|---|---|---|\n")
	for _, p := range requirement.Profiles() {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", p.Name, len(p.Requirements), p.Description)
	}
	return b.String()
}

// between puts a reference between its two marks of a file.
func between(file, text, name, reference string) (string, error) {
	begin, end := fmt.Sprintf("<!-- %s:begin -->\n", name), fmt.Sprintf("<!-- %s:end -->\n", name)
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("%s has no line %s with a line %s after it", file, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + strings.TrimSpace(reference) + "\n\n" + end + after, nil
}
