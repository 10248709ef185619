package requirement

import (
	"fmt"
	"slices"
	"time"
)

// Bound is a bound or a tolerance of a requirement.
type Bound struct {
	// Name by which the law refers to it.
	Name string `json:"name"`
	// Value is a duration such as 45s, or a number. With a Formula it is the result of the
	// formula with the default settings.
	Value string `json:"value"`
	// Formula says how the value follows from the topology; empty where it is fixed.
	Formula string `json:"formula,omitempty"`
	// Reason is why it is this value.
	Reason string `json:"reason"`
	// Source says where the value, or what it follows from, is written.
	Source string `json:"source"`
}

// Notion holds the bounds that are part of what a word means, such as when a candidate
// counts, for all requirements of a KEP.
type Notion struct {
	// ID of the KEP, such as "KEP-4355".
	ID     ID      `json:"id"`
	Bounds []Bound `json:"bounds"`
}

// Notions returns the notions of all KEPs.
func Notions() []Notion { return slices.Clone(loaded.Notions) }

// Need is the least that must have been seen of one kind for a pass.
type Need struct {
	Name string `json:"name"`
	// What is counted, in words.
	What string `json:"what"`
	// Least that makes a pass.
	Least int64 `json:"least"`
}

// MustBound returns a bound or tolerance of a requirement that is a duration. It panics if
// the catalog has none of the name: both are compiled in, and a test of every law reads
// every bound that the law names.
func MustBound(id ID, name string) time.Duration {
	d, err := time.ParseDuration(mustFind(id, name).Value)
	if err != nil {
		panic(fmt.Sprintf("requirement catalog: the bound %s of %s is not a duration: %v", name, id, err))
	}
	return d
}

// MustNumber returns a bound or tolerance that is a number.
func MustNumber(id ID, name string) float64 {
	var n float64
	if _, err := fmt.Sscanf(mustFind(id, name).Value, "%g", &n); err != nil {
		panic(fmt.Sprintf("requirement catalog: the bound %s of %s is not a number: %v", name, id, err))
	}
	return n
}

func mustFind(id ID, name string) Bound {
	req, ok := Lookup(id)
	for _, n := range loaded.Notions {
		if n.ID == id {
			req.Bounds, ok = n.Bounds, true
		}
	}
	if !ok {
		panic(fmt.Sprintf("requirement catalog: there is no %s", id))
	}
	for _, list := range [][]Bound{req.Bounds, req.Tolerances} {
		for _, b := range list {
			if b.Name == name {
				return b
			}
		}
	}
	panic(fmt.Sprintf("requirement catalog: %s has no bound %q", id, name))
}

// MustNeed returns a need of the requirement, and panics as MustBound does.
func (r Requirement) MustNeed(name string) Need {
	for _, n := range r.Needs {
		if n.Name == name {
			return n
		}
	}
	panic(fmt.Sprintf("requirement catalog: %s has no need %q", r.ID, name))
}

// Words returns the bound in one line, such as "replacesWithin 45s (1.5 × …)".
func (b Bound) Words() string {
	if b.Formula == "" {
		return b.Name + " " + b.Value
	}
	return fmt.Sprintf("%s %s (%s)", b.Name, b.Value, b.Formula)
}
