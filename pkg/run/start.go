package run

import (
	"context"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// relative begins a release that depends on which ones there are, such as @oldest.
const relative = "@"

// startAt has the members begin at the release that the scenario starts from. Where that is a
// relative one, a release that was asked for goes before it, and the scenario is played with that:
// a window of two releases opens at the one that is asked for.
func (p *plan) startAt(ctx context.Context, asked string) error {
	if p.topology.ExternallyManaged() {
		return nil // the harness does not choose the releases of an external cluster
	}
	if asked != "" && strings.HasPrefix(p.scenario.Start.Release, relative) {
		var err error
		if p.scenarioYAML, err = withStart(p.scenarioYAML, asked); err != nil {
			return fmt.Errorf("the scenario %s: %w", p.scenario.Metadata.Name, err)
		}
		p.scenario.Start.Release = asked
	}
	releases, err := p.provider.Releases(ctx, p.topology.Spec.Distribution)
	if err != nil {
		return err
	}
	start, err := p.scenario.StartRelease(releases)
	if err != nil || start == "" {
		return err
	}
	if asked != "" && asked != start {
		return fmt.Errorf("the scenario %s begins at release %s, and %s was asked for: leave --release out", p.scenario.Metadata.Name, start, asked)
	}
	p.topology.SetRelease(start)
	return nil
}

// withStart is the text of a scenario that begins at a release in the place of a relative one, and
// the same text where it names none. All else stays as it is written, comments too.
func withStart(text []byte, release string) ([]byte, error) {
	var s struct {
		Start struct {
			Release yaml.Node `yaml:"release"`
		} `yaml:"start"`
	}
	if err := yaml.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	at := s.Start.Release
	if at.Alias == nil && !strings.HasPrefix(at.Value, relative) {
		return text, nil
	}
	// A value that begins with @ is quoted.
	lines := strings.SplitAfter(string(text), "\n")
	before, line := lines[at.Line-1][:at.Column-1], lines[at.Line-1][at.Column-1:]
	rest, ok := strings.CutPrefix(line[1:], at.Value)
	if !ok || at.Alias != nil {
		return nil, fmt.Errorf("start.release is not written as plain text in quotes, so that no other release can go before it")
	}
	lines[at.Line-1] = before + line[:1] + release + rest
	return []byte(strings.Join(lines, "")), nil
}
