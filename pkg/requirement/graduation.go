package requirement

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/release"
)

// Graduation says until which release a distribution serves a version of an API.
type Graduation struct {
	// API is a group and its version, such as apidiscovery.k8s.io/v2beta1.
	API          string `json:"api"`
	Distribution string `json:"distribution"`
	// Until is the last minor release that serves it, such as v1.32.
	Until string `json:"until"`
	// Source is the address or folder that shows it.
	Source string `json:"source"`
}

//go:embed graduations.yaml
var graduationsYAML []byte

var graduations = loadGraduations(graduationsYAML)

// loadGraduations panics as load does, and for the same reason.
func loadGraduations(data []byte) []Graduation {
	var listed struct {
		Graduations []Graduation `json:"graduations"`
	}
	if err := yaml.UnmarshalStrict(data, &listed); err != nil {
		panic(fmt.Sprintf("graduations: %v", err))
	}
	return listed.Graduations
}

// Graduations returns all known graduations.
func Graduations() []Graduation { return slices.Clone(graduations) }

// Serves is whether a release of a distribution, with or without a leading v, must serve
// the version of an API, by the version that it emulates if it does. known is false where graduations.yaml has no row for it.
func Serves(api, distribution, name string) (serves, known bool) {
	minor := semver.MajorMinor("v" + strings.TrimPrefix(release.Parse(name).Behaves(), "v"))
	i := slices.IndexFunc(graduations, func(g Graduation) bool { return g.API == api && g.Distribution == distribution })
	if i < 0 || minor == "" || semver.Major(minor) != semver.Major(graduations[i].Until) {
		return false, false
	}
	return semver.Compare(minor, graduations[i].Until) <= 0, true
}
