package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

//go:embed unplanted.yaml
var unplantedYAML []byte

// unbroken is a bound that no defect can break by little in a run, and why.
type unbroken struct {
	requirement requirement.ID
	bound       string
	because     string
}

// unplanted are all of them, by requirement. It panics, since the file is compiled in.
func unplanted() []unbroken {
	var listed map[string]string
	if err := yaml.UnmarshalStrict(unplantedYAML, &listed); err != nil {
		panic(fmt.Sprintf("unplanted.yaml: %v", err))
	}
	var out []unbroken
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		id, bound, _ := strings.Cut(name, "/")
		out = append(out, unbroken{requirement.ID(id), bound, listed[name]})
	}
	return out
}
