// Package requirement holds the catalog of promises that Evenkeel judges: the promises of
// five KEPs, those that hold in every run, and the profiles made of them.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package requirement

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// ID names a requirement, such as "SV-06". It is also the name of its check,
// its spec and its line in a report.
type ID string

// Level says what a violation of a requirement means.
type Level string

const (
	// Must marks the core of a profile: without it there is no success.
	Must Level = "MUST"
	// Should marks the extended part of a profile, reported beside the core.
	Should Level = "SHOULD"
)

// Requirement is one promise.
type Requirement struct {
	ID    ID    `json:"id"`
	Level Level `json:"level"`
	// KEPOnly marks a promise whose behavior no published Kubernetes API has.
	KEPOnly bool `json:"kepOnly,omitempty"`
	// Source is the origin of the promise: a KEP, such as "KEP-2339", or a page of the
	// documentation, such as "API concepts"; the catalog gives their addresses.
	Source string `json:"source"`
	// Promise is one sentence that says what must hold.
	Promise string `json:"promise"`
	// Bounds are how long something may take, or how much of it there may be.
	Bounds []Bound `json:"bounds,omitempty"`
	// Tolerances are allowances, where the recorder cannot tell a violation from what is
	// permitted.
	Tolerances []Bound `json:"tolerances,omitempty"`
	// Needs are the least that must have been seen for a pass.
	Needs []Need `json:"needs,omitempty"`
}

// Profile is a set of requirements that a report claims as a whole.
type Profile struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	Requirements []ID   `json:"requirements"`
}

type catalog struct {
	Requirements []Requirement `json:"requirements"`
	Profiles     []Profile     `json:"profiles"`
	Notions      []Notion      `json:"notions"`
}

//go:embed catalog.yaml
var catalogYAML []byte

var loaded = load(catalogYAML)

// load panics on a bad catalog: it is compiled in, so only a build can be wrong, and the
// unit test of this package reads it before any user does.
func load(data []byte) catalog {
	var c catalog
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		panic(fmt.Sprintf("requirement catalog: %v", err))
	}
	return c
}

// All returns the requirements in the order of the catalog.
func All() []Requirement { return slices.Clone(loaded.Requirements) }

// Lookup finds a requirement by its ID.
func Lookup(id ID) (Requirement, bool) {
	for _, r := range loaded.Requirements {
		if r.ID == id {
			return r, true
		}
	}
	return Requirement{}, false
}

// Profiles returns the profiles that a report can claim.
func Profiles() []Profile { return slices.Clone(loaded.Profiles) }

// LookupProfile finds a profile by its name; the error lists those that exist.
func LookupProfile(name string) (Profile, error) {
	names := make([]string, 0, len(loaded.Profiles))
	for _, p := range loaded.Profiles {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("there is no profile %q; there are: %s", name, strings.Join(names, ", "))
}

// LookupProfiles finds profiles by their names, and returns all of them for no names.
func LookupProfiles(names []string) ([]Profile, error) {
	if len(names) == 0 {
		return Profiles(), nil
	}
	out := make([]Profile, 0, len(names))
	for _, name := range names {
		p, err := LookupProfile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Select returns the requirements of the profiles, in the order of the catalog, that focus
// matches. An empty focus matches all. It returns an error if none is left.
func Select(profiles []Profile, focus string) ([]Requirement, error) {
	re, err := regexp.Compile(focus)
	if err != nil {
		return nil, fmt.Errorf("--focus %q is not a regular expression: %w", focus, err)
	}
	wanted := map[ID]bool{}
	for _, p := range profiles {
		for _, id := range p.Requirements {
			wanted[id] = true
		}
	}
	var out []Requirement
	for _, r := range loaded.Requirements {
		if wanted[r.ID] && re.MatchString(string(r.ID)) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no requirement of the chosen profiles matches --focus %q; `evenkeel requirements` lists them", focus)
	}
	return out, nil
}
