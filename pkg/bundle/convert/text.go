package convert

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Scenario gives the steps and fields of a scenario file their new names, and leaves
// everything else as it is, comments too.
func Scenario(raw []byte) ([]byte, error) {
	return editYAML(raw, func(root *yaml.Node, e *edits) {
		e.keys(child(root, "leaderElection"), leaderElectionFields)
		steps := child(root, "steps")
		if steps == nil || steps.Kind != yaml.SequenceNode {
			return
		}
		for _, step := range steps.Content {
			for action, body := range pairs(step) {
				for name, value := range pairs(body) {
					if values, ok := stepValues[action.Value][name.Value]; ok {
						e.rename(value, values)
					}
					if action.Value == "elect" && name.Value == "participants" && value.Kind == yaml.SequenceNode {
						for _, participant := range value.Content {
							e.keys(participant, participantFields)
						}
					}
				}
				e.keys(body, stepFields[action.Value])
			}
			e.keys(step, actions)
		}
	})
}

// Topology gives the settings of a topology file their new names.
func Topology(raw []byte) ([]byte, error) {
	return editYAML(raw, func(root *yaml.Node, e *edits) { e.keys(child(child(root, "spec"), "settings"), settings) })
}

// edits are texts of a file to be replaced.
type edits struct {
	list []edit
	errs []error
}

type edit struct {
	line, column int
	from, to     string
}

func (e *edits) rename(node *yaml.Node, to names) {
	if node.Kind != yaml.ScalarNode {
		return
	}
	name, err := to.of(node.Value)
	if err != nil {
		e.errs = append(e.errs, fmt.Errorf("line %d %w", node.Line, err))
	} else if name != node.Value {
		e.list = append(e.list, edit{node.Line, node.Column, node.Value, name})
	}
}

func (e *edits) keys(mapping *yaml.Node, to names) {
	for key := range pairs(mapping) {
		e.rename(key, to)
	}
}

// pairs are the keys and values of a mapping; none of what is no mapping.
func pairs(mapping *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if mapping == nil || mapping.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if !yield(mapping.Content[i], mapping.Content[i+1]) {
				return
			}
		}
	}
}

func child(mapping *yaml.Node, name string) *yaml.Node {
	for key, value := range pairs(mapping) {
		if key.Value == name {
			return value
		}
	}
	return nil
}

func editYAML(raw []byte, find func(root *yaml.Node, e *edits)) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if len(document.Content) == 0 {
		return raw, nil
	}
	var e edits
	find(document.Content[0], &e)
	if err := errors.Join(e.errs...); err != nil {
		return nil, err
	}
	// From the end, so that the places of those before stay right.
	slices.SortFunc(e.list, func(a, b edit) int {
		if a.line != b.line {
			return b.line - a.line
		}
		return b.column - a.column
	})
	lines := bytes.SplitAfter(raw, []byte("\n"))
	for _, one := range e.list {
		line := []rune(string(lines[one.line-1]))
		at := one.column - 1
		if strings.HasPrefix(string(line[at:]), `"`) || strings.HasPrefix(string(line[at:]), "'") {
			at++
		}
		if !strings.HasPrefix(string(line[at:]), one.from) {
			return nil, fmt.Errorf("line %d, column %d: %q is not written there as plain text", one.line, one.column, one.from)
		}
		lines[one.line-1] = []byte(string(line[:at]) + one.to + string(line[at+len([]rune(one.from)):]))
	}
	return bytes.Join(lines, nil), nil
}
