package requirement

import (
	_ "embed"
	"fmt"
	"slices"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/release"
)

// Deviation is a difference from a KEP that some releases of a distribution
// have on purpose.
type Deviation struct {
	// ID names it in reports.
	ID string `json:"id"`
	// Requirement from which the distribution differs.
	Requirement ID `json:"requirement"`
	// Distribution and releases that differ: those from From on and before
	// Before, either of which may be empty.
	Distribution string `json:"distribution"`
	From         string `json:"from,omitempty"`
	Before       string `json:"before,omitempty"`
	// Kind is what the law calls the violations that the difference explains.
	// It excuses no others.
	Kind string `json:"kind"`
	// Differs says in one sentence what is different, and Source where the maintainers
	// of the distribution say so.
	Differs string `json:"differs"`
	Source  string `json:"source"`
}

//go:embed deviations.yaml
var deviationsYAML []byte

var deviations = loadDeviations(deviationsYAML)

// loadDeviations panics as load does, and for the same reason.
func loadDeviations(data []byte) []Deviation {
	var listed struct {
		Deviations []Deviation `json:"deviations"`
	}
	if err := yaml.UnmarshalStrict(data, &listed); err != nil {
		panic(fmt.Sprintf("deviations: %v", err))
	}
	return listed.Deviations
}

// Deviations returns all documented deviations.
func Deviations() []Deviation { return slices.Clone(deviations) }

// DeviationsFrom returns the deviations of a distribution from one requirement.
func DeviationsFrom(id ID, distribution string) []Deviation {
	return slices.DeleteFunc(Deviations(), func(d Deviation) bool { return d.Requirement != id || d.Distribution != distribution })
}

// Explains is whether the deviation is the reason for a violation of the kind by
// a member of the release, whatever it emulates. A release that is no version explains nothing.
func (d Deviation) Explains(kind, name string) bool {
	binary := release.Binary(name)
	return kind == d.Kind && semver.IsValid(binary) &&
		(d.From == "" || semver.Compare(binary, d.From) >= 0) &&
		(d.Before == "" || semver.Compare(binary, d.Before) < 0)
}
